"""A page that shows the emulated account as it is: read-only, on loopback, without secrets."""
