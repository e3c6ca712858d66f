"""Versions of Workers, and deployments that send traffic to them."""
