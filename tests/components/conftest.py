"""Loads the bridged SDK once, without the warnings about its own deprecated names that every import of it brings."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import pulumi_cloudflare  # noqa: F401 - loading it is the point
