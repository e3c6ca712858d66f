"""Send one request and read one answer, within a time and a size. The only module that knows keys and sockets.

Redirects are not followed: they would carry the key elsewhere. An answer that repeats a secret is not passed on.
"""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from .address import Address, is_local
from .messages import Answer, FailedError, NoAnswerError, Request, UnreachableError, printable

MAX_ANSWER: Final = 1024 * 1024


@dataclass(frozen=True)
class Secrets:
    """What a run proves itself with. Never shown."""

    key: str | None = field(default=None, repr=False)
    access_id: str | None = field(default=None, repr=False)
    access_secret: str | None = field(default=None, repr=False)

    def headers(self, request: Request) -> dict[str, str]:
        """The headers that carry what a request may prove itself with."""
        found = {}
        if self.key and request.credential == "all":
            found["authorization"] = f"Bearer {self.key}"
        if self.access_id and self.access_secret and request.credential != "none":
            found["cf-access-client-id"] = self.access_id
            found["cf-access-client-secret"] = self.access_secret
        return found

    def within(self, text: str) -> bool:
        """Whether a text holds a secret."""
        return any(each in text for each in (self.key, self.access_secret) if each)


@dataclass(frozen=True)
class Wire:
    """Requests to one deployment."""

    address: Address
    secrets: Secrets
    timeout: float

    def __call__(self, request: Request) -> Answer:
        """Send a request."""
        answer = self._exchange(request)
        shown = answer.text + "\n".join(answer.headers.values())
        if self.secrets.within(shown):
            raise FailedError("an answer that holds no secret of the caller", f"{answer.status} with a secret in it")
        return answer

    def _exchange(self, request: Request) -> Answer:
        address = self.address.of(request.host) if request.host else self.address
        headers = {"host": address.netloc, "connection": "close", "user-agent": "sandbox-smoke", "accept": "*/*"}
        headers |= {**request.headers, **self.secrets.headers(request)}
        body = None if request.body is None else json.dumps(request.body).encode()
        if body is not None:
            headers["content-type"] = "application/json"
        connection = http.client.HTTPConnection(address.host, timeout=self.timeout)
        with self._connected(address, connection):
            connection.request(request.method, request.path, body=body, headers=headers)
            response = connection.getresponse()
            content = response.read(MAX_ANSWER + 1)
            if len(content) > MAX_ANSWER:
                raise FailedError(f"an answer of at most {MAX_ANSWER} bytes", f"{response.status} with more")
            if response.length:  # what is still missing of the stated length
                raise http.client.IncompleteRead(content, response.length)
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, content)

    @contextmanager
    def _connected(self, address: Address, connection: http.client.HTTPConnection) -> Iterator[None]:
        """A connection for one exchange that ends in time, also where an answer comes byte by byte."""
        late = threading.Event()
        sock = _connect(address, self.timeout)
        connection.sock = sock

        def end() -> None:
            late.set()
            with suppress(OSError):
                # Below TLS: there is nobody to say goodbye to.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

        timer = threading.Timer(self.timeout, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise NoAnswerError(f"no whole answer within {self.timeout:g} seconds") from None
            raise NoAnswerError(f"the connection broke: {type(error).__name__}") from None
        finally:
            timer.cancel()
            connection.close()
        if late.is_set():
            raise NoAnswerError(f"no whole answer within {self.timeout:g} seconds")


def _connect(address: Address, timeout: float) -> socket.socket:
    place = f"{address.connect_host}:{address.connect_port}"
    try:
        sock = socket.create_connection((address.connect_host, address.connect_port), timeout)
        if address.scheme == "http":
            return sock
        try:
            return ssl.create_default_context().wrap_socket(sock, server_hostname=address.host)
        except BaseException:
            sock.close()
            raise
    except ssl.SSLCertVerificationError as error:
        raise UnreachableError(
            f"the certificate of {address.host} is not valid: {printable(error.verify_message)}"
        ) from None
    except ssl.SSLError as error:
        raise UnreachableError(f"no TLS with {place}: {printable(error.reason or 'handshake failed')}") from None
    except TimeoutError:
        raise UnreachableError(f"no connection to {place} within {timeout:g} seconds") from None
    except OSError as error:
        hint = "; was the emulator stopped?" if is_local(address.connect_host) else ""
        raise UnreachableError(f"no connection to {place}: {error.strerror or type(error).__name__}{hint}") from None
