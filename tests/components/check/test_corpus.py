"""The expected findings, no more and no fewer, on every project of the corpus."""

from datetime import date
from pathlib import Path

import pytest

from components.check.project import check_path
from components.rules import MANDATORY
from testbed.check.corpus import GROUPS, PROJECTS
from testbed.check.corpus.commands import COMMANDS
from testbed.check.corpus.lives import LIVES
from testbed.check.corpus.routes import ROUTES
from testbed.check.corpus.workspaces import WORKSPACES
from testbed.check.projects import Project

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
    assert len(PROJECTS) == sum(map(len, GROUPS)), "a name is there twice"
    assert len(COMMANDS) + len(LIVES) + len(ROUTES) + len(WORKSPACES) >= 70
    assert sum(not each.expected for each in PROJECTS.values()) >= 40
    numbers = {name.split()[0] for name in PROJECTS if name[0].isdigit()}
    assert numbers == {"1", "2", "3", "4", "5", "6", "8", "9", "10"}, "7 depends on the machine"


def test_findings_are_right_and_nothing_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of mandatory findings all are right, of all findings 95 in 100, and no known mistake is missed."""
    right, wrong, missed = dict.fromkeys(("mandatory", "advisory"), 0), dict.fromkeys(("mandatory", "advisory"), 0), []
    for number, (name, project) in enumerate(PROJECTS.items()):
        folder = tmp_path / str(number)
        write(folder, project)
        monkeypatch.chdir(folder)
        findings = check_path(Path(), today=TODAY).findings
        for each in findings:
            expected = f"{each.rule} {each.where}" in project.expected
            (right if expected else wrong)[each.severity] += 1
        found = {f"{each.rule} {each.where}" for each in findings}
        missed += [(name, each) for each in project.expected if each not in found]
    assert missed == []
    assert wrong[MANDATORY] == 0
    assert sum(right.values()) / (sum(right.values()) + sum(wrong.values())) >= 0.95
    assert min(right.values()) >= 50
