"""What a stack has deployed: what is live beside what the state says, the way back, drift, and keys that are replaced."""
