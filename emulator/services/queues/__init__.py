"""Queues and their consumers; messages are not carried."""
