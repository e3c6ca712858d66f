"""Use the sandbox `demo` of the region whose address is asked, and say what is in it."""

import sys

from sandbox_api import call, run

SANDBOX = "/v1/sandboxes/demo"


def main() -> None:
    region = sys.argv[1]
    call("POST", f"{SANDBOX}/exec", {"argv": ["touch", f"/workspace/of-{region}"]})
    print(region, "has", *call("POST", f"{SANDBOX}/exec", {"command": "ls"})["stdout"].split())
    print("its id ends in", call("GET", SANDBOX)["id"].rpartition("-")[2])
    call("DELETE", SANDBOX)


if __name__ == "__main__":
    run(main)
