"""A stand-in for the plugin `pulumi-resource-cloudflare`, where that cannot be downloaded.

Knows the resource types that this project uses and no others, makes the calls that the real plugin was seen to make,
and talks to an emulator on loopback only: it never runs against a real account. `table.py` says what it knows,
`decisions.py` decides, `client.py` calls, `service.py` speaks gRPC with the engine.
"""
