"""Ask the sandboxes of a team what they may reach."""

from sandbox_api import call, run

SANDBOX = "/v1/sandboxes/teams"


def main() -> None:
    print(call("POST", f"{SANDBOX}/exec", {"command": "echo at work in $(pwd)"})["stdout"].strip())
    print("may reach", *call("GET", SANDBOX)["egress"])
    call("DELETE", SANDBOX)


if __name__ == "__main__":
    run(main)
