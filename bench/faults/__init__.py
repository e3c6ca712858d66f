"""The fault sweep: every request of a run fails once, in every way."""
