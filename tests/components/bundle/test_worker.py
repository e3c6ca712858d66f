"""The Worker's bundle: the same bytes from the same sources, found again without Node, whole or not at all."""

import json
import shutil
import tarfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from components.bundle import packaged, worker
from components.bundle.worker import BundleError
from components.platform.sdk import SDK_VERSION
from testbed.worker_build import share_packages


@pytest.fixture
def build_folder(with_node: None, tmp_path: Path) -> Path:  # noqa: ARG001 - a fixture for its effect
    return share_packages(tmp_path)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the Worker's source that a test may change."""
    copy = tmp_path / "worker_src"
    shutil.copytree(packaged.folder("worker_src"), copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    monkeypatch.setattr(packaged, "folder", lambda _: copy)
    return copy


def only(bundle: worker.WorkerBundle) -> worker.Module:
    assert list(bundle.modules) == [bundle.main_module] == ["index.js"]
    return bundle.modules["index.js"]


def test_the_same_sources_give_the_same_bytes_anywhere(build_folder: Path, tmp_path: Path):
    first = only(worker.packaged_worker(build_folder))
    second = only(worker.packaged_worker(share_packages(tmp_path / "elsewhere")))
    assert first.file != second.file
    assert first.sha256 == second.sha256


def test_a_bundle_is_found_again_without_node(build_folder: Path, monkeypatch: pytest.MonkeyPatch):
    made = worker.packaged_worker(build_folder)
    monkeypatch.setenv("PATH", "")
    assert worker.packaged_worker(build_folder) == made


def test_a_changed_byte_gives_another_bundle(build_folder: Path, source: Path):
    before = only(worker.packaged_worker(build_folder))
    entry = source / "src" / "index.ts"
    entry.write_text(entry.read_text() + "\nexport const changed = 'by a test';\n")
    assert only(worker.packaged_worker(build_folder)).sha256 != before.sha256


def test_what_is_no_source_changes_nothing(build_folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch):
    made = worker.packaged_worker(build_folder)
    for name in ("node_modules/x", "dist/x", "test/x", ".cache/x"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text("x")
    monkeypatch.setenv("PATH", "")
    assert worker.packaged_worker(build_folder) == made


def test_each_further_class_is_exported(build_folder: Path):
    text = only(worker.packaged_worker(build_folder, further_classes=["SandboxPython"])).file.read_text()
    exported = text.rpartition("export{")[2]
    assert all(f"as {name}" in exported for name in ("Sandbox", "SandboxPython", "ContainerProxy", "default"))


def test_many_at_once_make_one_bundle(build_folder: Path):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: worker.packaged_worker(build_folder), range(4)))
    assert made == [made[0]] * 4
    assert [path.name for path in (build_folder / "worker").iterdir()] == [only(made[0]).file.parent.name]


def test_a_worker_of_ones_own_is_bundled_with_its_packages(build_folder: Path, tmp_path: Path):
    project = tmp_path / "own"
    (project / "node_modules" / "greeting").mkdir(parents=True)
    (project / "node_modules" / "greeting" / "index.js").write_text("export default 'hello from a package';")
    (project / "node_modules" / "greeting" / "package.json").write_text('{"name": "greeting", "main": "index.js"}')
    (project / "package.json").write_text("{}")
    (project / "entry.ts").write_text("import greeting from 'greeting';\nexport const said: string = greeting;\n")
    module = only(worker.own_worker(project / "entry.ts", build_folder))
    assert "hello from a package" in module.file.read_text()


@pytest.mark.parametrize("imported", ["../shared/word.ts", "./dist/word.js", "./node_modules/word/index.js"])
def test_a_change_of_whatever_ones_own_worker_imports_is_seen(imported: str, build_folder: Path, tmp_path: Path):
    project = tmp_path / "own"
    word = project / imported
    word.parent.mkdir(parents=True)
    (project / "package.json").write_text("{}")
    (project / "entry.ts").write_text(f"export {{ word }} from {imported!r};\n")
    word.write_text("export const word = 'before';")
    before = only(worker.own_worker(project / "entry.ts", build_folder))
    assert only(worker.own_worker(project / "entry.ts", build_folder)) == before
    word.write_text("export const word = 'after';")
    assert "after" in only(worker.own_worker(project / "entry.ts", build_folder)).file.read_text()


SDK = "@cloudflare/sandbox"
USING = f"export {{ Sandbox }} from '{SDK}';\nexport default {{}};\n"


