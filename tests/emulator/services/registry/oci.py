"""A small registry client for tests: plain requests with Basic credentials."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import httpx

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Registry:
    """One set of credentials at one registry."""

    origin: str
    password: str = ""
    user: str = "v1"
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        auth = httpx.BasicAuth(self.user, self.password) if self.password else None
        self.http = httpx.Client(base_url=self.origin, auth=auth, timeout=20)

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.http.request(method, f"/v2/{path}", **options)

    def push_blob(self, repository: str, content: bytes) -> str:
        started = self("POST", f"{repository}/blobs/uploads/")
        assert started.status_code == 202, started.text
        done = self.http.put(started.headers["location"], params={"digest": digest(content)}, content=content)
        assert done.status_code == 201, done.text
        assert done.headers["docker-content-digest"] == digest(content)
        return digest(content)

    def push_image(self, repository: str, reference: str, *layers: bytes, **more: Any) -> str:
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}}).encode()
        for content in (config, *layers):
            self.push_blob(repository, content)
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor("application/vnd.oci.image.config.v1+json", config),
            "layers": [_descriptor("application/vnd.oci.image.layer.v1.tar", layer) for layer in layers],
            **more,
        }
        return self.push_manifest(repository, reference, manifest)

    def push_manifest(self, repository: str, reference: str, manifest: dict[str, Any]) -> str:
        content = json.dumps(manifest).encode()
        headers = {"content-type": manifest["mediaType"]}
        done = self("PUT", f"{repository}/manifests/{reference or digest(content)}", content=content, headers=headers)
        assert done.status_code == 201, done.text
        assert done.headers["docker-content-digest"] == digest(content)
        return digest(content)


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest(content), "size": len(content)}


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal in the specification's form."""
    (error,) = response.json()["errors"]
    assert error["message"]
    return response.status_code, error["code"]
