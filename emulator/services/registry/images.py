"""What the registry holds: blobs, manifests and tags of repositories.

Content lies in files named by digest; documents say which repository has which. An account's repositories begin with
its id. Repositories without that prefix are mirrors: seeded, readable by everyone, never pushed to. They have kinds
of their own, since they are set-up and not something a deployment made.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from emulator.blobs import Blobs
from emulator.state import State
from emulator.store import Document

from .names import hex_of, looks_like_digest

_PARTS = ("blob", "manifest", "tag")


def files(state: State) -> Blobs:
    """Files of the registry, apart from other services' so that its garbage collection cannot touch those."""
    return Blobs(state.folder / "blobs" / "images")


@dataclass(frozen=True)
class Repository:
    """One repository."""

    state: State
    name: str

    @cached_property
    def account_id(self) -> str:
        """The account it belongs to; empty for a mirror."""
        first = self.name.partition("/")[0]
        return first if "/" in self.name and self.state.store.has("account", "", first) else ""

    @property
    def exists(self) -> bool:
        """Whether anything was ever put there."""
        return self.state.store.has(self.kind("repository"), self.account_id, self.name)

    def kind(self, part: str) -> str:
        """The kind of this repository's documents."""
        return f"image_{part}" if self.account_id else f"mirror_{part}"

    def blob(self, digest: str) -> Path | None:
        """The file of a blob this repository has."""
        if not self.state.store.has(self.kind("blob"), self.name, digest):
            return None
        return files(self.state).path(hex_of(digest))

    def add_blob(self, digest: str, size: int) -> None:
        """Say that this repository has a blob, whose file is in place."""
        self._remember()
        self._write_blob({"digest": digest, "size": size, "at": self.state.clock.time(), "used": False})

    def _write_blob(self, blob: Document) -> None:
        self.state.store.put(self.kind("blob"), self.name, blob["digest"], blob, labels={"digest": blob["digest"]})

    def manifest(self, reference: str) -> Document | None:
        """A manifest by digest or tag."""
        store = self.state.store
        if not looks_like_digest(reference):
            tag = store.get(self.kind("tag"), self.name, reference)
            if tag is None:
                return None
            reference = tag["digest"]
        return store.get(self.kind("manifest"), self.name, reference)

    def manifest_bytes(self, manifest: Document) -> bytes:
        """The manifest as it was pushed."""
        return files(self.state).get(hex_of(manifest["digest"])) or b""

    def put_manifest(self, manifest: Document, content: bytes) -> None:
        """Keep a manifest; its blobs are no longer those of a push that may be going on."""
        self._remember()
        files(self.state).put_as(content, hex_of(manifest["digest"]))
        self.write_manifest(manifest)
        for digest in manifest["blobs"]:
            blob = self.state.store.get(self.kind("blob"), self.name, digest)
            if blob is not None and not blob["used"]:
                self._write_blob({**blob, "used": True})

    def write_manifest(self, manifest: Document) -> None:
        """Write what is known about a manifest."""
        labels = {"digest": manifest["digest"]}
        if manifest["subject"]:
            labels["subject"] = manifest["subject"]
        self.state.store.put(self.kind("manifest"), self.name, manifest["digest"], manifest, labels=labels)

    def tag(self, name: str, digest: str) -> None:
        """Point a tag at a manifest."""
        body = {"name": name, "digest": digest}
        self.state.store.put(self.kind("tag"), self.name, name, body, labels={"digest": digest})

    def tags(self, *, limit: int = -1, after: str | None = None) -> list[str]:
        """Tags in order."""
        found = self.state.store.select(self.kind("tag"), self.name, order="key", limit=limit, after=after)
        return [tag["name"] for tag in found]

    def referrers(self, digest: str) -> list[Document]:
        """Manifests that name this digest as their subject."""
        return self.state.store.find(self.kind("manifest"), self.name, "subject", digest)

    def delete_tag(self, name: str) -> bool:
        """Take a tag away; the manifest stays."""
        return self.state.store.delete(self.kind("tag"), self.name, name)

    def delete_manifest(self, digest: str) -> bool:
        """Take a manifest and its tags away."""
        for tag in self.state.store.find(self.kind("tag"), self.name, "digest", digest):
            self.delete_tag(tag["name"])
        return self.state.store.delete(self.kind("manifest"), self.name, digest)

    def delete_blob(self, digest: str) -> bool:
        """Take a blob away from this repository."""
        return self.state.store.delete(self.kind("blob"), self.name, digest)

    def forget_if_empty(self) -> None:
        """Stop listing a repository that has nothing left."""
        store = self.state.store
        if not any(store.count(self.kind(part), self.name) for part in (*_PARTS, "upload")):
            store.delete(self.kind("repository"), self.account_id, self.name)

    def _remember(self) -> None:
        if not self.exists:
            self.state.store.put(self.kind("repository"), self.account_id, self.name, {"name": self.name})


def repositories(state: State, account_id: str, *, limit: int = -1, after: str | None = None) -> list[Repository]:
    """Repositories of an account, in order of name."""
    found = state.store.select("image_repository", account_id, order="key", limit=limit, after=after)
    return [Repository(state, repository["name"]) for repository in found]


def digest_of(content: bytes, algorithm: str = "sha256") -> str:
    """The digest of bytes in hand."""
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def collect(state: State, account_id: str, *, older_than: float) -> int:
    """Delete an account's blobs that no manifest names; how many. Young ones no manifest ever named are spared."""
    dropped: list[str] = []
    for repository in repositories(state, account_id):
        kept = set(_referenced(repository))
        for blob in state.store.select("image_blob", repository.name):
            if blob["digest"] not in kept and (blob["used"] or blob["at"] <= older_than):
                repository.delete_blob(blob["digest"])
                dropped.append(blob["digest"])
        repository.forget_if_empty()
    for digest in set(dropped):
        drop_file(state, digest)
    return len(dropped)


def drop_file(state: State, digest: str) -> None:
    """Remove the file of a digest that no repository has any more."""
    kinds = ("image_blob", "image_manifest", "mirror_blob", "mirror_manifest")
    if not any(state.store.find_anywhere(kind, "digest", digest) for kind in kinds):
        files(state).delete(hex_of(digest))


def _referenced(repository: Repository) -> Iterator[str]:
    for manifest in repository.state.store.select(repository.kind("manifest"), repository.name):
        yield from manifest["blobs"]
