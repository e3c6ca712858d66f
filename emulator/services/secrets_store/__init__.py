"""Secrets Store: stores of an account and the sealed secrets in them."""
