"""The rules as a policy pack: what the engine tells of resources, as facts, and what it is told back."""
