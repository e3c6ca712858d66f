"""Run commands of strangers, each in a sandbox of its own that is gone afterwards."""

from typing import Any

from sandbox_api import ApiError, call, run

PROGRAM = "console.log(process.argv.slice(2).map(Number).reduce((a, b) => a + b))"


def executed(**task: Any) -> str:
    done = call("POST", "/v1/run", {"egress": "off", "timeout_ms": 20_000, **task})
    return f"exit code {done['exit_code']}: {(done['stdout'] or done['stderr']).strip()}"


def main() -> None:
    files = [{"path": "/workspace/sum.js", "content": PROGRAM}]
    # Arguments of strangers need no quoting where they are a list.
    print(executed(argv=["node", "sum.js", "2", "40"], files=files))
    print(executed(command="echo a failure is a result, too; exit 3"))
    print(executed(command="ls /workspace | wc -l"))
    try:
        executed(command="sleep 60", timeout_ms=500)
    except ApiError as error:
        print(f"refused: {error.code}")


if __name__ == "__main__":
    run(main)
