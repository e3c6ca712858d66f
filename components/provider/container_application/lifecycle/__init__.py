"""What decides about an application: pure functions from what is live and what is wanted to the calls in between."""
