"""Many stacks of pull requests at once, and one sweep."""
