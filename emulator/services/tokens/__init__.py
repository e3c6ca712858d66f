"""API tokens of accounts and of the user: what is minted here really opens what its policies say."""
