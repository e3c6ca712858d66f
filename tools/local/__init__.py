"""A stack on this machine, without an account: deployed by `up`, destroyed by `down`, kept in a file by `save`.

`make up` and `sandbox-stack local` both end here; it also ships in the installed package.
"""
