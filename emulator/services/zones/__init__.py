"""Zones: domains of an account; everything inside one goes with it."""
