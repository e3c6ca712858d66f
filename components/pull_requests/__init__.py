"""A stack of its own for each pull request: made from another stack's settings, told in one comment, taken away whole.

Runs the user's own `pulumi`. What says until when a stack is wanted, and by which request, are tags of the stack
(`lease.py`), so it does not depend on the machine that made it. `up.py`, `removal.py` and `sweep.py` are what to call.
"""
