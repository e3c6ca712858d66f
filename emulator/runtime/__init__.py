"""The data plane: uploaded Workers run in workerd and answer on the emulator's port, by host name and route.

Scripts that are bound to each other share one workerd process, which starts with the first request and is replaced when
any of them changes. Durable Objects live on disk below the state folder; R2 and KV bindings talk to the emulator, so
that the Worker and the API see one state.
"""
