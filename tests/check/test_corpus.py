"""The expected findings, no more and no fewer, on every project of the corpus."""

from datetime import date
from pathlib import Path

import pytest

from components.check.project import check_path
from tests.check.corpus import FURTHER, GENERATION_1_MISTAKES, IMAGES, KNOWN, PROJECTS, SILENT
from tests.check.projects import Project

TODAY = date(2026, 11, 16)


def write(folder: Path, files: Project) -> None:
    for name, text in files.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("name", PROJECTS)
def test_exactly_the_expected_findings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PROJECTS[name])
    result = check_path(Path(), today=TODAY)
    assert sorted(f"{each.rule} {each.where}" for each in result.findings) == sorted(PROJECTS[name].expected)


def test_the_corpus_is_large_enough():
    assert len(PROJECTS) >= 30
    assert len(PROJECTS) == sum(map(len, (FURTHER, GENERATION_1_MISTAKES, IMAGES, KNOWN, SILENT))), (
        "a name is there twice"
    )
    numbers = {name.split()[0] for name in PROJECTS if name[0].isdigit()}
    assert numbers == {"1", "2", "3", "4", "5", "6", "8", "9", "10"}, "7 depends on the machine"
