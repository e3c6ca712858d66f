"""What decides about a script: pure functions from what is live and what is wanted to what has to be done. No I/O."""