def sdk_package(folder: Path, version: str) -> None:
    """A package that stands for the SDK of a version."""
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": SDK, "version": version, "main": "index.js"}))
    (folder / "index.js").write_text(f"export class Sandbox {{ version = 'sdk-{version}' }}")


def locked_project(tmp_path: Path, version: str) -> Path:
    """A project whose lock file says which SDK, and that has nothing installed."""
    sdk_package(tmp_path / "made" / "package", version)
    archive = tmp_path / "sdk.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / "made" / "package", "package")
    project = tmp_path / "own"
    project.mkdir()
    wanted = {"dependencies": {SDK: f"file:{archive}"}}
    (project / "package.json").write_text(json.dumps(wanted))
    packages = {"": wanted, f"node_modules/{SDK}": {"version": version, "resolved": f"file:{archive}"}}
    (project / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": packages}))
    (project / "entry.ts").write_text(USING)
    return project


def own_build_folder(tmp_path: Path) -> Path:
    """The packages of the builder are there already; those of other lock files go elsewhere."""
    shared = share_packages(tmp_path / "shared") / "packages"
    build_folder = tmp_path / "build"
    (build_folder / "packages").mkdir(parents=True)
    for each in shared.iterdir():
        (build_folder / "packages" / each.name).symlink_to(each.resolve())
    return build_folder


@pytest.mark.usefixtures("with_node")
def test_a_worker_without_its_packages_gets_those_of_its_lock_file(tmp_path: Path):
    project = locked_project(tmp_path, "0.12.9")
    made = worker.own_worker(project / "entry.ts", own_build_folder(tmp_path))
    assert "sdk-0.12.9" in only(made).file.read_text()
    assert (made.sdk_version, made.exports) == ("0.12.9", {"Sandbox", "default"})
    assert not (project / "node_modules").exists(), "the project is left as it is"


def test_a_worker_whose_packages_are_not_those_of_its_lock_file_is_refused(build_folder: Path, tmp_path: Path):
    project = locked_project(tmp_path, "0.12.9")
    sdk_package(project / "node_modules" / SDK, "0.12.8")
    with pytest.raises(BundleError) as caught:
        worker.own_worker(project / "entry.ts", build_folder)
    assert str(caught.value) == (
        f"worker.entry: {project}/entry.ts finds {SDK} 0.12.8 installed, and {project}/package-lock.json says 0.12.9; "
        f"run `npm ci` in {project}"
    )


def test_a_worker_that_names_the_sdk_does_not_get_another_one(build_folder: Path, tmp_path: Path):
    project = locked_project(tmp_path, "0.12.9")
    (project / "package-lock.json").rename(project / "pnpm-lock.yaml")
    with pytest.raises(BundleError, match=rf"names {SDK}, which is not installed, and has no package-lock.json"):
        worker.own_worker(project / "entry.ts", build_folder)
    sdk_package(tmp_path / "node_modules" / SDK, "0.12.7")  # as in a workspace
    assert worker.own_worker(project / "entry.ts", build_folder).sdk_version == "0.12.7"


def test_a_worker_without_a_package_gets_the_sdk_of_this_one(build_folder: Path, tmp_path: Path):
    (tmp_path / "entry.ts").write_text(USING)
    made = worker.own_worker(tmp_path / "entry.ts", build_folder)
    assert made.sdk_version == worker.sdk_version(packaged.folder("worker_src"))


def test_two_sdks_in_one_bundle_are_refused(build_folder: Path, tmp_path: Path):
    for name, version in ((".", "0.12.9"), ("lib", "0.12.8")):
        sdk_package(tmp_path / name / "node_modules" / SDK, version)
    (tmp_path / "lib" / "other.ts").write_text(f"export {{ Sandbox as Other }} from '{SDK}';")
    (tmp_path / "entry.ts").write_text(USING + "export * from './lib/other.ts';")
    with pytest.raises(BundleError, match=rf"is bundled with {SDK} 0.12.8 and 0.12.9; keep one$"):
        worker.own_worker(tmp_path / "entry.ts", build_folder)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class a{} var b={};export{a as Sandbox,b as default};", {"Sandbox", "default"}),
        ('export { a as "Sandbox" };\nexport default {};', {"Sandbox", "default"}),
        ("export class Sandbox {}\nexport async function* make() {}", {"Sandbox", "make"}),
        ("export default class Sandbox {}", {"default"}),
        ("addEventListener('fetch', () => {});", set()),
        ("export * from './other.js';", None),
        ("export const a = 1, Sandbox = b;", None),
        ("export { a as S\\u0061ndbox };", None),
    ],
)
def test_the_exports_of_a_ready_bundle(text: str, names: set[str] | None, tmp_path: Path):
    (tmp_path / "main.js").write_text(text)
    assert worker.ready_bundle(tmp_path / "main.js").exports == names


