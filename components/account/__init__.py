"""What an account has of Sandbox stacks: read, and deleted item by item by `removal` alone."""
