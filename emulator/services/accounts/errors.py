"""Refusals of accounts, memberships and the user: all of them are the core's."""
