"""Projects for `sandbox-stack check`."""
