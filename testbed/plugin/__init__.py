"""The plugin without an engine, and what it is asked to deploy."""
