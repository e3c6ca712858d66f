"""`sandbox-stack check` as pipelines call it: formats, exit codes, exceptions, fixes."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from components.cli import main
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.check.corpus import PROJECTS
from testbed.check.projects import CONTAINER, SOUND, Project, config, project
from tests.components.check.sarif import SARIF
from tests.components.check.test_corpus import write
from tools.paths import ROOT

DAY = ["--today", "2026-11-16"]
DRIFTED = project("versions/image-tag Dockerfile:1", files={"Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.9\n"})


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *DAY, *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_nothing_found_ends_with_0(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["sound"])
    assert run(capsys) == (0, "1 project: 0 mandatory, 0 advisory findings\n", "")


def test_mandatory_findings_end_with_1(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, DRIFTED)
    code, out, _ = run(capsys, str(folder))
    assert code == 1
    assert out == (
        f"mandatory: Dockerfile:1: the image has version 0.12.9, the package {SDK_VERSION} [versions/image-tag]\n"
        "  why: The two speak a private protocol; a mismatch is only logged (`version.check`), then calls fail in odd "
        "ways.\n"
        f"  remedy: Use the tag {SDK_VERSION} of docker.io/cloudflare/sandbox.\n"
        "  see: https://developers.cloudflare.com/sandbox/sdk/configuration/dockerfile/\n"
        "1 project: 1 mandatory, 0 advisory findings\n"
    )


def test_advisory_findings_end_with_0(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["5 exit code ignored"])
    code, out, _ = run(capsys)
    assert code == 0
    assert out.startswith("advisory: src/index.ts:7: the result of exec is thrown away [code/exit-code]\n")
    assert run(capsys, "--severity", "code/exit-code=mandatory")[0] == 1
    assert run(capsys, "--severity", "code/exit-code=off")[1] == "1 project: 0 mandatory, 0 advisory findings\n"


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, DRIFTED)
    code, out, _ = run(capsys, "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert found["projects"] == 1
    assert found["findings"] == [
        {
            "rule": "versions/image-tag",
            "severity": "mandatory",
            "where": "Dockerfile:1",
            "what": f"the image has version 0.12.9, the package {SDK_VERSION}",
            "why": "The two speak a private protocol; a mismatch is only logged (`version.check`), then calls fail in "
            "odd ways.",
            "remedy": f"Use the tag {SDK_VERSION} of docker.io/cloudflare/sandbox.",
            "link": "https://developers.cloudflare.com/sandbox/sdk/configuration/dockerfile/",
            "since": "SDK 0.4.6",
        }
    ]


def test_sarif(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder / "a b", PROJECTS["bare image name and a type that does not exist, in TOML"])
    write(folder, DRIFTED)
    code, out, _ = run(capsys, "--format", "sarif")
    log = json.loads(out)
    jsonschema.validate(log, SARIF)
    results = log["runs"][0]["results"]
    names = [each["id"] for each in log["runs"][0]["tool"]["driver"]["rules"]]
    assert code == 1
    assert [names[each["ruleIndex"]] for each in results] == [each["ruleId"] for each in results]
    assert results[0]["level"] == "error"
    place = results[0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "Dockerfile"}, "region": {"startLine": 1}}
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert uris == {"Dockerfile", "a%20b/wrangler.toml"}


def test_sarif_and_github_say_nothing_of_a_sound_project(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["sound"])
    jsonschema.validate(json.loads(run(capsys, "--format", "sarif")[1]), SARIF)
    assert run(capsys, "--format", "github") == (0, "", "")


def test_github(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["10 command injection"])
    _, out, _ = run(capsys, "--format", "github")
    assert out.startswith(
        "::warning file=src/index.ts,line=7,title=code/exec-injection::exec runs a string put together from values. "
    )
    assert out.count("\n") == 1
    write(folder, DRIFTED)
    assert run(capsys, "--format", "github")[1].startswith("::error file=Dockerfile,line=1,title=versions/image-tag::")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no nowhere\n"),
        (["notes.txt"], "notes.txt is none of the files that can be checked"),
        (
            ["--severity", "supply/pinned"],
            "--severity supply/pinned: write RULE=LEVEL, for example supply/pinned=off\n",
        ),
        (["--severity", "supply/none=off"], "there is no rule supply/none; docs/rules.md lists them\n"),
        (["--exceptions", "none.toml"], "there is no none.toml\n"),
    ],
)
def test_what_is_not_understood_ends_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
):
    (folder / "notes.txt").write_text("hello")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


OTHER = {
    "wrangler.jsonc": '{"name": "other", "main": "index.ts"}',
    "index.ts": "export default { fetch: () => new Response() };\n",
    "package.json": '{"dependencies": {"hono": "^4.0.0"}}',
}


@pytest.mark.parametrize("files", [{}, {"notes.txt": "a"}, OTHER], ids=["empty", "notes", "no sandboxes"])
def test_a_folder_with_nothing_to_check_has_not_passed(
    files: dict[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
):
    write(folder, Project(files))
    code, out, err = run(capsys, "--format", "json")
    assert (code, out) == (2, "")
    assert err == (
        f"nothing to check was found in {folder} and the folders below: no wrangler configuration of a Worker with "
        "sandboxes, no Pulumi project with their settings, and in the folder itself neither a Dockerfile nor a "
        "package.json with @cloudflare/sandbox; name the folder of the project, or one of its files\n"
    )


@pytest.mark.parametrize("name", ["wrangler.jsonc", "index.ts"])
def test_a_file_without_sandboxes_passes(name: str, folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, Project(OTHER))
    assert run(capsys, name)[0] == 0


@pytest.mark.parametrize("arguments", [["check", "--format", "xml"], ["check", "--today", "soon"], ["fly"]])
def test_usage_errors_end_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err


def exceptions(folder: Path, expires: str, where: str = "Dockerfile") -> str:
    (folder / "accepted.toml").write_text(
        f'[[exceptions]]\nrule = "versions/image-tag"\nwhere = "{where}"\n'
        f'reason = "The image is replaced in the next sprint."\nexpires = "{expires}"\n'
    )
    return "accepted.toml"


def test_an_exception_accepts_a_finding_until_it_expires(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, DRIFTED)
    assert run(capsys, "--exceptions", exceptions(folder, "2026-11-16"))[0] == 0
    code, out, _ = run(capsys, "--exceptions", exceptions(folder, "2026-11-15"))
    assert code == 1
    assert "[versions/image-tag]" in out
    assert (
        "mandatory: accepted.toml:1: the exception for versions/image-tag at Dockerfile expired on 2026-11-15 "
        "[check/exception-expired]\n" in out
    )


def test_an_exception_that_accepts_nothing_is_found(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["sound"])
    code, out, _ = run(capsys, "--exceptions", exceptions(folder, "2027-01-01"))
    assert code == 1
    assert "the exception for versions/image-tag at Dockerfile accepts nothing [check/exception-unused]" in out


def test_wrong_exceptions_are_told_all_at_once(folder: Path, capsys: pytest.CaptureFixture[str]):
    said = [
        {"rule": "no/rule", "where": "a", "reason": "because of many things", "expires": "2027-01-01"},
        {"rule": "supply/lock", "where": "a", "reason": "so", "expires": "soon"},
        {"rule": ["supply/lock"], "where": "a", "reason": "because of many things", "expires": "2027-01-01"},
        {"rule": "supply/lock"},
    ]
    (folder / "accepted.json").write_text(json.dumps(said, indent=1))
    code, _, err = run(capsys, "--exceptions", "accepted.json")
    assert code == 2
    assert err == (
        "accepted.json:2: there is no rule 'no/rule'; docs/rules.md lists them\n"
        "accepted.json:8: the reason must say why, in a sentence\n"
        "accepted.json:8: expires is a date such as 2027-01-31, not 'soon'\n"
        "accepted.json:14: there is no rule ['supply/lock']; docs/rules.md lists them\n"
        "accepted.json:22: an exception has exactly rule, where, reason and expires\n"
    )


MENDABLE = {
    "nodejs_compat added": (project(compatibility_date="2026-07-01"), '"compatibility_flags": ["nodejs_compat"]'),
    "nodejs_compat added to others": (
        project(compatibility_date="2026-07-01", compatibility_flags=["other"]),
        '"other", "nodejs_compat"',
    ),
    "nodejs_compat removed": (
        project(compatibility_flags=["nodejs_compat", "other"]),
        '"compatibility_flags": [\n    "other"\n  ]',
    ),
    "date": (
        project(compatibility_date="2026-01-01", compatibility_flags=["nodejs_compat"]),
        '"nodejs_compat", "containers_pid_namespace"',
    ),
    "observability": (project(observability=None), '"observability": {"enabled": true}'),
    "registry": (
        project(containers=[{**CONTAINER, "image": f"cloudflare/sandbox:{SDK_VERSION}"}]),
        f'"image": "{OFFICIAL_IMAGE}"',
    ),
    "tag of a reference": (
        project(containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.9-python"}]),
        f'"image": "{OFFICIAL_IMAGE}-python"',
    ),
}


@pytest.mark.parametrize("name", MENDABLE)
def test_fix_mends_the_configuration(name: str, folder: Path, capsys: pytest.CaptureFixture[str]):
    broken, wanted = MENDABLE[name]
    write(folder, broken)
    before = (folder / "wrangler.jsonc").read_text()
    code, out, _ = run(capsys, "--diff")
    assert (folder / "wrangler.jsonc").read_text() == before
    assert "+++ b/wrangler.jsonc\n" in out
    code, out, _ = run(capsys, "--fix")
    assert out.endswith("1 project: 0 mandatory, 0 advisory findings\n")
    assert code == 0
    assert wanted in (folder / "wrangler.jsonc").read_text()


def test_fix_mends_a_dockerfile_and_shows_the_diff(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, PROJECTS["8 copied server drifted apart"])
    code, out, _ = run(capsys, "--fix")
    assert code == 0
    assert "-COPY --from=docker.io/cloudflare/sandbox:0.12.7 /container-server/sandbox" in out
    assert f"+COPY --from={OFFICIAL_IMAGE} /container-server/sandbox" in out
    assert f"ENV SANDBOX_VERSION={SDK_VERSION}\n" in (folder / "Dockerfile").read_text()


def test_fix_mends_toml_and_keeps_comments(folder: Path, capsys: pytest.CaptureFixture[str]):
    text = PROJECTS["bare image name and a type that does not exist, in TOML"].files["wrangler.toml"]
    write(folder, Project({**SOUND, "wrangler.toml": f"# ours\n{text}"}))
    run(capsys, "--fix")
    fixed = (folder / "wrangler.toml").read_text()
    assert fixed.startswith("# ours\n")
    assert 'compatibility_flags = ["nodejs_compat"]\n' in fixed
    assert f'image = "{OFFICIAL_IMAGE}"\n' in fixed


def test_a_diff_does_not_spoil_json(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, DRIFTED)
    _, out, err = run(capsys, "--diff", "--format", "json")
    assert json.loads(out)["projects"] == 1
    assert f"+FROM {OFFICIAL_IMAGE}" in err


def test_the_container_engine_is_looked_for_when_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    write(folder, PROJECTS["sound"])
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("WRANGLER_DOCKER_BIN", raising=False)
    code, out, _ = run(capsys, "--local")
    assert code == 1
    assert "Dockerfile:1: the image is to be built here, but no container engine was found" in out
    engine = folder / "docker"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    assert run(capsys, "--local")[0] == 0


@pytest.mark.parametrize(
    ("name", "files", "rule"),
    [
        ("Dockerfile.sandbox", {"Dockerfile.sandbox": "FROM debian\n"}, "image/floating-base"),
        ("package.json", {"package.json": '{"dependencies": {"@cloudflare/sandbox": "*"}}'}, "supply/sdk-floating"),
        ("a.ts", {"a.ts": "// ours\nsandbox.rm('a');\n"}, "code/no-such-call"),
        ("wrangler.json", {"wrangler.json": config(), **SOUND}, None),
    ],
)
def test_single_files(
    name: str, files: dict[str, str], rule: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
):
    write(folder, Project(files))
    _, out, _ = run(capsys, name)
    assert (rule is None) or f"[{rule}]" in out
    assert out.count("projects" if "projects" in out else "1 project") == 1


def test_as_a_process(tmp_path: Path):
    write(tmp_path, DRIFTED)
    argv = [sys.executable, "-m", "components", "check", *DAY, str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{tmp_path}/Dockerfile:1: the image has version 0.12.9" in done.stdout


def test_checking_a_wrangler_project_loads_nothing_heavy(tmp_path: Path):
    write(tmp_path, PROJECTS["sound"])
    probe = f"import sys; from components.cli import main; main(['check', {str(tmp_path)!r}]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"pulumi", "pydantic", "yaml", "grpc", "jinja2", "cloudflare"} & set(done.stdout.split())


def test_the_parser_is_loaded_only_where_there_are_modules(tmp_path: Path):
    write(tmp_path, Project({"Dockerfile": f"FROM {OFFICIAL_IMAGE}\n"}))
    probe = f"import sys; from components.cli import main; main(['check', {str(tmp_path)!r}]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "1 project" in done.stdout
    assert "tree_sitter" not in done.stdout.split()


def test_the_lock_file_of_the_repository_counts_for_a_package_in_it(folder: Path, capsys: pytest.CaptureFixture[str]):
    files = {f"packages/a/{name}": text for name, text in PROJECTS["sound"].files.items() if "lock" not in name}
    write(folder, Project(files))
    assert "[supply/lock]" in run(capsys, "packages/a")[1]
    (folder / ".git").mkdir()
    (folder / "package-lock.json").write_text('{"packages": {"node_modules/eslint": {"version": "9.0.0"}}}')
    assert "[supply/lock]" in run(capsys, "packages/a")[1]
    (folder / "package-lock.json").write_text(DRIFTED.files["package-lock.json"])
    assert run(capsys, "packages/a") == (0, "1 project: 0 mandatory, 0 advisory findings\n", "")
