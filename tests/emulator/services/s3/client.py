"""A client of the S3 endpoint that signs by itself, shares nothing with the emulator, and can be told to cheat."""

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

import httpx

from testbed.emulator.control import Control

HTTP = httpx.Client(timeout=60)
"""One for all: making one takes longer than a request."""


@dataclass(frozen=True)
class Client:
    """Signs with one access key for one account's endpoint."""

    origin: str
    host: str
    key: str
    secret: str
    session: str = ""

    def at(self, account: str) -> "Client":
        """The same key at another account's endpoint."""
        return replace(self, host=f"{account}.r2.cloudflarestorage.com")

    def ask(self, method: str, target: str, body: bytes = b"", **headers: str) -> httpx.Response:
        """A request signed in its headers, which are given with underscores in their names."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = self.signed(method, target, sent, payload=hashlib.sha256(body).hexdigest())
        return HTTP.request(method, self.origin + target, content=body, headers=sent)

    def signed(
        self,
        method: str,
        target: str,
        headers: dict[str, str],
        *,
        payload: str = hashlib.sha256(b"").hexdigest(),
        now: datetime | None = None,
    ) -> dict[str, str]:
        """The headers of a signed request."""
        stamp = f"{now or datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        sent = {**headers, "host": self.host, "x-amz-date": stamp}
        sent["x-amz-content-sha256"] = payload
        if self.session:
            sent["x-amz-security-token"] = self.session
        names = sorted(name for name in sent if name == "host" or name.startswith("x-amz-"))
        signature = self._sign(
            method, target, {name: sent[name] for name in names}, sent["x-amz-content-sha256"], stamp
        )
        credential = f"{self.key}/{stamp[:8]}/auto/s3/aws4_request"
        sent["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(names)}, Signature={signature}"
        )
        return sent

    def presigned(
        self, method: str, path: str, *, expires: int = 3600, now: datetime | None = None, **more: str
    ) -> str:
        """Path and query of an address that carries its signature."""
        stamp = f"{now or datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.key}/{stamp[:8]}/auto/s3/aws4_request",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(expires),
            "X-Amz-SignedHeaders": "host",
            **more,
        }
        target = f"{path}?" + "&".join(
            f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query.items()
        )
        signature = self._sign(method, target, {"host": self.host}, "UNSIGNED-PAYLOAD", stamp)
        return f"{target}&X-Amz-Signature={signature}"

    def follow(self, method: str, target: str, body: bytes = b"", **headers: str) -> httpx.Response:
        """Use such an address, which needs no key."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return HTTP.request(method, self.origin + target, content=body, headers={"host": self.host, **sent})

    def _sign(self, method: str, target: str, headers: dict[str, str], payload: str, stamp: str) -> str:
        parts = urlsplit(target)
        pairs = sorted(
            (quote(k, safe=""), quote(v, safe="")) for k, v in parse_qsl(parts.query, keep_blank_values=True)
        )
        query = "&".join(f"{name}={value}" for name, value in pairs)
        lines = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
        canonical = "\n".join((method, parts.path, query, lines, ";".join(sorted(headers)), payload))
        scope = f"{stamp[:8]}/auto/s3/aws4_request"
        text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
        key = f"AWS4{self.secret}".encode()
        for part in (*scope.split("/"), text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key.hex()


def minted(control: Control, account: str, buckets: dict[str, str]) -> Client:
    """A client with a token of its own; `buckets` has `Read` or `Write` by name."""
    groups = control.api("GET", f"/accounts/{account}/tokens/permission_groups").json()["result"]
    ids = {each["name"]: each["id"] for each in groups}
    policies = [
        {
            "effect": "allow",
            "resources": {f"com.cloudflare.edge.r2.bucket.{account}_default_{name}": "*"},
            "permission_groups": [{"id": ids[f"Workers R2 Storage Bucket Item {right}"]}],
        }
        for name, right in buckets.items()
    ]
    body = {"name": "objects", "policies": policies}
    token = control.api("POST", f"/accounts/{account}/tokens", json=body).json()["result"]
    secret = hashlib.sha256(token["value"].encode()).hexdigest()
    return Client(control.emulator.origin, f"{account}.r2.cloudflarestorage.com", token["id"], secret)
