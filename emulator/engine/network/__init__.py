"""What a sandbox reaches and what reaches it: addresses, names, interception, and the way out."""
