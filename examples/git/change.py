"""Clone a repository into a sandbox, change it, look at the difference, commit it and push a branch."""

from sandbox_api import call, run

SANDBOX = "/v1/sandboxes/git-example"
FOLDER = "/workspace/greeter"
# The author of a commit is data: variables of the one command that needs it.
AUTHOR = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
    ("NAME", "Sandbox"), ("EMAIL", "sandbox@example.com"), ("DATE", "2026-01-02T03:04:05Z"),
)}  # fmt: skip


def git(*arguments: str) -> str:
    done = call("POST", f"{SANDBOX}/exec", {"argv": ["git", *arguments], "cwd": FOLDER, "env": AUTHOR})
    if not done["success"]:
        raise SystemExit(f"git {arguments[0]} ended with {done['exit_code']}: {done['stderr'].strip()}")
    return str(done["stdout"]).strip()


def main() -> None:
    try:
        repository = {"url": "https://git.example/acme/greeter.git", "branch": "main", "target": FOLDER}
        call("POST", f"{SANDBOX}/git/checkout", repository)
        program = call("GET", f"{SANDBOX}/files?path={FOLDER}/greet.js")["content"]
        changed = program.replace("Hello", "Good morning")
        call("PUT", f"{SANDBOX}/files", {"path": f"{FOLDER}/greet.js", "content": changed})
        print(git("diff", "--unified=0"))
        git("switch", "--quiet", "--create", "friendlier")
        git("commit", "--quiet", "--all", "--message", "Greet in the morning")
        git("push", "--quiet", "origin", "friendlier")
        print(git("log", "--oneline", "origin/friendlier"))
    finally:
        call("DELETE", SANDBOX)


if __name__ == "__main__":
    run(main)
