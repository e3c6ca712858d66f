"""The files of a Worker's modules: hashed when inputs are checked, read again when they are uploaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import ProviderError
from .lifecycle import modules
from .lifecycle.values import UNKNOWN
from .resource import Values
from .shapes import Problem


def hashed(given: Mapping[str, Any]) -> tuple[Values, list[Problem]]:
    """Give the modules with the hashes of their files, and what is wrong with those."""
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
