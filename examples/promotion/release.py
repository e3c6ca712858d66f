"""Ask a stack which release its sandboxes have."""

from sandbox_api import call, run


def main() -> None:
    print(call("POST", "/v1/run", {"command": "cat /etc/release-of-tools"})["stdout"].strip())


if __name__ == "__main__":
    run(main)
