"""Permission groups of API tokens: which product each is about, and which kinds of resources need which.

A `Write` group is full access, reading and listing included ("Edit" in the dashboard), so no resource needs both. What
is written here is judged by the requests of a whole stack's life: `tests/engine/test_permissions.py`.

Source: Cloudflare's pages on token permissions (2026-10-01) and on creating tokens, the operations that our plugin and
pulumi-cloudflare 6.23.1 use. 2026-11-18.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ACCOUNT: Final = "com.cloudflare.api.account"
ZONE: Final = "com.cloudflare.api.account.zone"
READ, WRITE = "Read", "Write"


@dataclass(frozen=True)
class Product:
    """What a pair of permission groups is about."""

    name: str
    scope: str
    """`ACCOUNT` or `ZONE`: what a policy gives it on."""
    probe: str
    """A path below the account or the zone that can be read with `Read`, and nothing changes."""


@dataclass(frozen=True)
class Permission:
    """A permission group."""

    product: Product
    right: str

    @property
    def name(self) -> str:
        """Its name in lists of permission groups and in policies."""
        return f"{self.product.name} {self.right}"


def _of(name: str, scope: str, probe: str) -> tuple[Permission, Permission]:
    product = Product(name, scope, probe)
    return Permission(product, READ), Permission(product, WRITE)


_, SCRIPTS = _of("Workers Scripts", ACCOUNT, "/workers/scripts")
_, CONTAINERS = _of("Workers Containers", ACCOUNT, "/containers/applications")
R2_READ, R2 = _of("Workers R2 Storage", ACCOUNT, "/r2/buckets")
KV_READ, KV = _of("Workers KV Storage", ACCOUNT, "/storage/kv/namespaces")
_, QUEUES = _of("Queues", ACCOUNT, "/queues")
TOKENS_READ, TOKENS = _of("Account API Tokens", ACCOUNT, "/tokens/permission_groups")
_, APPS = _of("Access: Apps and Policies", ACCOUNT, "/access/apps")
_, SERVICE_TOKENS = _of("Access: Service Tokens", ACCOUNT, "/access/service_tokens")
ZONE_READ, _ = _of("Zone", ZONE, "")
_, ROUTES = _of("Workers Routes", ZONE, "/workers/routes")
_, DNS = _of("DNS", ZONE, "/dns_records")
_, CERTIFICATES = _of("SSL and Certificates", ZONE, "/ssl/certificate_packs")

NEEDED: Final[Mapping[str, Permission]] = {
    "cloudflare-sandbox:index:WorkerScript": SCRIPTS,
    "cloudflare-sandbox:index:ContainerApplication": CONTAINERS,
    "cloudflare-sandbox:index:RegistryImage": CONTAINERS,
    "cloudflare:index/workersCronTrigger:WorkersCronTrigger": SCRIPTS,
    "cloudflare:index/workersScript:WorkersScript": SCRIPTS,
    "cloudflare:index/workerVersion:WorkerVersion": SCRIPTS,
    "cloudflare:index/r2Bucket:R2Bucket": R2,
    "cloudflare:index/r2BucketCors:R2BucketCors": R2,
    "cloudflare:index/r2BucketLifecycle:R2BucketLifecycle": R2,
    "cloudflare:index/r2BucketLock:R2BucketLock": R2,
    "cloudflare:index/r2ManagedDomain:R2ManagedDomain": R2,
    "cloudflare:index/workersKvNamespace:WorkersKvNamespace": KV,
    "cloudflare:index/queue:Queue": QUEUES,
    "cloudflare:index/accountToken:AccountToken": TOKENS,
    "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": APPS,
    "cloudflare:index/zeroTrustAccessPolicy:ZeroTrustAccessPolicy": APPS,
    "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken": SERVICE_TOKENS,
    "cloudflare:index/workersRoute:WorkersRoute": ROUTES,
    "cloudflare:index/dnsRecord:DnsRecord": DNS,
    "cloudflare:index/certificatePack:CertificatePack": CERTIFICATES,
}
"""What a resource of each type needs to be made, read, changed and deleted."""


def label(name: str, zone: str = "") -> str:
    """Return a permission group as messages and facts name it: with the zone, where it is about one."""
    return f"{name} ({zone})" if zone else name


def allows(held: frozenset[str], needed: str) -> bool:
    """Whether a holder of these labels may do what needs this one."""
    return needed in held or _written(needed) in held


def serves(held: str, needed: frozenset[str]) -> bool:
    """Whether a label is of use to whoever needs these: it is one of them, or the lesser half of one."""
    return held in needed or _written(held) in needed


def _written(text: str) -> str:
    """Return the label of the group that includes this one."""
    name, bracket, zone = text.partition(" (")
    product, _, right = name.rpartition(" ")
    return f"{product} {WRITE}{bracket}{zone}" if right == READ else text


def token_policies(
    account_id: str, account_groups: list[str], zone_groups: Mapping[str, list[str]]
) -> list[dict[str, object]]:
    """Return the policies of a token by ids of groups: on the account, and on zones by their ids."""
    policies = [({f"{ACCOUNT}.{account_id}": "*"}, account_groups)]
    policies += [({f"{ZONE}.{zone}": "*"}, groups) for zone, groups in sorted(zone_groups.items())]
    return [
        {"effect": "allow", "resources": resources, "permission_groups": [{"id": each} for each in sorted(groups)]}
        for resources, groups in policies
        if groups
    ]
