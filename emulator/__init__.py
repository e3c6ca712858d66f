"""A Cloudflare control plane on loopback.

`python -m emulator` serves the part of the Cloudflare API that a Sandbox stack needs, with honest state:
what a GET answers is what was set, deletes really remove, tokens are checked, lists page and end.
Every operation is declared once, in the `routes.py` of its service; the router, the permission check and
the fidelity table all come from that declaration.
"""
