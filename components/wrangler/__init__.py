"""Wrangler's configurations: read with positions, turned into settings and a report, and made from settings."""
