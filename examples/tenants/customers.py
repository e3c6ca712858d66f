"""A stack of sandboxes for each customer of a platform: `up` or `destroy`, of all or of those named."""

import json
import os
import sys
from pathlib import Path

from pulumi_cloudflare_sandbox import Tenants, TenantsError

IMAGE = json.loads(os.environ["IMAGES"])["main"]
"""What the platform has built and tested once: customers' stacks build nothing."""

EVERY_CUSTOMER = {
    "name": "customer",
    "environment": "throw-away",
    "image": {"reference": IMAGE},
    "container": {"instance_type": "basic", "max_instances": 5},
    "storage": {role: {"enabled": False} for role in ("backups", "artifacts", "conversations")},
}
CUSTOMERS = {
    "acme": {"container": {"instance_type": "standard-1"}},
    "globex": {"container": {"max_instances": 2}},
    "initech": {"container": {"max_instances": 0}},
}


def main(command: str, *names: str) -> int:
    """Do it, and show what became of each customer."""
    try:
        customers = Tenants(EVERY_CUSTOMER, CUSTOMERS, folder=Path(__file__).parent / "customers", parallel=2)
        outcomes = customers.up(*names) if command == "up" else customers.destroy(*names)
    except TenantsError as error:
        sys.exit(str(error))
    print(outcomes.table())
    return 0 if outcomes.good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
