"""The files of a Worker's modules: hashed when inputs are checked, read again when they are uploaded."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...bundle.contents import SDK, exported_names
from ...pulumi_protocol.values import UNKNOWN
from ..errors import ProviderError
from ..property_types import Problem
from ..resource import Values
from .lifecycle import modules


def hashed(given: Mapping[str, Any]) -> tuple[Values, list[Problem]]:
    """Return the modules with the hashes of their files, and what is wrong with those."""
    found: list[Problem] = []
    result: Values = {}
    for name, module in given.items():
        result[name] = module
        if not isinstance(module, dict) or module.get("file", UNKNOWN) is UNKNOWN:
            continue
        try:
            actual = modules.digest(Path(module["file"]).read_bytes())
        except OSError as error:
            text = f"cannot read {module['file']} ({error.strerror}); build the Worker first or correct the path"
            found.append((("modules", name, "file"), text))
            continue
        if module.get("sha256", actual) not in (actual, UNKNOWN):
            text = f"{module['file']} has the hash {actual}, not the given one; build it again or correct the hash"
            found.append((("modules", name, "sha256"), text))
        result[name] = {**module, "sha256": actual}
    return result, found


def unexported(news: Mapping[str, Any]) -> Iterator[Problem]:
    """Name the classes that the main module does not export: the upload would be refused."""
    given, classes = news.get("modules"), news.get("classes")
    main = given.get(news.get("mainModule")) if isinstance(given, dict) else None
    if not isinstance(main, dict) or not isinstance(main.get("file"), str) or not isinstance(classes, dict):
        return
    try:
        exports = exported_names(Path(main["file"]))
    except OSError:  # told with the hash
        return
    for name in classes:
        if exports is not None and name not in exports:
            text = f"the main module {main['file']} does not export the class {name}"
            yield ("classes", name), f"{text}; export it there, as in `export {{ {name} }} from '{SDK}'`"


def contents(given: Mapping[str, Any]) -> dict[str, bytes]:
    """Read the modules, which must still be those that were checked."""
    read = {}
    for name, module in given.items():
        if "file" not in module:
            raise ProviderError(f"module {name} has to be uploaded and has no file; set modules[{name!r}].file")
        try:
            read[name] = Path(module["file"]).read_bytes()
        except OSError as error:
            raise ProviderError(f"module {name}: cannot read {module['file']} ({error.strerror})") from None
        if modules.digest(read[name]) != module["sha256"]:
            raise ProviderError(f"module {name} ({module['file']}) changed while the update ran; run `pulumi up` again")
    return read
