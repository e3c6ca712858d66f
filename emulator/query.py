"""Query parameters that cannot be ignored.

Cloudflare's lists take filters, and a filter that is dropped in silence answers with the wrong things: `queues?name=a`
with all queues lets a client delete another one. So parameters note who asks for them, and what nobody asked for is
refused when the handler is done, before anything it did is kept. A handler supports a parameter by reading it.
"""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qsl

from . import errors


class Query:
    """The parameters of one request, by name."""

    def __init__(self, text: str) -> None:
        pairs = parse_qsl(text, keep_blank_values=True, errors="replace")
        self._pairs = pairs
        self._values = dict(pairs)
        self._repeated = {name for name, count in Counter(name for name, _ in pairs).items() if count > 1}
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        """Whether it was sent, which is a way to read it."""
        self._read.add(name)
        return name in self._values

    def __getitem__(self, name: str) -> str:
        """The value of a parameter that was sent."""
        self._read.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """The names that were sent; looking at them reads no value."""
        return iter(self._values)

    def get(self, name: str, default: str = "") -> str:
        """The value of a parameter, or the default."""
        self._read.add(name)
        return self._values.get(name, default)

    def every(self, name: str) -> list[str]:
        """All values of a parameter that may be repeated."""
        self._read.add(name)
        self._repeated.discard(name)
        return [value for each, value in self._pairs if each == name and value]

    def given(self, *names: str) -> dict[str, str]:
        """Those of the names that were sent with a value: the filters of a list."""
        self._read.update(names)
        return {name: self._values[name] for name in names if self._values.get(name)}

    def has_no_effect(self, *names: str) -> None:
        """Accept parameters that change nothing in the answer; the caller says why."""
        self._read.update(names)

    def refuse_leftovers(self) -> None:
        """Raise for the first parameter that is not understood, or of whose values only one was."""
        for name in self._values:
            if name not in self._read:
                raise errors.BAD_QUERY(name=name, problem="this operation does not support it in the emulator.")
            if name in self._repeated:
                raise errors.BAD_QUERY(name=name, problem="it must be given once.")