def test_the_packaged_bundle_tells_its_exports(build_folder: Path):
    exports = worker.packaged_worker(build_folder, further_classes=["Other"]).exports
    assert exports is not None
    assert {"Sandbox", "Other", "default"} <= exports


def test_an_error_in_the_source_is_shown_with_its_place(
    build_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "entry.ts").write_text("export const = 1;\n")
    with pytest.raises(BundleError) as caught:
        worker.own_worker(Path("mine/entry.ts"), build_folder)
    assert str(caught.value).startswith("the Worker does not bundle:\n")
    assert " mine/entry.ts:1:13" in str(caught.value)
    assert "at async" not in str(caught.value)
    assert list((build_folder / "worker").iterdir()) == []


def test_without_node_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BundleError) as caught:
        worker.packaged_worker(tmp_path)
    assert str(caught.value) == (
        "the Worker's packages cannot be installed: there is no `npm` on PATH; install Node 22 or newer, or set "
        "worker.bundle to a ready one"
    )


def test_with_its_packages_installed_bundling_starts_no_node(build_folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    assert only(worker.packaged_worker(build_folder)).file.stat().st_size > 300_000


def test_packages_without_a_bundler_for_this_machine_are_refused(tmp_path: Path):
    with pytest.raises(BundleError) as caught:
        worker._esbuild(tmp_path / "packages" / "node_modules")
    assert str(caught.value) == (
        f"the Worker does not bundle: {tmp_path}/packages/node_modules/@esbuild has no program; delete "
        f"{tmp_path}/packages and try again"
    )


def test_packages_for_another_kind_of_machine_are_refused(tmp_path: Path):
    program = tmp_path / "esbuild"
    program.write_bytes(b"\xcf\xfa\xed\xfe of a Mac")
    program.chmod(0o755)
    with pytest.raises(BundleError) as caught:
        worker._run([str(program)], tmp_path, "the Worker does not bundle")
    assert str(caught.value) == (
        f"the Worker does not bundle: {program} does not start here (Exec format error); delete the build folder it is "
        "in and try again"
    )


def test_a_folder_may_have_any_name(with_node: None, tmp_path: Path):  # noqa: ARG001 - a fixture for its effect
    build_folder = share_packages(tmp_path / "a=b, c d")
    own = tmp_path / "a=b, c d" / "own=1.ts"
    own.write_text("export const said: string = 'hello';\n")
    assert "hello" in only(worker.own_worker(own, build_folder)).file.read_text()
    assert only(worker.packaged_worker(build_folder)).file.stat().st_size > 300_000


def test_a_ready_bundle_is_taken_as_it_is(tmp_path: Path):
    for name in ("main.mjs", "lib/tool.wasm", "main.mjs.map", ".env", "node_modules/a/b.js", "lib/__pycache__/c.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    bundle = worker.ready_bundle(tmp_path / "main.mjs")
    assert (bundle.main_module, sorted(bundle.modules)) == ("main.mjs", ["lib/tool.wasm", "main.mjs"])


def test_nothing_of_a_project_is_uploaded_beside_a_bundle_in_its_own_folder(tmp_path: Path):
    for name in ("main.mjs", "Pulumi.yaml", "Pulumi.dev.yaml", "notes.txt"):
        (tmp_path / name).write_text(name)
    assert list(worker.ready_bundle(tmp_path / "main.mjs").modules) == ["main.mjs"]


@pytest.mark.parametrize("make", [worker.ready_bundle, lambda path: worker.own_worker(path, path.parent)])
def test_a_missing_file_is_named(make: Callable[[Path], object], tmp_path: Path):
    with pytest.raises(BundleError, match=r"^worker\.(bundle|entry): there is no file .*gone\.js; "):
        make(tmp_path / "gone.js")


def test_the_version_of_the_sdk_is_read_from_the_lock_file(tmp_path: Path):
    assert worker.sdk_version(packaged.folder("worker_src")) == SDK_VERSION
    assert worker.sdk_version(tmp_path) is None
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": {}}))
    assert worker.sdk_version(tmp_path) is None
    (tmp_path / "package-lock.json").write_text("{")
    with pytest.raises(BundleError, match="run `npm install` there"):
        worker.sdk_version(tmp_path)
