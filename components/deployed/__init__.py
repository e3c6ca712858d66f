"""What a stack has deployed: what is live beside its state, drift, the way back, and how keys are replaced."""
