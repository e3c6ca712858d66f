"""A Worker and its image go together: forward before a rollout, back after one that failed."""

from .lifecycle.rollout import REVERT
from .resource import Inputs, Run
from .script_reader import ScriptReader, script_path


def keep_worker(run: Run, wanted: Inputs) -> str:
    """Let the Worker's version that belongs to the image serve; after a failed rollout it was taken back.

    Gives the version that served until now, or nothing where Worker and image do not go together.
    """
    if (wanted.get("rollout") or {}).get("onFailure") != REVERT:
        return ""
    return _serve(run, wanted, str(wanted["workerVersionId"]))


def take_worker_back(run: Run, wanted: Inputs, version: str) -> str:
    """Let the version serve that belonged to the image before; give words for the message."""
    if not version or version == wanted.get("workerVersionId"):
        return ""
    _serve(run, wanted, version)
    return f", with version {version} of the Worker,"


def _serve(run: Run, wanted: Inputs, version_id: str) -> str:
    """Let a version serve; give the one that served until now."""
    served: list[str] = []

    def once() -> None:
        # Looked at before every try: a deployment whose answer was lost is not made twice.
        served.append(ScriptReader(run.client, wanted).live_version() or "")
        if served[-1] != version_id:
            body = {"strategy": "percentage", "versions": [{"version_id": version_id, "percentage": 100}]}
            run.client.once("POST", f"{script_path(wanted)}/deployments", body=body)

    run.client.persist(once)
    return served[0]
