"""Accounts, memberships and the user: who is there, as far as the token may know."""
