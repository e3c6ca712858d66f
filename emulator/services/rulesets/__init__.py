"""Rulesets of accounts and zones and their entry points; kept with versions, not evaluated."""
