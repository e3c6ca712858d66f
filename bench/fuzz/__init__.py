"""Fuzzers."""
