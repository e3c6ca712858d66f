"""What an account still has of stacks that know nothing of it any more, or that are gone: found, and deleted when told.

For programs: `read_backend` and `read_inventory` look, `find` judges, `Cleaning` deletes.
"""

from ..account.address import account_client
from ..account.inventory import read_inventory
from .backend import Backend, read_backend, read_project
from .cleaning import Cleaning
from .findings import Finding, find
from .stacks import Stack

__all__ = [
    "Backend",
    "Cleaning",
    "Finding",
    "Stack",
    "account_client",
    "find",
    "read_backend",
    "read_inventory",
    "read_project",
]
