"""Routes: which requests to a zone a Worker answers."""
