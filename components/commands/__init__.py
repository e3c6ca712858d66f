"""The commands of `python -m components`, one module each; `components/cli.py` has the table."""
