"""FUSE file systems in sandboxes, whose mounts the supervisor makes for them."""
