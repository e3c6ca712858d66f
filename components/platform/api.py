"""How Cloudflare's API is reached, and the environment variables in which its tools look for account and token.

Source: the official Python SDK 5.9.0, wrangler 4.158 and pulumi-cloudflare 6.23.1. 2026-11-18.
"""

from typing import Final

URL: Final = "https://api.cloudflare.com/client/v4"
ACCOUNT_ID: Final = "CLOUDFLARE_ACCOUNT_ID"
TOKEN: Final = "CLOUDFLARE_API_TOKEN"  # noqa: S105 - the name of a variable
BASE_URL: Final = "CLOUDFLARE_BASE_URL"
DOCKER: Final = "WRANGLER_DOCKER_BIN"
"""Which program wrangler takes for docker."""
