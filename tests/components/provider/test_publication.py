"""What Pulumi's public registry asks of a package (its README and pull request template, 2026-11)."""

import json
import re
import struct
from typing import Any

import pytest
import yaml

from components.provider import publication, schema
from tools.paths import ROOT

CATEGORIES = {"cloud", "infrastructure", "network", "database", "monitoring", "utility"}
PAGES = ("_index", "installation-configuration")


def test_a_schema_without_a_repository_names_no_address():
    assert publication.REPOSITORY == publication.PLACEHOLDER
    served = json.loads(schema.FILE.read_text())
    assert {name: served[name] for name in publication.ABOUT} == publication.ABOUT
    assert {"homepage", "repository", "logoUrl", "pluginDownloadURL", "publisher"} & set(served) == set()


def test_with_one_it_has_all_that_is_asked_for():
    assert (
        publication.about("someone/their-package").items()
        >= {
            "publisher": "someone",
            "homepage": "https://github.com/someone/their-package",
            "repository": "https://github.com/someone/their-package",
            "pluginDownloadURL": "github://api.github.com/someone/their-package",
            "logoUrl": "https://raw.githubusercontent.com/someone/their-package/v0.1.0/docs/logo.png",
        }.items()
    )


def test_the_keywords_say_category_and_kind():
    keywords = publication.ABOUT["keywords"]
    assert {each.removeprefix("category/") for each in keywords if each.startswith("category/")} <= CATEGORIES
    assert "kind/native" in keywords


def test_the_logo_is_as_large_as_the_others():
    image = (ROOT / publication.LOGO).read_bytes()
    assert image.startswith(b"\x89PNG")
    assert struct.unpack(">II", image[16:24]) == (100, 100)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_front_matter(page: str):
    _, front, text = (ROOT / "docs" / f"{page}.md").read_text().split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["layout"] == "package"
    assert about["title"].startswith(str(publication.ABOUT["displayName"]))
    assert about["meta_desc"]
    assert text.strip()


def samples() -> dict[str, str]:
    text = (ROOT / "docs" / "_index.md").read_text()
    return dict(re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def names() -> set[str]:
    """All that a program can say in settings."""
    served: dict[str, Any] = json.loads(schema.FILE.read_text())
    types = (each.get("properties", {}) for name, each in served["types"].items() if ":Stack" in name)
    stack = served["resources"]["cloudflare-sandbox:index:SandboxStack"]
    return set(stack["inputProperties"]).union(*types) | {"MODEL_API_KEY"}


def test_a_sample_in_each_language_says_what_there_is():
    found = samples()
    assert set(found) == {"typescript", "python", "go"}
    said = {
        "typescript": re.findall(r"(\w+): ", found["typescript"]),
        "go": [name[:1].lower() + name[1:] for name in re.findall(r"(\w+): ", found["go"])],
    }
    assert all(len(each) >= 5 for each in said.values())
    unknown = {language: set(each) - names() - {"mODEL_API_KEY"} for language, each in said.items()}
    assert unknown == {"typescript": set(), "go": set()}


def test_the_sample_in_python_is_accepted(monkeypatch: pytest.MonkeyPatch):
    import components  # noqa: PLC0415 - all of it, for one test

    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "ab" * 16)
    program = samples()["python"].replace("import pulumi_cloudflare_sandbox as sandboxes", "")
    settings, found, _ = program.partition("config = ")
    assert found
    scope: dict[str, Any] = {"sandboxes": components}
    exec(settings, scope)  # noqa: S102 - the page's own program
    assert scope["settings"].container.max_instances == 5
