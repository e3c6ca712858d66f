"""Reads what the account has of a script: service, settings, live version, namespaces, modules."""

from collections.abc import Mapping
from typing import Any

from ...platform.durable_objects import EXPORT
from ..api_client import Client
from ..errors import Refusal
from ..resource import Inputs, Values
from .lifecycle import modules, script
from .lifecycle.classes import Live, Source
from .lifecycle.script import storage_of

_TOO_EARLY = 100146  # a version is not readable for a moment after its upload
_TRIES = 5


def script_path(inputs: Inputs) -> str:
    """Return the path of a script."""
    return f"/accounts/{inputs['accountId']}/workers/scripts/{inputs['scriptName']}"


class ScriptReader:
    """Reads one script."""

    def __init__(self, client: Client, inputs: Inputs) -> None:
        self._client = client
        self._inputs = inputs
        self._name = inputs["scriptName"]
        self._workers = f"/accounts/{inputs['accountId']}/workers"
        self._path = script_path(inputs)

    def service(self) -> Mapping[str, Any] | None:
        """Return tags, migration tag and etag, or None when there is no such script."""
        found = self._client.find(f"{self._workers}/services/{self._name}")
        return None if found is None else found["default_environment"]["script"]

    def namespaces(self) -> list[Mapping[str, Any]]:
        """Return all Durable Object namespaces of the account."""
        return list(self._client.pages(f"{self._workers}/durable_objects/namespaces"))

    def live_classes(self, namespaces: list[Mapping[str, Any]], tag: str | None) -> Live:
        """Return what the planner needs."""
        own = {each["class"]: storage_of(each.get("use_sqlite")) for each in namespaces if self._owns(each)}
        others = frozenset(Source(each["script"], each["class"]) for each in namespaces if _whole(each))
        return Live(own, tag, frozenset(source for source in others if source.script != self._name))

    def own_ids(self, namespaces: list[Mapping[str, Any]]) -> dict[str, str]:
        """Return the ids of the script's namespaces by class."""
        return {each["class"]: each["id"] for each in namespaces if self._owns(each)}

    def _owns(self, namespace: Mapping[str, Any]) -> bool:
        return _whole(namespace) and namespace["script"] == self._name

    def live_version(self) -> str | None:
        """Return the id of the version that serves, or the larger part of it; None when nothing is deployed."""
        found = self._client.get(f"{self._path}/deployments")["deployments"]
        serving = found[0]["versions"] if found else ()
        return max(serving, key=lambda each: each["percentage"])["version_id"] if serving else None

    def images(self) -> set[str]:
        """Return the images of all versions that serve; none when the script is gone."""
        found = self._client.find(f"{self._path}/deployments") or {"deployments": ()}
        serving = found["deployments"][0]["versions"] if found["deployments"] else ()
        runtimes = [
            (self._version(each["version_id"]).get("resources") or {}).get("script_runtime") for each in serving
        ]
        entries = [entry for runtime in runtimes for entry in (runtime or {}).get("containers") or ()]
        return {image for entry in entries for image in (entry.get("images") or {}).values()}

    def url(self) -> str:
        """Return the script's URL on workers.dev."""
        subdomain = self._client.get(f"{self._workers}/subdomain")["subdomain"]
        return f"https://{self._name}.{subdomain}.workers.dev"

    def read(self, state: Inputs) -> tuple[Values, Values] | None:
        """Return inputs and outputs of the live script, or None when it is gone."""
        service = self.service()
        if service is None:
            return None
        version_id = self.live_version()
        version = self._version(version_id) if version_id else {}
        own = [each for each in self.namespaces() if self._owns(each)]
        subdomain = self._client.get(f"{self._path}/subdomain")
        main, parts = self._modules(service, state)
        found = script.Found(
            settings=self._client.get(f"{self._path}/settings"),
            runtime=(version.get("resources") or {}).get("script_runtime") or {},
            subdomain=subdomain,
            storage={each["class"]: storage_of(each.get("use_sqlite")) for each in own},
            modules=parts,
            main_module=main,
            declared=_declares(service),
        )
        ids = {each["class"]: each["id"] for each in own}
        outputs = {"etag": service.get("etag", ""), "namespaceIds": ids}
        if version_id:
            outputs["versionId"] = version_id
        if service.get("migration_tag"):
            outputs["migrationTag"] = service["migration_tag"]
        if subdomain.get("enabled"):
            outputs["url"] = self.url()
        return script.from_api(found, self._inputs), outputs

    def _version(self, version_id: str) -> Mapping[str, Any]:
        for _ in range(_TRIES):
            try:
                found: Mapping[str, Any] = self._client.get(f"{self._path}/versions/{version_id}")
            except Refusal as refusal:
                if refusal.code != _TOO_EARLY:
                    raise
                self._client.pause(self._client.waits.retries[0])
            else:
                return found
        return {}

    def _modules(self, service: Mapping[str, Any], state: Inputs) -> tuple[str, Mapping[str, Any]]:
        """Return the main module and all modules; code whose hash is the known one is not downloaded."""
        known = self._inputs.get("modules")
        if known and service.get("etag") and service["etag"] == state.get("etag"):
            return self._inputs["mainModule"], {
                name: {key: item for key, item in module.items() if key != "file"} for name, module in known.items()
            }
        main, downloaded = self.download()
        return main, modules.from_download(downloaded)

    def download(self) -> tuple[str, dict[str, tuple[str, bytes]]]:
        """Return the main module's name, and type and content of all modules."""
        found = self._client.download(f"{self._path}/content/v2")
        main = found.headers.get("cf-entrypoint") or self._inputs.get("mainModule") or "worker.js"
        return main, modules.split_download(found.headers.get("content-type", ""), found.content, main)


def _whole(namespace: Mapping[str, Any]) -> bool:
    """Leave out namespaces of previews and of dispatch namespaces, which have no script of the account."""
    return bool(namespace.get("script") and namespace.get("class")) and not namespace.get("dispatch_namespace")


def _declares(service: Mapping[str, Any]) -> bool:
    exports = (service.get("exports") or {}).values()
    return any(entry.get("type") == EXPORT for entry in exports)
