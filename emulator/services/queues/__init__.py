"""Queues, their consumers, and the messages that are pushed and pulled over the API."""
