"""The image registry: OCI distribution below `/v2`, with minted credentials."""
