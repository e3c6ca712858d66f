"""Kinds of Worker bindings and the fields each has.

Names are those of the upload API in camel case, as programs write them. Source: official Python SDK 5.9.0 (a test
compares every kind with it), `props` of `service` and `deliveryDelay` of `queue` from wrangler 4.125. 2026-11-16.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DURABLE_OBJECT: Final = "durable_object_namespace"
JSON: Final = "json"
KV_NAMESPACE: Final = "kv_namespace"
PLAIN_TEXT: Final = "plain_text"
QUEUE: Final = "queue"
R2_BUCKET: Final = "r2_bucket"
RATE_LIMIT: Final = "ratelimit"
SECRET_KEY: Final = "secret_key"  # noqa: S105 - a kind
SECRET_TEXT: Final = "secret_text"  # noqa: S105 - a kind
WORKFLOW: Final = "workflow"
"""The kinds that this package speaks of by name."""


@dataclass(frozen=True)
class Kind:
    """Fields of one kind of binding beside its name and type."""

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Fields that are secret and that the API never gives back."""

    @property
    def fields(self) -> frozenset[str]:
        """All fields."""
        return frozenset((*self.needs, *self.may))


KINDS: Final[Mapping[str, Kind]] = {
    "ai": Kind(),
    "ai_search": Kind(("instanceName",), ("namespace",)),
    "ai_search_namespace": Kind(("namespace",)),
    "analytics_engine": Kind(("dataset",)),
    "artifacts": Kind(("namespace",)),
    "assets": Kind(),
    "browser": Kind(),
    "d1": Kind(("id",)),
    "dispatch_namespace": Kind(("namespace",), ("outbound",)),
    DURABLE_OBJECT: Kind(("className",), ("scriptName", "environment")),
    "flagship": Kind(("appId",)),
    "hyperdrive": Kind(("id",)),
    "images": Kind(),
    "inherit": Kind((), ("oldName", "versionId")),
    JSON: Kind(("json",)),
    "k2": Kind(("stream",)),
    KV_NAMESPACE: Kind(("namespaceId",)),
    "media": Kind(),
    "messaging": Kind(("namespace",)),
    "mtls_certificate": Kind(("certificateId",)),
    "pipelines": Kind(("pipeline",)),
    PLAIN_TEXT: Kind(("text",)),
    QUEUE: Kind(("queueName",), ("deliveryDelay",)),
    R2_BUCKET: Kind(("bucketName",), ("jurisdiction",)),
    RATE_LIMIT: Kind(("namespaceId", "simple")),
    SECRET_KEY: Kind(("algorithm", "format", "usages"), ("keyBase64", "keyJwk"), ("keyBase64", "keyJwk")),
    SECRET_TEXT: Kind(("text",), (), ("text",)),
    "secrets_store_secret": Kind(("storeId", "secretName")),
    "send_email": Kind((), ("allowedDestinationAddresses", "allowedSenderAddresses", "destinationAddress")),
    "service": Kind(("service",), ("environment", "entrypoint", "props")),
    "vectorize": Kind(("indexName",)),
    "version_metadata": Kind(),
    "vpc_network": Kind((), ("identity", "networkId", "tunnelId")),
    "vpc_service": Kind(("serviceId",)),
    WORKFLOW: Kind(("workflowName",), ("className", "scriptName")),
}

STRUCTURED: Final = frozenset({"json", "simple", "outbound", "algorithm", "keyJwk", "props"})
"""Fields whose value is an object that goes to the API as it is."""

SECRET_KINDS: Final = (SECRET_TEXT, SECRET_KEY)
"""Kinds that survive an upload that does not speak of them; they go only when they are deleted by name."""
