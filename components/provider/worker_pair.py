"""A Worker and its image go together: forward before a rollout, back after one that failed."""

from .lifecycle.rollout import REVERT
from .resource import Inputs, Run
from .script_reader import ScriptReader, script_path


def keep_worker(run: Run, wanted: Inputs) -> None:
    """Let the Worker's version that belongs to the image serve; after a failed rollout it was taken back."""
    if (wanted.get("rollout") or {}).get("onFailure") == REVERT:
        _serve(run, wanted, str(wanted["workerVersionId"]))


def take_worker_back(run: Run, wanted: Inputs, before: Inputs) -> str:
    """Let the version serve that belonged to the image before; give words for the message."""
    version = before.get("workerVersionId")
    if not version or version == wanted.get("workerVersionId"):
        return ""
    _serve(run, wanted, str(version))
    return f", with version {version} of the Worker,"


def _serve(run: Run, wanted: Inputs, version_id: str) -> None:
    def once() -> None:
        # Looked at before every try: a deployment whose answer was lost is not made twice.
        if ScriptReader(run.client, wanted).live_version() != version_id:
            body = {"strategy": "percentage", "versions": [{"version_id": version_id, "percentage": 100}]}
            run.client.once("POST", f"{script_path(wanted)}/deployments", body=body)

    run.client.persist(once)
