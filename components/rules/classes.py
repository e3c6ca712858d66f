"""Rules about Durable Object classes: created, with SQLite, exported, bound, with their container."""

import re
from collections.abc import Iterator
from typing import Final

from ..facts.stack import (
    Binding,
    Call,
    Container,
    DurableClass,
    Fact,
    Package,
    Source,
    Stack,
    Worker,
)
from ..platform.bindings import DURABLE_OBJECT, PLAIN_TEXT
from ..platform.durable_objects import KEY_VALUE, SQLITE
from ..platform.sdk import SDK_VERSION
from .features import MOUNT, calls, containers, interception_uses, sdk, uses
from .finding import Hit, hit, mandatory

_ENV: Final = re.compile(r"^(?:this\.|c\.)?env\.(?=\w+$)")
_WHOLE_ENV: Final = re.compile(r"(?:this\.|c\.)?env(?:\s+as\s.*)?", re.DOTALL)
_MIGRATIONS = "/durable-objects/reference/durable-objects-migrations/"
_WRANGLER = "/sandbox/sdk/configuration/wrangler/"


def _bound(name: str = "Sandbox", class_name: str = "Sandbox", script: str | None = None) -> Binding:
    return Binding.of(
        "worker.bindings[0]",
        name=name,
        kind=DURABLE_OBJECT,
        class_name=class_name,
        script_name=Fact(script, "worker.bindings[0]"),
    )


def _class(name: str = "Sandbox", storage: str = SQLITE) -> DurableClass:
    return DurableClass.of("classes[0]", name=name, storage=storage)


def _container(name: str = "Sandbox") -> Container:
    return Container.of("containers[0]", class_name=name)


def _local_bindings(stack: Stack) -> Iterator[tuple[Binding, Fact[str]]]:
    for binding in stack.worker.bindings or ():
        here = binding.script_name and not binding.script_name.value
        if binding.kind.value == DURABLE_OBJECT and binding.class_name and here:
            yield binding, binding.class_name


@mandatory(
    "classes/created",
    "Every class that is bound or has a container is created",
    why="A binding to a class that no migration or export created is refused by the API with code 10061.",
    remedy='Add {class_} to "new_sqlite_classes" of a new migration, or to "exports" with storage "sqlite".',
    link=_MIGRATIONS,
    good=[
        Stack(worker=Worker(bindings=(_bound(),)), classes=(_class(),)),
        Stack(worker=Worker(bindings=(_bound(script="other"),)), classes=()),
        Stack(classes=(_class(),), containers=(_container(),)),
        Stack(classes=(), worker=Worker(bindings=(Binding.of(name="KEY", kind=PLAIN_TEXT, class_name="Sandbox"),))),
        Stack(containers=(_container(),)),
    ],
    bad=[
        Stack(worker=Worker(bindings=(_bound(),)), classes=()),
        Stack(classes=(), containers=(_container(),)),
        Stack(worker=Worker(bindings=(_bound(),)), classes=(), containers=(_container(),)),
    ],
)
def created(stack: Stack) -> Iterator[Hit]:
    if stack.classes is None:
        return
    made = {each.name.value for each in stack.classes}
    named: list[tuple[str | None, str]] = [(each.value, each.where) for _, each in _local_bindings(stack)]
    named += [(each.class_name.value, each.class_name.where) for each in containers(stack) if each.class_name]
    for name, where in {name: where for name, where in reversed(named) if name}.items():
        if name not in made:
            yield hit(where, f"no migration or export creates the class {name}", class_=name)


