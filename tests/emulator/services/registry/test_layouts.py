"""Layouts on this machine are taken into the registry as they are, or refused with the reason."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.testing import Running

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def blob(folder: Path, content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    path = folder / "blobs" / "sha256" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {"digest": f"sha256:{digest}", "size": len(content)}


def layout(folder: Path, tag: str = "1") -> dict[str, Any]:
    """One image of one layer; the descriptor of its manifest."""
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": blob(folder, b"{}")}
    manifest["layers"] = [blob(folder, b"layer")]
    described = {"mediaType": MANIFEST, **blob(folder, json.dumps(manifest).encode())}
    entry = {**described, "annotations": {"org.opencontainers.image.ref.name": tag}}
    (folder / "index.json").write_text(json.dumps({"manifests": [entry]}))
    return entry


def take(emulator: Running, folder: Path | str, repository: str = "library/some") -> httpx.Response:
    return httpx.post(
        f"{emulator.origin}/_emulator/registry/layouts",
        json={"repository": repository, "folder": str(folder)},
        headers={"authorization": f"Bearer {emulator.token}"},
    )


def test_an_image_is_served_as_it_lies_there(emulator: Running, tmp_path: Path):
    entry = layout(tmp_path)
    assert take(emulator, tmp_path).json()["result"] == {
        "repository": "library/some",
        "tags": {"1": entry["digest"]},
        "added": 2,
    }
    base = f"{emulator.origin}/v2/library/some"
    served = httpx.get(f"{base}/manifests/1")
    assert served.headers["docker-content-digest"] == entry["digest"]
    layer = served.json()["layers"][0]["digest"]
    assert httpx.get(f"{base}/blobs/{layer}").content == b"layer"
    for file in (tmp_path / "blobs" / "sha256").iterdir():
        file.unlink()
    assert httpx.get(f"{base}/blobs/{layer}").content == b"layer", "the registry has names of its own for the files"


def test_only_what_is_new_is_taken(emulator: Running, tmp_path: Path):
    layout(tmp_path)
    take(emulator, tmp_path)
    layout(tmp_path, tag="2")
    again = take(emulator, tmp_path).json()["result"]
    assert (again["added"], list(again["tags"])) == (0, ["2"])


def damage(folder: Path) -> None:
    for file in (folder / "blobs" / "sha256").iterdir():
        if file.read_bytes() == b"layer":
            file.write_bytes(b"other")


def lose(folder: Path) -> None:
    for file in (folder / "blobs" / "sha256").iterdir():
        if file.read_bytes() == b"layer":
            file.unlink()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (damage, "a blob of the layout is not what its digest says: sha256:"),
        (lose, "the layout lacks a blob: sha256:"),
        (lambda folder: (folder / "index.json").unlink(), "folder is no OCI image layout: "),
        (lambda folder: (folder / "index.json").write_text('{"manifests": 1}'), "the index of the layout lists no im"),
        (lambda folder: (folder / "index.json").write_text('{"manifests": [{}]}'), "the layout has an entry without a"),
        (lambda folder: layout(folder, tag="no tag"), "the layout has an image without a tag: sha256:"),
    ],
)
def test_what_is_wrong_with_a_layout_is_said(emulator: Running, tmp_path: Path, spoil: Any, problem: str):
    layout(tmp_path)
    spoil(tmp_path)
    refused = take(emulator, tmp_path)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["message"].startswith(problem)
    assert httpx.get(f"{emulator.origin}/v2/library/some/manifests/1", params={"ns": "x"}).status_code == 404


def test_a_repository_needs_a_name(emulator: Running, tmp_path: Path):
    layout(tmp_path)
    assert take(emulator, tmp_path, "NOT A NAME").status_code == 400
