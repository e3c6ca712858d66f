"""A Worker and its image go together: forward before a rollout, back after one that failed."""

from typing import Final

from ..errors import Refusal
from ..resource import Inputs, Run
from ..worker_script.reader import ScriptReader, script_path
from .declaration import REVERT

_SECRETS_CHANGED: Final = 10220  # refused unless forced: a version that has other secrets than the one that serves


def go_together(wanted: Inputs) -> bool:
    """Whether the Worker goes back with the image."""
    return (wanted.get("rollout") or {}).get("onFailure") == REVERT


def keep_worker(run: Run, wanted: Inputs) -> str:
    """Let the Worker's version that belongs to the image serve; after a failed rollout it was taken back.

    Returns the version that served until now.
    """
    before, _ = _serve(run, wanted, str(wanted["workerVersionId"]))
    return before


def served_version(run: Run, known: Inputs) -> str:
    """Return the version that serves, to which a rollout that fails later goes back; nothing where they do not pair.

    Somebody may have gone back meanwhile: what the state remembers would then bring the wrong one.
    """
    if (known.get("rollout") or {}).get("onFailure") != REVERT or "workerVersionId" not in known:
        return ""
    return ScriptReader(run.client, known).live_version() or ""


def take_worker_back(run: Run, wanted: Inputs, version: str) -> str:
    """Let the version serve that belonged to the image before; return words for the message."""
    if not version or version == wanted.get("workerVersionId"):
        return ""
    _, forced = _serve(run, wanted, version)
    secrets = " and the secrets it had then" if forced else ""
    return f", with version {version} of the Worker{secrets},"


def _serve(run: Run, wanted: Inputs, version_id: str) -> tuple[str, bool]:
    """Let a version serve; return the one that served until now, and whether its secrets were others."""
    served: list[str] = []
    forced = False

    def once() -> None:
        nonlocal forced
        # Looked at before every try: a deployment whose answer was lost is not made twice.
        served.append(ScriptReader(run.client, wanted).live_version() or "")
        if served[-1] == version_id:
            return
        try:
            _deploy(run, wanted, version_id, {})
        except Refusal as refusal:
            if refusal.code != _SECRETS_CHANGED:
                raise
            # Worker and image that go together were asked for, and a version's secrets are part of it.
            forced = True
            _deploy(run, wanted, version_id, {"force": "true"})

    run.client.persist(once)
    return served[0], forced


def _deploy(run: Run, wanted: Inputs, version_id: str, query: dict[str, str]) -> None:
    body = {"strategy": "percentage", "versions": [{"version_id": version_id, "percentage": 100}]}
    run.client.once("POST", f"{script_path(wanted)}/deployments", query=query, body=body)
