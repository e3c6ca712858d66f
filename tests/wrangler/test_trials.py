"""Projects of the real wrangler taken over on the emulator; `make import` does all of them."""

from collections.abc import Iterator

import pytest

from tests.wrangler.trial import NAMES, Trials, trials

pytestmark = [pytest.mark.engine, pytest.mark.wrangler, pytest.mark.workerd, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with trials(tmp_path_factory.mktemp("trials")) as made:
        yield made


def test_there_are_a_dozen_projects():
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", ["environments", "namespaces", "secrets"])
def test_a_project_is_taken_over_with_its_data(made: Trials, name: str):
    story = made.run(name, again=False)
    assert story.previewed <= story.named
    assert story.kept
    assert all(story.kept.values())
    assert set(story.operations) <= {"create", "import"}
    assert "last updated via the script API" in story.warned
