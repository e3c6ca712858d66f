"""Requests for the fuzz: bodies made from the official schemas, then damaged; ids that exist, and ids that do not."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

from testbed.emulator import official

HOSTILE_TEXTS = (
    "", " ", ".", "..", "a" * 3000, "\x00", "\U0001f4a5", "'; DROP TABLE documents; --", "../../etc/passwd",
    "{problem}", "{0}", "%s%n", "null", "-1", "1e400", "\u202e", "ﬀ", "*", "true", "A" * 64, "a.b.c", "%2e%2e", "\n",
    "0" * 32,
)  # fmt: skip
HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 2**200, -(2**63), 0.5, 1e308, -0.0, [], {}, [[]], [None], [{}], {"": ""},
    {"id": None}, [1] * 500, {"a": {"b": {"c": []}}},
)  # fmt: skip
MALFORMED = (
    b"", b"{", b"[]", b"null", b"true", b'"text"', b"123", b'{"a":1}x', b"\xff\xfe", b'{"name":"\\ud800"}', b"9" * 5000,
    b'{"a":NaN}', b'{"a":1e999}', b"[" * 5000,
    b'{"title":"x\xed\xa0\x80"}', '{"title":"x\ud800"}'.encode("utf-16", "surrogatepass"), b'\xef\xbb\xbf{"title":"x"}',
    b'{"a":' * 2000, b"\x00", b"<html>", b'{"name":1,"name":2}',
)  # fmt: skip
QUERY = {
    "page": ("1", "2", "0", "-1", "x", "99999999999", "1.5", ""),
    "per_page": ("1", "5", "20", "50", "0", "-1", "100000", "x"),
    "cursor": ("", "x", "aGVsbG8=", "////", "%00"),
    "page_token": ("", "x", "aGVsbG8="),
    "direction": ("asc", "desc", "up"),
    "order": ("name", "id", "title", "type", "x"),
    "force": ("true", "false", "1", "x"),
    "limit": ("10", "1000", "0", "x"),
    "name": ("sandbox.example", "a", "x" * 300, "\x00"),
    "status": ("all", "active", "x"),
    "expiration_ttl": ("60", "1", "x", "9" * 30),
}
_TOKEN = {
    "name": "t",
    "policies": [
        {
            "effect": "allow",
            "permission_groups": [{"id": "f7f0eda5697f475c90846e879bab8666"}],
            "resources": {"com.cloudflare.api.account.ACCOUNT": "*"},
        }
    ],
}
EXAMPLES: dict[str, Any] = {
    # Good bodies by the end of the path, where the SDK describes none or made-up ones are mostly refused; ACCOUNT and
    # ZONE stand for the ids.
    "/access/policies": {"name": "p", "decision": "allow", "include": [{"everyone": {}}], "session_duration": "24h"},
    "/access/policies/{policy_id}": {"name": "q", "decision": "deny", "include": [{"everyone": {}}]},
    "/apps/{app_id}/policies": {"name": "p", "decision": "allow", "include": [{"everyone": {}}]},
    "/apps/{app_id}/policies/{policy_id}": {"name": "q", "decision": "deny", "include": [{"everyone": {}}]},
    "/access/service_tokens": {"name": "t", "duration": "60m"},
    "/access/service_tokens/{service_token_id}": {"name": "u", "duration": "2h45m", "enabled": False},
    "/access/groups": {"name": "g", "include": [{"everyone": {}}]},
    "/access/groups/{group_id}": {"name": "h", "include": [{"everyone": {}}]},
    "/namespaces/{namespace_id}/bulk": [{"key": "a", "value": "b"}],
    "/bulk/delete": ["a"],
    "/bulk/get": {"keys": ["a", "stage"]},
    "/messages": {"body": {"a": 1}, "content_type": "json"},
    "/messages/batch": {"messages": [{"body": "text", "content_type": "text"}]},
    "/messages/pull": {"batch_size": 1, "visibility_timeout_ms": 0},
    "/messages/ack": {"acks": [{"lease_id": "none"}]},
    "/purge": {"delete_messages_permanently": True},
    "/rulesets/{ruleset_id}/rules": {"action": "block", "expression": "true"},
    "/rules/{rule_id}": {"enabled": False},
    "/tails": {"filters": [{"outcome": ["exception"]}]},
    "/universal/settings": {"enabled": True},
    "/custom_certificates/{custom_certificate_id}": {"bundle_method": "optimal"},
    "/settings/{setting_id}": {"value": "on"},
    "/secrets_store/stores": {"name": "main"},
    "/stores/{store_id}/secrets": [{"name": "NAME", "value": "v", "scopes": ["workers"]}],
    "/secrets/{secret_id}": {"comment": "why"},
    "/secrets/{secret_id}/duplicate": {"name": "COPY", "scopes": []},
    "/d1/database": {"name": "stage"},
    "/d1/database/{database_id}": {"read_replication": {"mode": "auto"}},
    "/database/{database_id}/query": {"sql": "SELECT 1"},
    "/database/{database_id}/import": {"action": "init", "etag": "0" * 32},
    "/database/{database_id}/export": {"output_format": "polling"},
    "/database/{database_id}/raw": {"sql": "SELECT ?", "params": [1]},
    "/dns_records/batch": {"posts": [{"name": "batch", "type": "TXT", "content": "x", "ttl": 60}]},
    "/configuration/queues/{queue_id}": {"rules": [{"actions": ["PutObject"]}]},
    "/dns_records": {"name": "a.sandbox.example", "type": "TXT", "content": "x", "ttl": 60},
    "/dns_records/{dns_record_id}": {"name": "b.sandbox.example", "type": "TXT", "content": "y", "ttl": 60},
    "/domains/custom": {"domain": "r2.sandbox.example", "zoneId": "ZONE", "enabled": True},
    "/tokens": _TOKEN,
    "/tokens/{token_id}": _TOKEN,
    "/zones": {"name": "fuzz.example", "account": {"id": "ACCOUNT"}},
    "/temp-access-credentials": {
        "bucket": "stage",
        "parentAccessKeyId": "k",
        "permission": "object-read-only",
        "ttlSeconds": 60,
    },
    "/versions/latest": {"env": {"S": {"type": "secret_text", "text": "hidden"}}},
    "/scripts/{script_name}/routes": [{"pattern": "stage.sandbox.example/*"}],
    "/domains/records": {"origins": [{"hostname": "b.sandbox.example"}]},
    "/domains/changeset": [{"hostname": "a.sandbox.example"}],
    "/rulesets": {"name": "r", "kind": "custom", "phase": "http_ratelimit", "rules": []},
    "/rulesets/{ruleset_id}": {"rules": [{"action": "block", "expression": "true"}]},
    "/entrypoint": {"rules": [{"action": "block", "expression": "true"}]},
    "/lock": {"rules": [{"id": "r", "enabled": True, "condition": {"type": "Indefinite"}}]},
}
_NEWEST = 3  # of what was seen, these are most likely still there
_WORDS = ("alpha", "beta", "gamma", "delta", "one", "two")


@dataclass
class Pool:
    """Values worth sending: what exists, and what answers contained."""

    rng: random.Random
    account_id: str
    zone_id: str
    polite: bool = False  # nothing but what should be accepted
    seen: dict[str, list[str]] = field(default_factory=dict)
    below: dict[str, list[str]] = field(default_factory=dict)

    def learn(self, value: Any, owner: str = "", depth: int = 0) -> None:
        """Remember strings of an answer by the name of their field, and by owner and field."""
        if depth > 4:
            return
        if isinstance(value, list):
            for item in value[:20]:
                self.learn(item, owner, depth + 1)
        elif isinstance(value, dict):
            for name, item in value.items():
                if isinstance(item, str) and 0 < len(item) < 100:
                    _remember(self.seen, name.lower(), item)
                    _remember(self.seen, f"{owner}.{name}".lower(), item)
                else:
                    self.learn(item, name, depth + 1)

    def learn_keys(self, path: str, keys: list[str], parameter: str = "") -> None:
        """Remember what exists below a path, where paths name it by this parameter."""
        for key in keys[:20]:
            _remember(self.below, path, key)
            if parameter:
                _remember(self.seen, parameter, key)

    def parameter(self, name: str, path: str) -> str:
        """A value for the path parameter that follows a path: usually something that exists."""
        owners = {"account_id": self.account_id, "zone_id": self.zone_id}
        if name in owners and (self.polite or self.rng.random() < 0.97):
            return owners[name]
        if path in self.below and (self.polite or self.rng.random() < 0.75):
            known = self.below[path]
            return self.rng.choice(known[-_NEWEST:] if self.polite and self.rng.random() < 0.5 else known)
        if self.rng.random() < 0.6:
            short = name.rpartition("_")[2]
            for candidate in (name.lower(), f"{short}", "id", "name"):
                seen = self.seen.get(candidate)
                if seen and self.rng.random() < 0.7:
                    return self.rng.choice(seen)
        return self.text()

    def text(self) -> str:
        """Any text, sometimes hostile."""
        if self.rng.random() < 0.15:
            return self.rng.choice(HOSTILE_TEXTS)
        word = self.rng.choice(_WORDS)
        return self.rng.choice((word, f"{word}-{self.rng.randrange(50)}", f"{word}.sandbox.example", f"{word}_{word}"))

    def named(self, name: str, owner: str = "") -> str:
        """A text that suits a field of this name in an object of that name."""
        lower = name.lower()
        if "zone" in lower and "id" in lower:
            return self.zone_id
        fixed = {
            ("account", "id"): self.account_id,
            ("", "hosts"): "sandbox.example",
            ("", "date"): "2030-01-01T00:00:00Z",
            ("", "expires_on"): "2030-01-01T00:00:00Z",
            ("", "not_before"): "2020-01-01T00:00:00Z",
        }
        found = fixed.get((owner, lower)) or fixed.get(("", lower))
        if found and self.rng.random() < 0.7:
            return found
        known = self.seen.get(f"{owner}.{lower}") or self.seen.get(lower)
        if not known and lower.endswith("id"):
            known = self.seen.get("id")
        return self.rng.choice(known) if known and self.rng.random() < 0.5 else self.text()


def _remember(where: dict[str, list[str]], name: str, value: str) -> None:
    known = where.setdefault(name, [])
    if value not in known:
        known.append(value)
        del known[:-40]


class Generator:
    """Makes request bodies."""

    def __init__(self, rng: random.Random, pool: Pool) -> None:
        self.rng = rng
        self.pool = pool
        self.definitions: Any = {}  # what the schema in use refers to

    def value(self, schema: Any, name: str = "", depth: int = 0, owner: str = "") -> Any:
        """Something the schema allows."""
        while "$ref" in schema:
            schema = self.definitions[schema["$ref"].rpartition("/")[2]]
        if "anyOf" in schema:
            return self.value(self.rng.choice(schema["anyOf"]), name, depth, owner)
        if "enum" in schema or "const" in schema:
            return self.rng.choice(schema.get("enum") or [schema["const"]])
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth, name)
        if kind == "array":
            count = 0 if depth > 6 else self.rng.choice((0, 1, 1, 1, 2))
            return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(count)]
        simple = {
            "string": self.pool.named(name, owner),
            "integer": self.rng.choice((0, 1, 5, 60, 90, 300, 86400)),
            "number": self.rng.choice((0, 1, 0.5, 60, 90, 300, 86400)),
            "boolean": self.rng.random() < 0.5,
            "null": None,
        }
        return simple.get(kind, self.pool.text())

    def _object(self, schema: Any, depth: int, owner: str) -> dict[str, Any]:
        required = schema.get("required", [])
        chance = 0.5 if depth < 3 else 0.1
        if not schema.get("properties") and self.rng.random() < 0.7:
            if owner == "resources":
                return {f"com.cloudflare.api.account.{self.pool.account_id}": "*"}
            anything = schema.get("additionalProperties", True)
            return {self.pool.text(): self.pool.text() if anything is True else self.value(anything, "", depth + 1)}
        return {
            name: self.value(part, name, depth + 1, owner)
            for name, part in schema.get("properties", {}).items()
            if name in required or self.rng.random() < chance
        }

    def body(self, method: str, template: str) -> bytes | None:
        """A body for an operation: good, damaged, or nonsense."""
        dice = self.rng.random()
        if dice < 0.06 and not self.pool.polite:
            return self.rng.choice(MALFORMED)
        schema = official.body_schema(method, template)
        example = next((body for end, body in EXAMPLES.items() if template.endswith(end)), None)
        value: Any
        only_example = schema is None or self.pool.polite
        if method in ("POST", "PUT", "PATCH") and example and (only_example or self.rng.random() < 0.5):
            text = json.dumps(example).replace("ACCOUNT", self.pool.account_id).replace("ZONE", self.pool.zone_id)
            value = json.loads(text)
        elif schema is not None:
            self.definitions = schema.get("$defs", {})
            value = self.value(schema)
        elif method in ("GET", "DELETE") and dice < 0.95:
            return None
        else:
            value = {name: self.pool.named(name) for name in self.rng.sample(sorted(_COMMON), 3)}
        return json.dumps(self.maybe_damaged(value)).encode()

    def maybe_damaged(self, value: Any) -> Any:
        """The value, or a damaged one."""
        if self.rng.random() < 0.3 and not self.pool.polite:
            for _ in range(self.rng.randrange(1, 4)):
                value = self.damage(value)
        return value

    def damage(self, value: Any) -> Any:
        """Change one thing somewhere inside."""
        if isinstance(value, dict) and value and self.rng.random() < 0.8:
            key = self.rng.choice(list(value))
            dice = self.rng.random()
            if dice < 0.15:
                return {name: item for name, item in value.items() if name != key}
            if dice < 0.25:
                return {**value, self.pool.text(): self.pool.text()}
            return {**value, key: self.damage(value[key])}
        if isinstance(value, list) and value and self.rng.random() < 0.6:
            index = self.rng.randrange(len(value))
            return [*value[:index], self.damage(value[index]), *value[index + 1 :]]
        return self.rng.choice((*HOSTILE_VALUES, self.pool.text()))

    def query(self) -> dict[str, str]:
        """A few query parameters, rarely."""
        if self.pool.polite or self.rng.random() < 0.6:
            return {}
        names = self.rng.sample(sorted(QUERY), self.rng.randrange(1, 4))
        return {name: self.rng.choice(QUERY[name]) for name in names}


_COMMON = frozenset({"name", "id", "enabled", "title", "type", "config", "script_name", "text", "tag", "rules"})