@mandatory(
    "classes/sqlite",
    "A class with a container has SQLite storage",
    why="The Sandbox class runs SQL in its constructor, and new accounts refuse key-value classes (code 10099).",
    remedy='If {class_} was never deployed, move it from "new_classes" to "new_sqlite_classes"; if it is live, create '
    "a new class, as storage cannot be changed.",
    link="/durable-objects/best-practices/access-durable-objects-storage/",
    good=[
        Stack(classes=(_class(),), containers=(_container(),)),
        Stack(classes=(_class("Other", KEY_VALUE), _class()), containers=(_container(),)),
    ],
    bad=[Stack(classes=(_class(storage=KEY_VALUE),), containers=(_container(),))],
)
def sqlite(stack: Stack) -> Iterator[Hit]:
    attached = {each.class_name.value for each in containers(stack) if each.class_name}
    for each in stack.classes or ():
        if each.name.value in attached and each.storage and each.storage.value != SQLITE:
            yield hit(
                each.storage.where, f"the class {each.name.value} is not created with SQLite", class_=each.name.value
            )


@mandatory(
    "classes/exported",
    "The entry module exports every class with a container",
    why="The runtime looks the class up among the exports of the entry module; without it the upload is refused.",
    remedy="Add to the entry module: export {{ {class_} }} from '@cloudflare/sandbox', or a class that extends it.",
    link=_WRANGLER,
    good=[
        Stack(worker=Worker.of(exports=frozenset({"Sandbox"})), containers=(_container(),)),
        Stack(worker=Worker.of(exports=frozenset({"*"})), containers=(_container(),)),
        Stack(worker=Worker.of(exports=frozenset()), containers=(Container(class_name=Fact(None, "containers[0]")),)),
    ],
    bad=[Stack(worker=Worker.of(exports=frozenset({"default"})), containers=(_container(),))],
)
def exported(stack: Stack) -> Iterator[Hit]:
    names = stack.worker.exports
    for each in containers(stack):
        wanted = each.class_name.value if each.class_name else None
        # `export * from` another package hides what is exported.
        if names and wanted and not {wanted, "*"} & names.value:
            yield hit(names.where, f"the entry module does not export the class {wanted}", class_=wanted)


@mandatory(
    "classes/container-attached",
    "The Sandbox class has a container in the same upload",
    why="A class created by an upload without its container can never be given one "
    "(DURABLE_OBJECT_NOT_CONTAINER_ENABLED), and its constructor throws.",
    remedy='Add an entry with "class_name": "{class_}" to "containers", next to the class it belongs to.',
    link="/containers/configuration/wrangler/",
    good=[
        Stack(worker=Worker(bindings=(_bound(),)), containers=(_container(),)),
        Stack(worker=Worker(bindings=(_bound("OTHER", "Other"),)), containers=()),
        Stack(worker=Worker(bindings=(_bound(),)), containers=(Container(),)),
    ],
    bad=[
        Stack(worker=Worker(bindings=(_bound(),)), containers=()),
        Stack(worker=Worker(bindings=(_bound(),)), containers=(_container("Other"),)),
    ],
)
def container_attached(stack: Stack) -> Iterator[Hit]:
    if stack.containers is None or any(each.class_name is None for each in stack.containers):
        return
    attached = {each.class_name.value for each in stack.containers if each.class_name}
    for binding, name in _local_bindings(stack):
        if binding.name.value == "Sandbox" and name.value not in attached:
            yield hit(name.where, f"no container is attached to the class {name.value}", class_=name.value)


@mandatory(
    "classes/container-without-class",
    "Every container names its class",
    why="A container runs only under a Durable Object class; one without a class is never started.",
    remedy='Add "class_name" to the container, or name the container in "exports" of the class.',
    link="/containers/configuration/wrangler/",
    good=[Stack(containers=(_container(),))],
    bad=[Stack(containers=(Container(class_name=Fact(None, "containers[0]")),))],
)
def container_without_class(stack: Stack) -> Iterator[Hit]:
    for each in containers(stack):
        if each.class_name and not each.class_name.value:
            yield hit(each.class_name.where, "the container names no class")


