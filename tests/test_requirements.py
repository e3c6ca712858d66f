"""One set of versions: the pins, the lock file and the library's ranges agree."""

import re
import tomllib

from packaging.requirements import Requirement

from tools.local import commands
from tools.paths import ROOT


def pins(name: str) -> dict[str, str]:
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-", " "))]
    found = [re.fullmatch(r"([A-Za-z0-9_.-]+)==([^\s;]+).*", line) for line in lines]
    assert all(found), f"{name} has a line that is not an exact pin: {lines}"
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


def test_everything_asked_for_is_locked_at_that_version():
    locked = pins("requirements.lock")
    for name in ("requirements.txt", "requirements-dev.txt"):
        asked = pins(name)
        assert {package: locked.get(package) for package in asked} == asked


def test_every_locked_package_has_hashes():
    text = (ROOT / "requirements.lock").read_text()
    assert len(re.findall(r"^\S+==\S+ (?:;.*)?\\$", text, re.MULTILINE)) == len(pins("requirements.lock"))


def test_the_librarys_ranges_hold_what_is_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = {requirement.name: requirement.specifier for requirement in map(Requirement, project["dependencies"])}
    tested = pins("requirements.txt")
    assert set(ranges) == set(tested)
    assert all(specifier.contains(tested[name]) for name, specifier in ranges.items())


def test_the_extra_holds_what_the_emulator_is_tested_with():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    tested = pins("requirements-dev.txt")
    ranges = {requirement.name: requirement.specifier for requirement in map(Requirement, extras["local"])}
    assert {name.replace("-", "_") for name in ranges} == set(commands._NEEDED)
    assert all(specifier.contains(tested[name]) for name, specifier in ranges.items())


def test_the_users_packages_are_all_there():
    asked_for = {"pulumi", "pulumi-cloudflare", "pulumi-docker", "jinja2", "pytest"}
    assert asked_for <= set(pins("requirements.txt")) | set(pins("requirements-dev.txt"))
