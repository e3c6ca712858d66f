"""From the bytes of an upload to modules in the blob store and metadata that is in order."""

import base64
import binascii
import gzip
import hashlib
from dataclasses import dataclass
from typing import Any

from emulator.blobs import Blobs
from emulator.calls import Call, parse_json
from emulator.multipart import Part, is_multipart, parse_multipart
from emulator.registry import MEBIBYTE
from emulator.store import Document

from . import errors, metadata
from .source import Code, read_module, read_service_worker

BODY_LIMIT = 100 * MEBIBYTE
_LARGEST = 10 * MEBIBYTE
_LARGEST_UNPACKED = 64 * MEBIBYTE
_JAVASCRIPT = ("application/javascript", "text/javascript")


@dataclass(frozen=True)
class Module:
    """One file of a Worker."""

    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True)
class Upload:
    """A whole upload."""

    metadata: Document
    modules: tuple[Module, ...]
    code: Code | None = None  # None: nothing but assets

    @property
    def etag(self) -> str:
        """A hash of all modules."""
        digest = hashlib.sha256()
        for module in self.modules:
            digest.update(f"{module.name}\0{module.content_type}\0{len(module.content)}\0".encode())
            digest.update(module.content)
        return digest.hexdigest()


def read_upload(call: Call) -> Upload:
    """Read the parts of a multipart upload."""
    content_type = call.headers.get("content-type", "")
    if not is_multipart(content_type):
        if content_type.partition(";")[0].strip() in _JAVASCRIPT:
            module = Module("script", "application/javascript", call.body_bytes)
            return _whole(call, {"body_part": "script"}, (module,))
        raise errors.BAD_CONTENT_TYPE()
    parts = parse_multipart(content_type, call.body_bytes)
    return _whole(call, json_part(parts, "metadata"), modules_of(parts, "metadata"))


def json_part(parts: list[Part], name: str) -> Any:
    """The JSON of a named part."""
    part = next((part for part in parts if part.name == name), None)
    if part is None:
        raise errors.BAD_CONTENT_TYPE()
    return parse_json(part.body)


def modules_of(parts: list[Part], *others: str) -> tuple[Module, ...]:
    """The files. A part's name is the module's, except where a client calls all of them `files`."""
    found = []
    for part in parts:
        if part.name not in others:
            name = part.filename if part.filename and part.name in ("files", "files[]") else part.name
            found.append(Module(name, part.content_type, part.body))
    return tuple(found)


def decode_modules(given: list[Document]) -> tuple[Module, ...]:
    """Modules of a JSON body."""
    try:
        return tuple(
            Module(each["name"], each["content_type"], base64.b64decode(each["content_base64"], validate=True))
            for each in given
        )
    except (binascii.Error, ValueError) as error:
        raise errors.INVALID(problem="modules must have their content in base64") from error


def _whole(call: Call, given: Any, modules: tuple[Module, ...]) -> Upload:
    return make_upload(metadata.check_metadata(given, call.state.clock), modules)


def make_upload(checked: Document, modules: tuple[Module, ...]) -> Upload:
    """Find the main module and look at it."""
    size = sum(len(module.content) for module in modules)
    if size > _LARGEST_UNPACKED:
        raise errors.TOO_BIG_UNPACKED()
    if size > _LARGEST:
        packed = gzip.compress(b"".join(module.content for module in modules), 1)
        if len(packed) > _LARGEST:
            raise errors.TOO_BIG()
    main, older = checked.get("main_module"), checked.get("body_part")
    if not main and not older:
        if modules or "assets" not in checked:
            raise errors.INVALID(problem="Invalid metadata: main_module or body_part is required")
        return Upload(checked, modules)
    name = main or older or ""
    module = next((module for module in modules if module.name == name), None)
    if module is None:
        raise errors.NO_MODULE(name=name)
    code = read_module(module.content, module.content_type) if main else read_service_worker(module.content)
    if code.exported.complete and not code.exported.names and not code.handlers:
        raise errors.NO_HANDLERS()
    return Upload(checked, modules, code)


def store_modules(blobs: Blobs, modules: tuple[Module, ...]) -> list[Document]:
    """Keep the contents; what a version remembers of them."""
    return [
        {
            "name": module.name,
            "content_type": module.content_type,
            "sha256": blobs.put(module.content),
            "size": len(module.content),
        }
        for module in modules
    ]
