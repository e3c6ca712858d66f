"""Choose the kind of sandbox for each piece of work: a small one for shell commands, Python for data."""

from sandbox_api import ApiError, call, run

LOOK = "command -v python3 || echo no Python"


def main() -> None:
    for kind in ("default", "python"):
        sandbox = f"/v1/sandboxes/kinds?kind={kind}"
        done = call("POST", f"/v1/sandboxes/kinds/exec?kind={kind}", {"command": LOOK})
        print(f"{kind}: {done['stdout'].strip()}")
        call("DELETE", sandbox)
    try:
        call("POST", "/v1/sandboxes/kinds/exec?kind=java", {"command": "true"})
    except ApiError as error:
        print(error)


if __name__ == "__main__":
    run(main)
