"""What sandboxes take and leave behind."""
