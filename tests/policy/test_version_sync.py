"""Version sync: package.json, lock file, settings, image tags and Dockerfiles name one SDK, by every public way."""

from pathlib import Path
from typing import Any

import pytest

from components.platform.sdk import IMAGE, OFFICIAL_IMAGE, SDK_VERSION, SERVER
from testbed.check.projects import CONTAINER, sdk
from tests.policy.ways import by_check, by_check_of_settings, by_pack, by_settings

OTHER = "0.12.9"
COPYING = (
    'FROM docker.io/library/debian:12\nCOPY --from={} {} /sandbox\nENV SANDBOX_VERSION={}\nENTRYPOINT ["/sandbox"]\n'
)


def of_versions(found: set[str]) -> set[str]:
    return {each for each in found if each.startswith("versions/") and each != "versions/behind"}


def image(reference: str) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "image": reference}]}


def dockerfile(text: str) -> dict[str, Any]:
    return {"files": {"Dockerfile": text}}


WRANGLER: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"files": sdk(SDK_VERSION, "^0.12.0")}, set()),
    ({"files": sdk(SDK_VERSION, OTHER)}, {"versions/lock-agrees"}),
    ({"files": {**sdk(SDK_VERSION, "^0.12.0"), "package-lock.json": ""}}, {"versions/package-exact"}),
    (
        {"files": {**sdk(SDK_VERSION, "^0.11.0"), "package-lock.json": ""}},
        {"versions/package-exact", "versions/image-range"},
    ),
    ({"files": sdk(OTHER)}, {"versions/image-tag"}),
    (image(OFFICIAL_IMAGE), set()),
    (image(f"{IMAGE}:{OTHER}"), {"versions/image-tag"}),
    (dockerfile(f"FROM {OFFICIAL_IMAGE}-python\n"), set()),
    (dockerfile(f"FROM {IMAGE}:{OTHER}\n"), {"versions/image-tag"}),
    (dockerfile(f"ARG V={OTHER}\nFROM {IMAGE}:$V\n"), {"versions/image-tag"}),
    (dockerfile(f"FROM {IMAGE}@sha256:{'a' * 64}\n"), {"versions/digest-alone"}),
    (dockerfile(COPYING.format(OFFICIAL_IMAGE, SERVER, SDK_VERSION)), set()),
    (dockerfile(COPYING.format(f"{IMAGE}:{OTHER}", SERVER, SDK_VERSION)), {"versions/copy-from"}),
    (dockerfile(COPYING.format(OFFICIAL_IMAGE, SERVER, OTHER)), {"versions/sandbox-version"}),
    (
        dockerfile(COPYING.format(OFFICIAL_IMAGE, SERVER, "").replace("ENV SANDBOX_VERSION=\n", "")),
        {"versions/sandbox-version-missing"},
    ),
    (dockerfile(f"FROM {OFFICIAL_IMAGE}-desktop\n"), {"versions/variant"}),
]


@pytest.mark.parametrize(("changes", "found"), WRANGLER)
def test_check_compares_package_lock_and_image(tmp_path: Path, changes: dict[str, Any], found: set[str]):
    assert of_versions(by_check(tmp_path, **changes)) == found


SETTINGS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"sdk": {"version": SDK_VERSION}}, set()),
    ({"sdk": {"version": OTHER}}, {"versions/setting-agrees"}),
    ({"image": {"reference": OFFICIAL_IMAGE}}, set()),
    ({"image": {"reference": f"{IMAGE}:{OTHER}"}}, {"versions/image-tag"}),
    ({"image": {"from_image": f"{IMAGE}:{OTHER}"}}, {"versions/image-tag"}),
    ({"image": {"variant": "python"}}, set()),
    ({"image": {"variant": "desktop"}}, {"versions/variant"}),
    (
        {"further_sandboxes": {"py": {"class_name": "Py", "image": {"reference": f"{IMAGE}:{OTHER}"}}}},
        {"versions/image-tag"},
    ),
]


@pytest.mark.parametrize(("document", "found"), SETTINGS)
def test_settings_and_check_compare_settings_lock_and_image(tmp_path: Path, document: dict[str, Any], found: set[str]):
    whole = {"environment": "throw-away", **document}
    assert of_versions(by_settings(whole)) == found
    assert of_versions(by_check_of_settings(tmp_path, whole, sdk(SDK_VERSION))) == found


@pytest.mark.parametrize(("base", "found"), [(OFFICIAL_IMAGE, set()), (f"{IMAGE}:{OTHER}", {"versions/image-tag"})])
def test_a_dockerfile_of_ones_own_is_compared_too(tmp_path: Path, base: str, found: set[str]):
    files = {**sdk(SDK_VERSION), "own/Dockerfile": f"FROM {base}\n"}
    assert of_versions(by_check_of_settings(tmp_path, {"image": {"dockerfile": "own/Dockerfile"}}, files)) == found


@pytest.mark.parametrize(
    ("version", "reference", "found"),
    [
        (SDK_VERSION, OFFICIAL_IMAGE, set()),
        (SDK_VERSION, f"{IMAGE}:{OTHER}", {"versions/image-tag"}),
        (OTHER, OFFICIAL_IMAGE, {"versions/image-tag"}),
        ("0.13.0-next.4", f"{IMAGE}@sha256:{'a' * 64}", {"versions/preview-release"}),
        (SDK_VERSION, f"{OFFICIAL_IMAGE}-desktop", {"versions/variant"}),
    ],
)
def test_the_pack_compares_the_stack_and_its_image(version: str, reference: str, found: set[str]):
    assert of_versions(by_pack({}, image=reference, sdk_version=version)) == found
