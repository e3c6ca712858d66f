"""A workflow of several steps: sessions keep directory and variables, and two of them work at the same time."""

from concurrent.futures import ThreadPoolExecutor

from sandbox_api import ApiError, call, run

SANDBOX = "/v1/sandboxes/workflow"


def step(session: str, command: str) -> str:
    done = call("POST", f"{SANDBOX}/exec", {"session": session, "command": command})
    if not done["success"]:
        raise SystemExit(f"`{command}` ended with {done['exit_code']}: {done['stderr']}")
    return str(done["stdout"])


def summed(part: str) -> str:
    """Sum one part of the data up, in a session of its own."""
    session = call("POST", f"{SANDBOX}/sessions", {"cwd": "/workspace/data", "env": {"PART": part}})["session"]
    return step(session, 'total=0; for n in $(cat "$PART"); do total=$((total + n)); done; echo "$PART: $total"')


def refusal(session: str) -> str:
    """Use a session that must not be there any more."""
    try:
        step(session, "pwd")
    except ApiError as error:
        return error.code
    raise SystemExit(f"the session {session} is still there")


def main() -> None:
    try:
        main_session = call("POST", f"{SANDBOX}/sessions", {"cwd": "/workspace"})["session"]
        step(main_session, "mkdir -p data && cd data && export LAST=6")
        # The session is where the last step has left it, and has its variable.
        step(main_session, 'seq 1 3 > low && seq 4 "$LAST" > high')
        print(step(main_session, "pwd && ls"))
        with ThreadPoolExecutor() as at_once:
            print(*at_once.map(summed, ["low", "high"]), sep="\n")
        call("DELETE", f"{SANDBOX}/sessions/{main_session}")
        print("a session that was deleted:", refusal(main_session))
    finally:
        call("DELETE", SANDBOX)


if __name__ == "__main__":
    run(main)
