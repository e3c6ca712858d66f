"""What Cloudflare demands, as dated data and pure functions; each module names its source."""
