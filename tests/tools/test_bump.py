"""The command that pins another version: one home for each, what repeats it, and what follows."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import __main__ as tools
from tools import bump
from tools.errors import SetupError

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted({place.file for pin in bump.PINS.values() for place in (pin.home, *pin.copies)})


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that say versions, in a folder of their own."""
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def contents(root: Path) -> dict[str, list[str]]:
    return {file: (root / file).read_text().splitlines() for file in FILES}


@pytest.mark.parametrize("name", bump.PINS)
def test_what_repeats_a_version_says_the_same_as_its_home(name: str):
    pin = bump.PINS[name]
    version = pin.home.versions(ROOT)[0]
    for place in (pin.home, *pin.copies):
        assert set(place.versions(ROOT)) == {version}, place.file


def test_every_example_that_says_the_version_of_the_sdk_follows():
    version = bump.PINS["sdk"].home.versions(ROOT)[0]
    # Those that git knows: readers make environments and install packages there.
    ours = subprocess.run(["git", "ls-files", "examples"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in ours.stdout.splitlines() if not name.endswith("package-lock.json")]
    assert names
    said = {name for name in names if version in (ROOT / name).read_text()}
    assert said <= {place.file for place in bump.PINS["sdk"].copies}


@pytest.mark.parametrize("name", bump.PINS)
def test_a_bump_changes_these_versions_and_nothing_else(copy: Path, name: str):
    pin, before = bump.PINS[name], contents(copy)
    old = pin.home.versions(copy)[0]
    told = bump.bump(name, "97.98.99", copy)
    assert [place.versions(copy)[0] for place in (pin.home, *pin.copies)] == ["97.98.99"] * (1 + len(pin.copies))
    for file, lines in contents(copy).items():
        changed = [(one, other) for one, other in zip(before[file], lines, strict=True) if one != other]
        places = [place for place in (pin.home, *pin.copies) if place.file == file]
        assert all(other == one.replace(old, "97.98.99") for one, other in changed)
        assert len(changed) == sum(len(place.versions(copy)) for place in places)
        assert not places or file in told
    assert all(each.replace("VERSION", "97.98.99") in told for each in pin.follow)


@pytest.mark.parametrize("name", bump.PINS)
def test_what_follows_can_be_followed(name: str):
    pin = bump.PINS[name]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for each in pin.follow:
        assert set(re.findall(r"^make ([a-z-]+)", each)) <= targets
        assert all((ROOT / folder).is_dir() for folder in re.findall(r"(?:--prefix|^cd) (\S+)", each))
    assert pin.tests
    assert all((ROOT / folder).is_dir() for folder in pin.tests.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sdc", "0.12.11"], "nothing is called sdc. Known are sdk, workerd, "),
        (["sdk"], "no version of sdk was given. Give one such as "),
        *(
            (["sdk", version], f"{version!r} is no exact version of sdk. Give one such as ")
            for version in (
                "0.12",
                "v0.12.11",
                "^0.12.11",
                "0.12.11-next.1",
                "0.12.11\n",
                "1.2.3.4",
                "latest",
                "\N{FULLWIDTH DIGIT ONE}.2.3",
            )
        ),
    ],
)
def test_a_mistake_is_one_message_and_writes_nothing(copy: Path, arguments: list[str], message: str):
    before = contents(copy)
    with pytest.raises(SetupError, match=re.escape(message)):
        bump.main(arguments, copy)
    assert contents(copy) == before


def test_a_place_that_is_gone_writes_nothing(copy: Path):
    (copy / "worker_src/package.json").write_text("{}")
    before = contents(copy)
    with pytest.raises(SetupError, match=r"worker_src/package\.json has no version behind"):
        bump.bump("sdk", "0.12.11", copy)
    assert contents(copy) == before


def test_without_a_name_everything_is_listed(capsys: pytest.CaptureFixture[str]):
    assert tools.main(["bump"]) == 0
    out = capsys.readouterr().out
    for name, pin in bump.PINS.items():
        assert re.search(
            rf"^{name} +{re.escape(pin.home.versions(ROOT)[0])} +{re.escape(pin.home.file)} ", out, re.MULTILINE
        )


def test_the_command_tells_a_mistake_in_one_line(capsys: pytest.CaptureFixture[str]):
    assert tools.main(["bump", "nothing", "1.2.3"]) == 1
    assert capsys.readouterr().err.startswith("error: nothing was written: nothing is called nothing. Known are ")
