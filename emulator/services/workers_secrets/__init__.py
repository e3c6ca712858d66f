"""Secrets of Workers: set, listed and removed one by one; values go in and never come out."""
