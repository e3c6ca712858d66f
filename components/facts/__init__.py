"""What is known about a stack: `stack` has the facts, every reader ends there, and only `components.rules` judges."""
