"""From source to what is uploaded: the Worker's modules and the context of an image, addressed by content."""
