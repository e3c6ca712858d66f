"""Access: applications of accounts and zones, reusable policies, service tokens; nobody is kept out by them yet."""
