"""What an account has of one request's stack, beside what its state says: judged by exact names and marks. Pure.

A name that only begins like the stack's may be of a stack `pr-1-try`, or of a project that is called `box-pr-1`. The
hash at a name's end is over its exact parts, so it tells them apart: what it does not vouch for is somebody else's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..account.items import Item, Key, Kind
from ..naming import physical_name, record_comment, stack_of_tag
from ..platform import storage

_HOSTED: Final = frozenset({Kind.RECORD, Kind.ROUTE, Kind.CERTIFICATE, Kind.CUSTOM_DOMAIN})
"""What is called as a host is, and not as its stack."""


@dataclass(frozen=True)
class Whose:
    """A request's stack, as far as it can be told by what it made."""

    project: str
    """The Pulumi project."""
    stack: str
    name: str
    """The settings' name."""
    hosts: tuple[str, ...] = ()
    """Hosts that nobody but this stack has."""

    @property
    def script(self) -> str:
        """Name of its Worker."""
        return physical_name(self.name, self.stack)

    def rival(self, items: Sequence[Item]) -> str:
        """Return which stack of another project made the Worker of this name; empty where none did.

        Two repositories may give one name to what they make in one account: all of that is then the other one's.
        """
        for item in items:
            if item.key == Key(Kind.SCRIPT, self.script):
                said = [found for mark in item.marks if (found := stack_of_tag(mark))]
                return next(("/".join(each) for each in said if each != (self.project, self.stack)), "")
        return ""

    def belongings(self, items: Sequence[Item]) -> Iterator[Item]:
        """Return what is the stack's of what an account has."""
        if self.rival(items):
            return
        scripts = {item.name for item in items if item.kind is Kind.SCRIPT}
        for item in items:
            if self._is_hosted(item, scripts) if item.kind in _HOSTED else self._is_named(item):
                yield item

    def _is_named(self, item: Item) -> bool:
        name = str(item.details["repository"]) if item.kind is Kind.IMAGE else item.name
        begins, role = f"{self.name}-{self.stack}-", ""
        if name.startswith(begins):
            role = name.removeprefix(begins).rpartition("-")[0]
        bindings = (role.upper().replace("-", "_"), role.replace("-", "_"))  # stores that exist are called so
        roles = {role, *bindings, *storage.STORES} - {""}
        return name in {self.script, *(physical_name(self.name, self.stack, each) for each in roles)}

    def _is_hosted(self, item: Item, scripts: set[str]) -> bool:
        if item.kind is Kind.RECORD:
            return record_comment(self.name, self.stack) in item.marks
        hosts = {host for name in self.hosts for host in (name, f"*.{name}")}
        if item.kind is Kind.CERTIFICATE:
            named = {*item.details["hosts"]} - {item.details.get("zone")}
            return bool(named) and named <= hosts
        script = str(item.details.get("script") or "")
        leads_nowhere = script not in scripts
        return script == self.script or (leads_nowhere and item.name.partition("/")[0] in hosts)
