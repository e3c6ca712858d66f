"""Custom domains: host names that are a Worker's alone."""
