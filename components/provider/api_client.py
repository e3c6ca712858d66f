"""Cloudflare's API as the plugin uses it: one client for all threads, on the official SDK's transport.

The SDK's own retries are off, because they sleep through a cancellation and would repeat a request whose outcome is
unknown without looking first. Here `call` repeats what is safe to repeat, and `persist` repeats a whole look-and-act.
The SDK's typed methods are not used: their upload knows no `containers`, and loading them costs 0.7 s and 12 MB.
"""

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from ..platform import api
from .errors import ApiError, Complaint, Refusal, SilentError, StoppedError, TransientError

Result = TypeVar("Result")

_REQUEST_SECONDS: Final = 60.0
_UPLOAD_SECONDS: Final = 300.0
_CONNECT_SECONDS: Final = 10.0
_LONGEST_RETRY_AFTER: Final = 60.0
AT_ONCE: Final = 16  # Cloudflare allows 1200 requests in 5 minutes; more at once only makes it say 429
_PAGE: Final = 1000


@dataclass(frozen=True)
class WaitTimes:
    """How long to wait for what, in seconds."""

    retries: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    poll: float = 2.0
    enabling: float = 60.0
    """How long a class may take to become known as container-enabled."""
    hope: float = 15.0
    """How long a rollout may stand still whose instances cannot start; a registry may fail for a moment."""


@dataclass(frozen=True)
class Answer:
    """What the API said."""

    status: int
    result: Any = None


