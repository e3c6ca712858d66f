"""RegistryImage: a pushed image in the registry of the account."""