@mandatory(
    "classes/one-container",
    "A class has one container",
    why="A namespace owns one application; a second is refused (DURABLE_OBJECT_ALREADY_HAS_APPLICATION).",
    remedy="Give each container a class of its own; {class_} has {count}.",
    link="/containers/configuration/wrangler/",
    good=[
        Stack(containers=(_container(), _container("Other"))),
        Stack(containers=(Container(class_name=Fact(None, "a")), Container(class_name=Fact(None, "b")))),
    ],
    bad=[Stack(containers=(_container(), _container()))],
)
def one_container(stack: Stack) -> Iterator[Hit]:
    named = [each.class_name for each in containers(stack) if each.class_name and each.class_name.value]
    for said in {said.value: said for said in named}.values():
        count = sum(each.value == said.value for each in named)
        if count > 1:
            yield hit(said.where, f"{count} containers name the class {said.value}", class_=said.value, count=count)


@mandatory(
    "classes/same-worker",
    "Class and container live in the same Worker",
    why="A container can only be attached to a class that the same script implements.",
    remedy='Remove "script_name" from the binding of {class_}, and export the class here.',
    link="/containers/configuration/wrangler/",
    good=[
        Stack(worker=Worker(bindings=(_bound(),)), containers=(_container(),)),
        Stack(worker=Worker(bindings=(_bound("OTHER", "Other", "other"),)), containers=(_container(),)),
    ],
    bad=[Stack(worker=Worker(bindings=(_bound(script="other"),)), containers=(_container(),))],
)
def same_worker(stack: Stack) -> Iterator[Hit]:
    attached = {each.class_name.value for each in containers(stack) if each.class_name}
    for each in stack.worker.bindings or ():
        script = each.script_name.value if each.script_name else None
        if each.class_name and each.class_name.value in attached and script:
            name = each.class_name.value
            yield hit(each.where, f"{name} has a container here but is bound to the Worker {script}", class_=name)


def _previewing(name: str, *given: str) -> Stack:
    call = Call("proxyToSandbox", "src/index.ts:1", ("request", *given))
    return Stack(worker=Worker(bindings=(_bound(name),)), source=Source(calls=(call,)))


@mandatory(
    "classes/binding-name",
    "The binding is called Sandbox",
    why="`proxyToSandbox` reads `env.Sandbox` literally; under another name every preview URL answers 500.",
    remedy='Name the Durable Object binding "Sandbox".',
    link=_WRANGLER,
    since="SDK 0.1.0",
    good=[
        _previewing("Sandbox", "env"),
        _previewing("SANDBOX", "{ Sandbox: env.SANDBOX }"),
        _previewing("SANDBOX"),
        Stack(worker=Worker(bindings=(_bound("SANDBOX"),)), source=Source(calls=())),
    ],
    bad=[_previewing("SANDBOX", "env"), _previewing("SANDBOX", "this.env as Env")],
)
def binding_name(stack: Stack) -> Iterator[Hit]:
    bindings = stack.worker.bindings
    given = [call.arguments[1] for call in calls(stack, "proxyToSandbox") if len(call.arguments) > 1]
    if bindings is None or not any(map(_WHOLE_ENV.fullmatch, given)):
        return
    named = [each for each in bindings if each.kind.value == DURABLE_OBJECT]
    if all(each.name.value != "Sandbox" for each in named):
        where = named[0].name.where if named else stack.worker.where
        yield hit(where, "no Durable Object binding is called Sandbox")


@mandatory(
    "classes/steps-mixed",
    "Migrations and exports are not mixed",
    why="The API takes one or the other; moving to exports is one-way.",
    remedy='Keep "migrations" for a Worker that has them, or move to "exports" once and remove them.',
    link=_MIGRATIONS,
    since="2026-06-30",
    good=[
        Stack(worker=Worker.of(class_steps=frozenset({"migrations"}))),
        Stack(worker=Worker.of(class_steps=frozenset({"exports"}))),
    ],
    bad=[Stack(worker=Worker.of(class_steps=frozenset({"migrations", "exports"})))],
)
def steps_mixed(stack: Stack) -> Iterator[Hit]:
    steps = stack.worker.class_steps
    if steps and len(steps.value) > 1:
        yield hit(steps.where, "the configuration has both migrations and exports")


