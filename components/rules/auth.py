"""Rules about who may do what: callers of the Worker, secrets, and the token of the deployment."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from ..facts.stack import LASTING, Access, Binding, Container, Fact, Source, Stack, Token, Worker
from ..platform.bindings import DURABLE_OBJECT, PLAIN_TEXT, SECRET_TEXT
from ..platform.permissions import allows, serves
from .features import containers, uses, variables
from .finding import Hit, advisory, hit, mandatory
from .secrets import looks_secret, shown

_SECURITY = "/sandbox/sdk/concepts/security/"
_BRIDGE_KEY: Final = "SANDBOX_API_KEY"
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_BROAD: Final = frozenset(
    {"Account API Tokens Write", "API Tokens Write", "Billing Write", "Account Settings Write", "Memberships Write"}
)


@mandatory(
    "auth/configured",
    "Every request is authenticated",
    why="The SDK has no authentication: whoever reaches the Worker runs commands in your account.",
    remedy="Configure API keys or Access; the Worker then refuses everyone else.",
    link=_SECURITY,
    good=[Stack(access=Access.of(mode="api-keys"))],
    bad=[Stack(access=Access(mode=Fact(None, "access")))],
)
def configured(stack: Stack) -> Iterator[Hit]:
    mode = stack.access.mode
    if mode and not mode.value:
        yield hit(mode.where, "requests are not authenticated")


def _bridge(secrets: frozenset[str], *, names: tuple[str, ...] = (), used: bool = True) -> Stack:
    return Stack(
        source=Source(uses=(Fact("bridge", "src/index.ts:1"),) if used else ()),
        worker=Worker.of(
            required_secrets=secrets,
            bindings=tuple(Binding.of(name=name, kind=DURABLE_OBJECT) for name in ("Sandbox", "WarmPool"))
            + tuple(Binding.of(name=name, kind=SECRET_TEXT) for name in names),
        ),
    )


@advisory(
    "auth/bridge-key",
    "The bridge has its key",
    why="Without SANDBOX_API_KEY the bridge only warns and lets everyone run commands.",
    remedy='Set it with `wrangler secret put SANDBOX_API_KEY`, and name it in "secrets": {{"required": […]}} so that a '
    "deployment without it fails.",
    link="/sandbox/sdk/bridge/",
    since="SDK 0.8.11",
    good=[
        _bridge(frozenset({_BRIDGE_KEY})),
        _bridge(frozenset(), names=(_BRIDGE_KEY,)),
        _bridge(frozenset(), used=False),
    ],
    bad=[_bridge(frozenset())],
)
def bridge_key(stack: Stack) -> Iterator[Hit]:
    secrets, bindings = stack.worker.required_secrets, stack.worker.bindings
    if secrets is None or bindings is None:
        return
    names = secrets.value | {each.name.value for each in bindings}
    for use in uses(stack, "bridge"):
        if _BRIDGE_KEY not in names:
            yield hit(use.where, "the configuration does not demand SANDBOX_API_KEY, without which the bridge is open")


def _variable(name: str, value: str) -> Stack:
    return Stack(worker=Worker(bindings=(Binding.of(f"vars.{name}", name=name, kind=PLAIN_TEXT, text=value),)))


@mandatory(
    "auth/plain-text-secret",
    "No secret is a plain-text variable",
    why="Plain-text variables are readable in the dashboard, in the configuration and in state.",
    remedy="Remove {name} from the variables and make it a secret: `wrangler secret put {name}`, or in settings of "
    "this package its name under `secrets` and `pulumi config set --secret {name}`.",
    link="/workers/configuration/secrets/",
    good=[_variable("LOG_LEVEL", "debug"), _variable("TOKEN_TTL", "60")],
    bad=[
        _variable("API_TOKEN", "abc"),
        _variable("SETTINGS", "ghp_" + "a" * 36),
        _variable("ANTHROPIC_API_KEY", "x"),
    ],
)
def plain_text_secret(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if looks_secret(name, said.value):
            yield hit(said.where, f"{name} holds what looks like a secret ({shown(said.value)})", name=name)


def _given(name: str, value: str) -> Stack:
    said = ((name, Fact(value, f"container.environment.{name}")),)
    return Stack(containers=(Container(environment=said), Container()))


@mandatory(
    "auth/container-secret",
    "No secret is a variable of the container application",
    why="Variables of an application are kept in clear in its configuration and in state, and every sandbox has them.",
    remedy="Remove {name} from the container's environment; let the Worker add it to requests, or pass it at run time.",
    link=_SECURITY,
    good=[_given("LOG_LEVEL", "debug"), _given("TOKEN_TTL", "60")],
    bad=[_given("API_TOKEN", "abc"), _given("SETTINGS", "ghp_" + "a" * 36)],
)
def container_secret(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        for name, said in each.environment or ():
            if looks_secret(name, said.value):
                yield hit(said.where, f"{name} holds what looks like a secret ({shown(said.value)})", name=name)


@mandatory(
    "auth/key-digest",
    "API keys are stored as SHA-256",
    why="A key in clear in the settings is a secret in the repository; anything else can match no key.",
    remedy="Store the SHA-256 of the key as 64 lower-case hexadecimal digits; `sandbox-stack key` makes one.",
    link=_SECURITY,
    good=[Stack(access=Access(key_digests=(Fact("0" * 64, "access.api_keys.a"),)))],
    bad=[
        Stack(access=Access(key_digests=(Fact("plain", "access.api_keys.a"),))),
        Stack(access=Access(key_digests=(Fact("0" * 65, "access.api_keys.a"),))),
    ],
)
def key_digest(stack: Stack) -> Iterator[Hit]:
    for said in stack.access.key_digests or ():
        if not _HEX.fullmatch(said.value):
            yield hit(said.where, "this is not the SHA-256 of a key")


def _guard(*, guarded: bool, environment: str = LASTING) -> Stack:
    return Stack(environment=Fact(environment, "environment"), access=Access.of(preview_guarded=guarded))


@advisory(
    "auth/preview-access",
    "Previews of a lasting stack are behind Access",
    why="The token in the host name is the only protection of a preview, and it leaks through referrers and logs.",
    remedy="Put an Access application in front of the preview hosts, or declare previews public on purpose.",
    link=_SECURITY,
    since="SDK 0.4.0",
    good=[_guard(guarded=True), _guard(guarded=False, environment="throw-away")],
    bad=[_guard(guarded=False)],
)
def preview_access(stack: Stack) -> Iterator[Hit]:
    guarded = stack.access.preview_guarded
    lasting = stack.environment and stack.environment.value == LASTING
    if lasting and guarded and not guarded.value:
        yield hit(guarded.where, "previews are open to everyone who has the address")


def _token(has: set[str], needs: set[str]) -> Stack:
    return Stack(token=Token.of(permissions=frozenset(has), needed=frozenset(needs)))


def _refused(*permissions: str, needs: tuple[str, ...]) -> Stack:
    return Stack(token=Token.of(refused=frozenset(permissions), needed=frozenset(needs)))


@mandatory(
    "auth/token-valid",
    "The deployment's token can be used",
    why="Nothing can be read or deployed with it.",
    remedy="Make a new token, as `sandbox-stack doctor --create-token` does with one that may make tokens, and set "
    "CLOUDFLARE_API_TOKEN to it.",
    link="/fundamentals/api/troubleshooting/",
    good=[Stack(token=Token.of(status="active"))],
    bad=[Stack(token=Token.of(status="expired"))],
)
def token_valid(stack: Stack) -> Iterator[Hit]:
    status = stack.token.status
    if status and status.value != "active":
        yield hit(status.where, f"the token is {status.value}")


@mandatory(
    "auth/token-lacks",
    "The deployment's token may do what the stack needs",
    why="A missing permission is noticed half-way: the Worker is live and its container is not.",
    remedy="Add to the token: {missing}.",
    link="/fundamentals/api/reference/permissions/",
    good=[
        _token({"Workers Scripts Write", "DNS Write"}, {"Workers Scripts Write"}),
        _token({"Zone Write (a.example)"}, {"Zone Read (a.example)"}),
        _refused("DNS Write (a.example)", needs=("Zone Read (a.example)",)),
    ],
    bad=[
        _token({"Workers Scripts Write"}, {"Workers Scripts Write", "Workers Containers Write"}),
        _token({"Queues Read"}, {"Queues Write"}),
        _token({"DNS Write (a.example)"}, {"DNS Write (b.example)"}),
        _refused("DNS Write (a.example)", needs=("DNS Write (a.example)", "Zone Read (a.example)")),
    ],
    also=["auth/token-surplus"],
)
def token_lacks(stack: Stack) -> Iterator[Hit]:
    has, refused, needs = stack.token.permissions, stack.token.refused, stack.token.needed
    for each in sorted(needs.value) if needs else ():
        if has and not allows(has.value, each):
            yield hit(has.where, f"the token lacks {each}", missing=each)
        elif refused and each in refused.value:
            yield hit(refused.where, f"the token lacks {each}", missing=each)


@mandatory(
    "auth/token-scope",
    "The deployment's token may not do what would make it worth stealing",
    why="A token that can make tokens or change the account turns one leaked pipeline into the whole account.",
    remedy="Remove from the token: {surplus}.",
    link="/fundamentals/api/get-started/create-token/",
    good=[_token({"Workers Scripts Write"}, set()), _token({"Billing Write"}, {"Billing Write"})],
    bad=[_token({"Account API Tokens Write"}, set())],
    also=["auth/token-surplus"],
)
def token_scope(stack: Stack) -> Iterator[Hit]:
    has, needs = stack.token.permissions, stack.token.needed
    if has and needs and (has.value & _BROAD) - needs.value:
        surplus = ", ".join(sorted((has.value & _BROAD) - needs.value))
        yield hit(has.where, f"the token has {surplus}", surplus=surplus)


@advisory(
    "auth/token-surplus",
    "The deployment's token may do no more than the stack needs",
    why="What a token may do without need is what a leaked one is used for.",
    remedy="Remove from the token: {surplus}.",
    link="/fundamentals/api/get-started/create-token/",
    good=[
        _token({"Zone Read (a.example)"}, {"Zone Read (a.example)"}),
        _token({"DNS Read (a.example)", "DNS Write (a.example)"}, {"DNS Write (a.example)"}),
    ],
    bad=[
        _token({"Zone Write (a.example)"}, {"Zone Read (a.example)"}),
        _token({"D1 Read", "D1 Write", "Queues Write"}, {"Queues Write"}),
    ],
)
def token_surplus(stack: Stack) -> Iterator[Hit]:
    has, needs = stack.token.permissions, stack.token.needed
    if has and needs:
        surplus = ", ".join(sorted(each for each in has.value if not serves(each, needs.value)))
        yield from [hit(has.where, f"the stack does not need {surplus}", surplus=surplus)] if surplus else ()


_TODAY: Final = date(2026, 11, 16)


OLD_KEY_DAYS: Final = 365
"""After that an API key is old."""


def _key(created: date) -> Stack:
    return Stack(today=_TODAY, access=Access(keys_created=(Fact(created, "access.api_keys.a.created"),)))


@advisory(
    "auth/key-age",
    "API keys are replaced within a year",
    why="The longer a key is in use, the more logs, machines and people have seen it.",
    remedy="Replace it: `sandbox-stack key rotate --id {id}` lets the old one in for a while beside the new one.",
    link=_SECURITY,
    good=[_key(date(2026, 11, 16)), _key(date(2025, 11, 16))],
    bad=[_key(date(2025, 11, 15))],
)
def key_age(stack: Stack) -> Iterator[Hit]:
    for said in stack.access.keys_created or ():
        if stack.today and (stack.today - said.value).days > OLD_KEY_DAYS:
            name = said.where.removeprefix("access.api_keys.").removesuffix(".created")
            yield hit(said.where, f"the key was made on {said.value}", id=name)


@advisory(
    "auth/token-expires",
    "The deployment's token expires",
    why="A token without an end, or one that has ended, is found out at the worst time.",
    remedy="Give the token an end within a year, and renew it before.",
    link="/fundamentals/api/how-to/restrict-tokens/",
    good=[Stack(today=_TODAY, token=Token.of(expires=date(2026, 11, 16)))],
    bad=[
        Stack(today=_TODAY, token=Token(expires=Fact(None, "token"))),
        Stack(today=_TODAY, token=Token.of(expires=date(2026, 11, 15))),
    ],
)
def token_expires(stack: Stack) -> Iterator[Hit]:
    end = stack.token.expires
    if end is None:
        return
    if end.value is None:
        yield hit(end.where, "the token never expires")
    elif stack.today and end.value < stack.today:
        yield hit(end.where, f"the token expired on {end.value}")
