"""The function getRegistryCredentials: short-lived credentials for the image registry of the account."""
