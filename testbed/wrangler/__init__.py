"""The real wrangler."""
