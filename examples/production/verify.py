"""Ask a deployment what matters before anybody else does: strangers are refused, and a sandbox works."""

import os
import sys

from sandbox_api import ApiError, call, run

SANDBOX = "/v1/sandboxes/verify"
KEY = "SANDBOX_API_KEY"


def refusal_of_a_guessed_key() -> str:
    key = os.environ[KEY]
    os.environ[KEY] = "guessed"
    try:
        call("GET", SANDBOX)
    except ApiError as error:
        if error.status != 401:
            raise
        return f"{error.status} {error.code}"
    finally:
        os.environ[KEY] = key
    sys.exit("a guessed key is let in")


def main() -> None:
    print("health:", call("GET", "/health")["status"])
    print("a guessed key:", refusal_of_a_guessed_key())
    try:
        done = call("POST", f"{SANDBOX}/exec", {"command": "echo works"})
        if done["stdout"] != "works\n":
            sys.exit(f"a command ended with {done['exit_code']} and said {done['stdout']!r}: {done['stderr']}")
        print("a command: works")
        call("POST", f"{SANDBOX}/backups", {"directory": "/workspace", "ttl_seconds": 60})
        print("a backup: made")
    finally:
        call("DELETE", SANDBOX)


if __name__ == "__main__":
    run(main)
