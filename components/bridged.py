"""The bridged Cloudflare SDK, of which only the modules that are used get loaded.

`bridged.R2Bucket` is `pulumi_cloudflare.R2Bucket`; nothing is imported before the first such name is asked for, and
then only the module that defines it, which takes about half the time and two thirds of the memory of all 780.
A program that imports `pulumi_cloudflare` itself, before or after, has the whole package with the very same classes.
"""

import re
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pulumi_cloudflare import (
        AccountToken,
        CertificatePack,
        DnsRecord,
        Queue,
        R2Bucket,
        R2BucketCors,
        R2BucketLifecycle,
        R2BucketLock,
        R2ManagedDomain,
        WorkersCronTrigger,
        WorkersKvNamespace,
        WorkersRoute,
        ZeroTrustAccessApplication,
        ZeroTrustAccessPolicy,
        ZeroTrustAccessServiceToken,
        get_account_api_token_permission_groups_list_output,
        get_zone_output,
    )

__all__ = [
    "AccountToken",
    "CertificatePack",
    "DnsRecord",
    "Queue",
    "R2Bucket",
    "R2BucketCors",
    "R2BucketLifecycle",
    "R2BucketLock",
    "R2ManagedDomain",
    "WorkersCronTrigger",
    "WorkersKvNamespace",
    "WorkersRoute",
    "ZeroTrustAccessApplication",
    "ZeroTrustAccessPolicy",
    "ZeroTrustAccessServiceToken",
    "get_account_api_token_permission_groups_list_output",
    "get_zone_output",
]

_PACKAGE: Final = "pulumi_cloudflare"


class _Shell(ModuleType):
    """The package before its own code ran: its modules can be imported; whatever else is asked of it makes it whole."""

    _importing = False

    def __getattr__(self, name: str) -> Any:
        # Python asks for `_utilities` and the like when one module imports another, and for dunder names at any time;
        # of those only `__all__` means that somebody wants what the package holds.
        if self._importing or (name.startswith("__") and name != "__all__"):
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

    def load(self, module: str) -> ModuleType:
        """Import one module of the package."""
        vars(self)["_importing"] = True
        try:
            return import_module(f"{_PACKAGE}.{module}")
        finally:
            vars(self).pop("_importing")

    def _complete(self) -> None:
        vars(self)["_importing"] = True
        try:
            self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]  # a package that was found has both
        finally:
            vars(self).pop("_importing")
        self.__class__ = ModuleType  # type: ignore[assignment]  # from here on it is like any other package
        for name, module in list(sys.modules.items()):
            parent, _, child = name.rpartition(".")
            if parent == _PACKAGE:
                vars(self).setdefault(child, module)


def _new_shell() -> ModuleType:
    spec = find_spec(_PACKAGE)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {_PACKAGE!r}", name=_PACKAGE)
    shell = module_from_spec(spec)
    shell.__class__ = _Shell
    sys.modules[_PACKAGE] = shell
    return shell


def _module_of(name: str) -> str:
    """Give the module of a class or function: `R2Bucket` is in `r2_bucket`, `get_zone_output` in `get_zone`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().removesuffix("_output")


def _from_sdk(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; list it there to use it")
    package = sys.modules.get(_PACKAGE) or _new_shell()
    home = package.load(_module_of(name)) if isinstance(package, _Shell) else package
    return getattr(home, name)


if not TYPE_CHECKING:  # a module with this function has any name in the eyes of a type checker
    __getattr__ = _from_sdk
