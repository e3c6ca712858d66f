"""The package `pulumi_cloudflare` before its own code ran.

Its modules can be imported one by one, which spares the other 780. Whoever asks the package for anything itself makes
it whole, with the very classes that were loaded before.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from .nested import IMPORTS, INPUTS, Nested

_PACKAGE: Final = "pulumi_cloudflare"


class _Shell(ModuleType):
    """The package: its modules can be imported; whatever else is asked of it makes it whole."""

    def __getattr__(self, name: str) -> Any:
        # Python asks for `_utilities` and the like when one module imports another, and for dunder names at any time;
        # of those only `__all__` means that somebody wants what the package holds.
        if self._is_importing() or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}")
        self._complete()
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a module binds it to its package. There `get_zone` has to stay free for the function.
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        self._complete()
        return dir(self)

    def load(self, name: str) -> ModuleType:
        """Import one module of the package; modules of nested types that it imports have just the ones it names."""
        source = (Path(self.__path__[0]) / f"{name}.py").read_bytes()
        with self._imports():
            used = {module: self._nested(module) for module, statement in IMPORTS.items() if statement in source}
            inputs = used.get(INPUTS)
            if not isinstance(inputs, Nested):
                return import_module(f"{_PACKAGE}.{name}")
            with inputs.offering(source):
                return import_module(f"{_PACKAGE}.{name}")

    def _nested(self, name: str) -> ModuleType:
        """Give a module of nested types; it is whole if somebody has imported it by itself."""
        found = sys.modules.get(f"{_PACKAGE}.{name}")
        if found is not None:
            return found
        spec = find_spec(f"{_PACKAGE}.{name}")
        if spec is None:
            raise ModuleNotFoundError(f"No module named '{_PACKAGE}.{name}'", name=f"{_PACKAGE}.{name}")
        nested = sys.modules[spec.name] = Nested(spec, self._fill)
        nested.run_imports()
        return nested

    def _fill(self, nested: Nested) -> None:
        """Make a module of nested types whole, and if it can be the package too."""
        if not self._is_importing():
            self._complete()
            return
        with self._imports():
            nested.complete()

    def _complete(self) -> None:
        with self._imports():
            for name in IMPORTS:
                nested = sys.modules.get(f"{_PACKAGE}.{name}")
                if isinstance(nested, Nested):
                    nested.complete()
            self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]  # a package that was found has both
        self.__class__ = ModuleType  # type: ignore[assignment]  # from here on it is like any other package
        for name, module in list(sys.modules.items()):
            parent, _, child = name.rpartition(".")
            if parent == _PACKAGE:
                vars(self).setdefault(child, module)

    def _is_importing(self) -> bool:
        """Say whether a module is half imported, by whomever: made whole now, the package would lack it."""
        if "_importing" in vars(self):
            return True
        loaded = [module for name, module in list(sys.modules.items()) if name.startswith(f"{_PACKAGE}.")]
        return any(getattr(module.__spec__, "_initializing", False) for module in loaded)

    @contextmanager
    def _imports(self) -> Iterator[None]:
        outermost = "_importing" not in vars(self)
        vars(self)["_importing"] = True
        try:
            yield
        finally:
            if outermost:
                vars(self).pop("_importing")


def module(name: str) -> ModuleType:
    """Give the module of this name, or the whole package if somebody has imported that."""
    package = sys.modules.get(_PACKAGE) or _new_shell()
    return package.load(name) if isinstance(package, _Shell) else package


def _new_shell() -> ModuleType:
    spec = find_spec(_PACKAGE)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {_PACKAGE!r}", name=_PACKAGE)
    shell = module_from_spec(spec)
    shell.__class__ = _Shell
    sys.modules[_PACKAGE] = shell
    return shell
