"""The plugin `cloudflare-sandbox`: a process of its own that keeps Workers with container-enabled classes.

A folder per resource and function: `lifecycle` decides (pure), `checks.py` says what is wrong with inputs, `reader.py`
asks the account, `effects.py` acts. Beside them is what all share; `service.py` answers the engine.
The classes that programs use are in `components/cloudflare/sandbox.py`. Importing this package loads none of them.
"""