class Client:
    """Calls the API with a token."""

    def __init__(self, token: str, base_url: str = api.URL, waits: WaitTimes | None = None) -> None:
        self.waits = waits or WaitTimes()
        self._token = token
        self._base_url = base_url
        self._stopped = threading.Event()
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._sdk: Any = None

    def __repr__(self) -> str:
        return f"Client({self._base_url})"

    @property
    def local_host(self) -> str:
        """Host and port of an API on loopback, which serves its image registry itself; empty for Cloudflare's."""
        host = urlsplit(self._base_url).netloc
        return host if is_loopback(host) else ""

    def prepare(self) -> None:
        """Load what requests need, on a thread: a run that makes none need not wait for it, nor one that does."""
        threading.Thread(target=self._try_to_load, daemon=True).start()

    def _try_to_load(self) -> None:
        with contextlib.suppress(Exception):  # the first request meets the same and tells it where it belongs
            self._loaded()

    def stop(self) -> None:
        """End all waits now, and let no further request begin."""
        self._stopped.set()

    def pause(self, seconds: float) -> None:
        """Wait, unless the run is cancelled."""
        if self._stopped.wait(seconds):
            raise StoppedError

    def get(self, path: str, **query: Any) -> Any:
        """Read; return the result."""
        return self.call("GET", path, query=query).result

    def find(self, path: str, **query: Any) -> Any:
        """Read; return the result, or None when there is no such thing."""
        try:
            return self.get(path, **query)
        except Refusal as refusal:
            if refusal.status == 404:
                return None
            raise

    def pages(self, path: str, *, per_page: int = _PAGE, **query: Any) -> Iterator[Any]:
        """Return all entries of a list with page numbers."""
        page = 1
        while True:
            answer = self.call("GET", path, query={**query, "page": page, "per_page": per_page})
            yield from answer.result or ()
            if len(answer.result or ()) < per_page:
                return
            page += 1

    def call(self, method: str, path: str, **content: Any) -> Answer:
        """Make a request that does no harm when it is made twice; repeat it when it fails for a moment."""
        return self.persist(lambda: self.once(method, path, **content))

    def persist(self, action: Callable[[], Result]) -> Result:
        """Run an action again from its beginning when it fails for a moment."""
        for delay in (*self.waits.retries, None):
            try:
                return action()
            except TransientError as error:
                if delay is None or error.lasting:
                    error.lasting = True
                    raise
                self.pause(delay if error.retry_after is None else error.retry_after)
        raise AssertionError("the last try returns or raises")

    def once(  # noqa: PLR0913 - what a request can have
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        files: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Make one request."""
        options: dict[str, Any] = {"params": dict(query or {})}
        if headers:
            options["headers"] = dict(headers)
        return _answer(f"{method} {path}", self._send(method, path, options, body, files))

    def download(self, path: str) -> Any:
        """Read what is not JSON; return the response."""
        return self.persist(lambda: self._send("GET", path, {"params": {}}))

    def _send(self, method: str, path: str, options: dict[str, Any], body: Any = None, files: Any = None) -> Any:
        self.pause(0)
        with self._slots:
            self.pause(0)  # the run may have been cancelled while this request waited for its turn
            return self._exchange(method, path, options, body, files)

    def _exchange(self, method: str, path: str, options: dict[str, Any], body: Any, files: Any) -> Any:
        import httpx  # noqa: PLC0415 - loaded with the SDK, when the first request is made
        from cloudflare import APIConnectionError, APIStatusError  # noqa: PLC0415

        if files is not None:
            options |= {"headers": {"Content-Type": "multipart/form-data"}, "timeout": _UPLOAD_SECONDS}
        sends = {} if method == "GET" else {"body": body, **({"files": files} if files is not None else {})}
        place = f"{method} {path}"
        try:
            verb = getattr(self._loaded(), method.lower())
            return verb(path, cast_to=httpx.Response, options=options, **sends)
        except APIStatusError as error:
            raise self._refusal(place, error.response) from None
        except APIConnectionError as error:
            if self.local_host and isinstance(error.__cause__, httpx.ConnectError):
                raise SilentError(place, self.local_host) from None
            raise TransientError(place, type(error.__cause__ or error).__name__) from None

    def _loaded(self) -> Any:
        with self._lock:
            if self._sdk is None:
                self._sdk = _sdk(self._token, self._base_url)
            return self._sdk

    def _refusal(self, place: str, response: Any) -> ApiError:
        complaint = _complaint(response)
        text = complaint.text.replace(self._token, "[token]") if self._token else complaint.text
        if response.status_code in (408, 429) or response.status_code >= 500:
            return TransientError(place, f"{response.status_code} {text}", _retry_after(response.headers))
        return Refusal(place, response.status_code, replace(complaint, text=text))


def _sdk(token: str, base_url: str) -> Any:
    import httpx  # noqa: PLC0415
    from cloudflare import Cloudflare  # noqa: PLC0415 - takes 0.4 s, which a run without requests need not pay

    # At debug level the SDK logs whole requests, and an upload has the values of secret bindings in it.
    logging.getLogger("cloudflare._base_client").disabled = True
    return Cloudflare(
        api_token=token,
        base_url=base_url,
        max_retries=0,
        timeout=httpx.Timeout(_REQUEST_SECONDS, connect=_CONNECT_SECONDS),
        default_headers={"User-Agent": user_agent()},
    )


def user_agent() -> str:
    """Name the project to Cloudflare."""
    try:
        return f"pulumi-cloudflare-sandbox/{version('pulumi-cloudflare-sandbox')}"
    except PackageNotFoundError:
        return "pulumi-cloudflare-sandbox"


def _answer(place: str, response: Any) -> Answer:
    if not response.content and place.startswith("DELETE"):
        return Answer(response.status_code)
    try:
        envelope = response.json()
    except ValueError:
        raise TransientError(place, f"{response.status_code} {_not_json(response)}") from None
    enveloped = isinstance(envelope, dict) and "result" in envelope
    return Answer(response.status_code, envelope["result"] if enveloped else envelope)


def _complaint(response: Any) -> Complaint:
    """Read the body of a refusal; the Containers API puts JSON into the text of the envelope's error."""
    try:
        body = response.json()
    except ValueError:
        return Complaint(_not_json(response))
    errors = _record(body).get("errors")
    first = _record(errors[0] if isinstance(errors, list) and errors else body)
    text = str(first.get("message", "") or first.get("error", ""))
    inner = _inner(text) or (first if "error" in first else {})
    details = inner.get("details") or _record(first.get("meta")).get("details") or {}
    details = details if isinstance(details, dict) else {"details": details}
    reason = str(inner.get("error", ""))
    if reason:
        text = ": ".join([reason, *(f"{key} {value}" for key, value in details.items())])
    code = first.get("code")
    return Complaint(text, code if isinstance(code, int) else 0, reason, details)


def _not_json(response: Any) -> str:
    return f"an answer that is not JSON ({len(response.content)} bytes)"


def _record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _inner(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    return _record(parsed)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return min(max(seconds, 0), _LONGEST_RETRY_AFTER)
    return None


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine."""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def deadline(timeout: float, default: float) -> float:
    """Return the moment, of the monotonic clock, until which something may take; 0 stands for the default."""
    return time.monotonic() + (timeout or default)
