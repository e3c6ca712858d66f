"""What a stack has deployed: what is live beside what the state says, drift, the way back, and how keys are replaced."""
