"""What an account has of Sandbox stacks, read and never changed."""
