"""Every fact that Cloudflare, the SDK or wrangler dictates has one home, in `components/platform`.

A literal of it elsewhere in `components` is found here, so that a change of the fact stays a change in one place.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from components.platform import access, api, bindings, compatibility, containers, durable_objects, r2, sdk, storage

ROOT = Path(__file__).resolve().parents[3]
HOME = "components/platform/"

WHOLE = {
    "the version of the SDK": {sdk.SDK_VERSION, sdk.OFFICIAL_IMAGE},
    "an instance type": set(containers.INSTANCE_TYPES) - {"basic"},
    "a kind of binding": {name for name in bindings.KINDS if "_" in name} - {"dispatch_namespace"}
    | {bindings.RATE_LIMIT},
    "a variable of Cloudflare's tools": {api.ACCOUNT_ID, api.TOKEN, api.BASE_URL, api.DOCKER, api.URL},
    "a name in the Worker's environment": {
        *storage.BINDINGS.values(),
        storage.BACKUP_NAME,
        storage.BACKUP_ENDPOINT,
        storage.BACKUP_KEY_ID,
        storage.BACKUP_SECRET,
        access.API_KEYS,
        access.TEAM_DOMAIN,
        access.AUDIENCES,
        access.SCOPES,
        access.PREVIEWS,
        access.PREVIEW_AUDIENCES,
    },
    "where backups are": {r2.BACKUP_PREFIX},
    "the storage of classes": {*get_args(durable_objects.Storage), durable_objects.EXPORT},
    "a scheduling policy": {containers.MANAGED},
    "a compatibility flag": {
        *compatibility.NODEJS_FLAGS,
        compatibility.OWN_PID_NAMESPACE_FLAG,
        compatibility.CTX_EXPORTS_FLAG,
    },
    "a date of compatibility": {
        compatibility.NODEJS_DEFAULT,
        compatibility.OWN_PID_NAMESPACE,
        compatibility.CTX_EXPORTS_DEFAULT,
        compatibility.TESTED_DATE,
    },
    "a region": set(containers.REGIONS) - {"ME", "OC"},
    "what images are built for": {containers.IMAGE_PLATFORM},
    "the pattern of a class": {durable_objects.CLASS_NAME},
    "a registry": {containers.REGISTRY, sdk.IMAGE, sdk.REPOSITORY},
    "a path or variable of the image": {sdk.SERVER, sdk.SHIM, sdk.VERSION_VARIABLE},
}
"""Texts that say such a fact by themselves."""

ALLOWED = {
    "components/rules/container.py": ({"an instance type"}, "examples of rules name the type that they are about"),
    "components/rules/image.py": ({"an instance type"}, "examples of rules name the type that they are about"),
    "components/rules/flags.py": (
        {"a compatibility flag", "a date of compatibility"},
        "examples of rules name the date and flag that they are about; `since` is the rule's own date",
    ),
    "components/wrangler/bindings.py": (
        {"a kind of binding"},
        "the table between wrangler's keys, some of which are called like the kind, and the kinds",
    ),
}


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Every text of a program, with its line; those that describe it are left out."""
    tree = ast.parse(source)
    said = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def found_in(path: str, source: str) -> list[str]:
    allowed, _ = ALLOWED.get(path, (set(), ""))
    found = []
    for line, text in literals(source):
        kinds = [kind for kind, texts in WHOLE.items() if text in texts and kind not in allowed]
        found += [f"{path}:{line}: {text!r} is {kind}, whose home is {HOME}" for kind in kinds]
        if sdk.SDK_VERSION in text and not kinds and not AGES.search(text):
            found.append(f"{path}:{line}: {text!r} holds the SDK's version; take it from {HOME}sdk.py")
    return found


AGES = re.compile(r"security fixes of bucket mounts")
"""What speaks of that very release, whichever is pinned."""


def test_no_fact_of_the_platform_is_said_twice():
    paths = [path.relative_to(ROOT).as_posix() for path in (ROOT / "components").rglob("*.py")]
    found = [each for path in paths if not path.startswith(HOME) for each in found_in(path, (ROOT / path).read_text())]
    assert found == []


@pytest.mark.parametrize("path", ALLOWED)
def test_every_exception_is_needed(path: str, monkeypatch: pytest.MonkeyPatch):
    source = (ROOT / path).read_text()
    assert found_in(path, source) == []
    kinds, reason = ALLOWED[path]
    assert reason
    monkeypatch.delitem(ALLOWED, path)
    assert all(any(f" is {kind}, " in each for each in found_in(path, source)) for kind in kinds)


@pytest.mark.parametrize(
    "source",
    [
        f'x = "{sdk.SDK_VERSION}"',
        f'x = f"{{y}}:{sdk.SDK_VERSION}-python"',
        'x = {"type": "r2_bucket"}',
        'x = size or "lite"',
        'x = ("backups/",)',
        'x = os.environ["CLOUDFLARE_API_TOKEN"]',
    ],
)
def test_a_second_home_is_found(source: str):
    assert found_in("components/elsewhere.py", source) != []


@pytest.mark.parametrize("source", ['"""On the type lite."""', 'x = "the type lite"', '# "lite"', "lite = 1"])
def test_words_about_a_fact_are_none(source: str):
    assert found_in("components/elsewhere.py", source) == []


def test_types_and_tables_of_the_platform_agree():
    assert get_args(containers.InstanceType) == tuple(containers.INSTANCE_TYPES)
    assert set(get_args(containers.Jurisdiction)) == set(containers.JURISDICTIONS)
    assert set(get_args(r2.Jurisdiction)) == set(r2.LOCATIONS)
    assert set(get_args(r2.Location)) == r2.LOCATIONS[r2.DEFAULT_JURISDICTION]
    assert set(get_args(sdk.VariantName)) == set(sdk.VARIANTS)
    assert containers.SANDBOX_INSTANCE_TYPE in containers.INSTANCE_TYPES
    assert tuple(storage.BINDINGS) == storage.STORES


def test_the_worker_declares_what_the_platform_names():
    """The Worker is TypeScript and takes no constants from here: its declaration is compared."""
    declared = set(re.findall(r"^  (\w+)\??:", (ROOT / "worker_src/src/env.ts").read_text(), re.MULTILINE))
    names = {*storage.BINDINGS.values(), storage.BACKUP_NAME, storage.BACKUP_ENDPOINT, api.ACCOUNT_ID}
    assert names | {storage.BACKUP_KEY_ID, storage.BACKUP_SECRET} <= declared
    assert {value for name, value in vars(access).items() if name.isupper()} <= declared


@pytest.mark.parametrize("folder", ["worker_src", "components/init/templates/worker", "emulator/base_image/server"])
def test_every_lock_has_the_sdk_of_the_platform(folder: str):
    lock = json.loads((ROOT / folder / "package-lock.json").read_text())
    assert lock["packages"]["node_modules/@cloudflare/sandbox"]["version"] == sdk.SDK_VERSION
