"""Settings `egress`: what sandboxes may reach, and what is added to their requests so that no secret enters them."""

import json
import re
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from ..platform import previews
from .base import Section, each, matching, rule

MOST_HOSTS: Final = 100
_WORDS: Final = ("off", "on")
_FORBIDDEN: Final = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)


def host_problem(text: str) -> str | None:
    """Say why a text names no host that can be listed, with the remedy; None if it does."""
    name = text.removeprefix("*.")
    if text == "*":
        return 'say "on" where every host may be reached'
    if "*" in name:
        return "a wildcard stands in front of a whole name, as in *.example.com"
    if "://" not in name and (name.count(":") > 1 or name.rpartition(".")[2][:1].isdigit()):
        return "give a name, not an address"
    return previews.hostname_problem(name)


def _is_egress(value: Any) -> Any:
    if value in _WORDS:
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError('expected "off", "on" (put quotes around them) or a list of hosts')
    if len(value) > MOST_HOSTS:
        raise ValueError(f"list {MOST_HOSTS} hosts at most; *.example.com means every host below example.com")
    wrong = [
        f"{host!r} is no host; {host_problem(host)}"
        if isinstance(host, str)
        else "a host is text; put quotes around it"
        for host in value
        if not isinstance(host, str) or host_problem(host)
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
    return tuple(value)


Egress = Annotated[Literal["off", "on"] | tuple[str, ...], BeforeValidator(_is_egress)]
"""Nothing, everything, or hosts by name; `*.example.com` means every host below example.com."""


def covers(egress: Egress, host: str) -> bool:
    """Whether a sandbox may reach a host."""
    if isinstance(egress, str):
        return egress == "on"
    return any(host == each_ or (each_.startswith("*.") and host.endswith(each_[1:])) for each_ in egress)


def _is_credential(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,31}", name):
        raise ValueError(f"{name!r} cannot name a credential; use 1 to 32 lower-case letters, digits and hyphens")


class CredentialSettings(Section):
    """What the Worker adds to requests of sandboxes for one host, within TLS."""

    host: str
    """The host, by its whole name."""
    secret: Annotated[str, matching(r"[A-Za-z_]\w*", "give the name of a secret, such as AGENT_API_KEY")]
    """Name of the Worker's secret, which `secrets` names too."""
    header: Annotated[
        str, matching(r"[a-z][a-z0-9-]{0,63}", "give the name of a header in lower case, such as x-api-key")
    ] = "authorization"
    """The header; what a sandbox sends under this name is overwritten."""
    scheme: Literal["bearer", "basic", "plain"] = "bearer"
    """How the secret is written there: `Bearer <secret>`, `Basic` with `user`, or the secret alone."""
    user: Annotated[str, matching(r"[!-9;-~]{1,64}", "use 1 to 64 visible characters without a colon")] | None = None
    """Whose password the secret is, with the scheme `basic`."""

    @rule
    def _host_is_one(self) -> None:
        problem = "name one host in full" if self.host.startswith("*") else host_problem(self.host)
        if problem:
            raise ValueError(f"host: {self.host!r} cannot have a credential; {problem}")

    @rule
    def _header_can_be_set(self) -> None:
        if self.header in _FORBIDDEN:
            raise ValueError(f"header: {self.header} belongs to the connection; choose another")

    @rule
    def _user_fits(self) -> None:
        if (self.scheme == "basic") != (self.user is not None):
            raise ValueError("user: the scheme basic needs one, and only that; add or remove it")


class EgressSettings(Section):
    """What sandboxes may reach."""

    allow: Egress = "on"
    """`"off"`, `"on"` or a list of hosts: for all sandboxes whose API key says nothing else. Who makes a sandbox can
    choose less for it, never more."""
    credentials: Annotated[dict[str, CredentialSettings], each(_is_credential)] = Field(default_factory=dict)
    """What is added to requests, by a name under which API keys are given it."""

    @property
    def variables(self) -> dict[str, str]:
        """Variables of the Worker."""
        known = {
            name: {
                **each_.model_dump(exclude={"scheme"}, exclude_none=True),
                **({} if each_.scheme == "plain" else {"scheme": each_.scheme}),
            }
            for name, each_ in self.credentials.items()
        }
        return {
            **({} if self.allow == "on" else {"EGRESS": json.dumps(self.allow)}),
            **({"EGRESS_CREDENTIALS": json.dumps(known, sort_keys=True)} if known else {}),
        }