def _mounting(exports: frozenset[str], version: str = SDK_VERSION) -> Stack:
    return Stack(
        worker=Worker.of(exports=exports),
        package=Package.of(locked=version),
        source=Source(uses=(Fact(MOUNT, "src/index.ts:9"), Fact(MOUNT, "src/index.ts:12"))),
    )


@mandatory(
    "classes/container-proxy-exported",
    "ContainerProxy is exported where mounts and outbound rules need it",
    why="Bucket mounts by binding, the credential proxy and outbound rules run in that class; without it they throw.",
    remedy="Add: export {{ ContainerProxy }} from '@cloudflare/sandbox' to the entry module.",
    link="/sandbox/sdk/guides/outbound-traffic/",
    since="SDK 0.8.0",
    good=[
        _mounting(frozenset({"ContainerProxy"})),
        _mounting(frozenset({"*"})),
        _mounting(frozenset(), "1.0.0"),
        Stack(worker=Worker.of(exports=frozenset()), source=Source(uses=())),
    ],
    bad=[_mounting(frozenset({"Sandbox"}))],
)
def container_proxy_exported(stack: Stack) -> Iterator[Hit]:
    version, names = sdk(stack), stack.worker.exports
    if version and version.value.major == 0 and names and not {"ContainerProxy", "*"} & names.value:
        for use in interception_uses(stack):
            yield hit(use.where, f"{use.value} is used but ContainerProxy is not exported")


def _pooling(*names: str) -> Stack:
    return Stack(
        worker=Worker(bindings=tuple(_bound(name, name) for name in names)),
        source=Source(uses=(Fact("bridge", "src/index.ts:1"),)),
    )


@mandatory(
    "classes/bridge-bindings",
    "The bridge has the bindings Sandbox and WarmPool",
    why="The bridge reads both by name and answers 500 without them.",
    remedy='Bind the classes "Sandbox" and "WarmPool" under those names and create both with SQLite.',
    link="/sandbox/sdk/bridge/",
    since="SDK 0.8.11",
    good=[_pooling("Sandbox", "WarmPool"), Stack(worker=Worker(bindings=()))],
    bad=[_pooling("Sandbox"), _pooling("WarmPool")],
)
def bridge_bindings(stack: Stack) -> Iterator[Hit]:
    bindings = stack.worker.bindings
    if bindings is None:
        return
    bound = {each.name.value for each in bindings if each.kind.value == DURABLE_OBJECT}
    missing = {"Sandbox", "WarmPool"} - bound
    for use in uses(stack, "bridge"):
        if missing:
            yield hit(use.where, f"the bridge is used without a binding {' and '.join(sorted(missing))}")


def _asking(name: str, *bound: str) -> Stack:
    call = Call("getSandbox", "src/index.ts:7", (f"env.{name}", "id"))
    return Stack(worker=Worker(bindings=tuple(_bound(each, each) for each in bound)), source=Source(calls=(call,)))


@mandatory(
    "classes/bound",
    "The binding that the code asks for exists",
    why="Bindings and containers are not inherited by wrangler's environments: `env` lacks the binding and every "
    "request fails.",
    remedy='Add the Durable Object binding "{name}" here, and its container, in every environment.',
    link="/workers/wrangler/environments/",
    good=[
        _asking("Sandbox", "Sandbox"),
        Stack(
            worker=Worker(bindings=()),
            source=Source(calls=(Call("getSandbox", "a:1", ("ctx.exports.Sandbox", "id")), Call("getSandbox", "a:2"))),
        ),
    ],
    bad=[_asking("Sandbox"), _asking("SANDBOX", "Sandbox")],
)
def bound(stack: Stack) -> Iterator[Hit]:
    if stack.worker.bindings is None:
        return
    names = {each.name.value for each in stack.worker.bindings}
    wanted = {_ENV.sub("", call.arguments[0]) for call in calls(stack, "getSandbox") if _asks_env(call)}
    for name in sorted(wanted):
        if name not in names:
            yield hit(stack.worker.where, f"the code asks for env.{name}, which is not bound", name=name)


def _asks_env(call: Call) -> bool:
    return bool(call.arguments and _ENV.match(call.arguments[0]))
