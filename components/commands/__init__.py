"""The commands of `sandbox-stack`, one module each; `components/cli.py` has the table."""
