"""Settings of a zone, each with Cloudflare's default until it is changed."""
