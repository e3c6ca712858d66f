"""Have a model write a program and a sandbox run it, until it works: `generate.py TASK`."""

import sys

from sandbox_api import call, run


def main() -> None:
    task = {"task": sys.argv[1], "language": "javascript", "max_tries": 3}
    done = call("POST", "/v1/generate", task)
    print(f"{'it works' if done['success'] else 'it does not work'} after {done['tries']} tries:")
    print(done["code"].strip())
    print(f"-> {done['stdout'].strip()}")


if __name__ == "__main__":
    run(main)
