"""A project from answers: what is asked, what the answers mean as settings, which files come of it, and writing them.

Only `writing` touches the disk outside of this package, and only `asking` speaks with anybody.
"""
