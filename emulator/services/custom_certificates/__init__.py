"""Certificates of one's own for a zone; the private key is sealed, and no operation gives it out."""
