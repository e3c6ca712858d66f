"""The plugin `cloudflare-sandbox`: a process of its own that keeps Workers with container-enabled classes.

`lifecycle/` decides, one module per resource acts, `service.py` speaks gRPC with the engine, and `resources.py` holds
the classes that programs use. Importing this package loads none of them.
"""
