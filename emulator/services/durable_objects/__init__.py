"""Durable Object namespaces: how classes come into being, change their names and owners, and go."""
