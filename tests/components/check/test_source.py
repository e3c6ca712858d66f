"""What the light look at modules sees, and what it leaves alone."""

from pathlib import Path

import pytest

from components.check.files import Files
from components.check.source import Modules, imported
from components.facts.stack import Source


def source(tmp_path: Path, text: str) -> Source:
    path = tmp_path / "index.ts"
    path.write_text(text)
    return Modules(Files(tmp_path), path).facts()


def names(tmp_path: Path, text: str) -> list[str]:
    return [call.name for call in source(tmp_path, f"// sandbox\n{text}").calls or ()]


@pytest.mark.parametrize(
    "text",
    [
        "const s = getSandbox(env.Sandbox, id); s.exec('ls')",
        "const s: Sandbox = await getSandbox<Sandbox>(env.Sandbox, id);\ns\n  .exec('ls')",
        "getSandbox(env.Sandbox, id).exec('ls')",
        "const session = await box.createSession({ id }); getSandbox(a, b); session.exec('ls')",
        "async function run(box: DurableObjectStub<Sandbox>) { getSandbox(a, b); return box.exec('ls') }",
        "getSandbox(a, b); this.sandbox?.exec('ls')",
        "getSandbox(a, b); `${await sandbox.exec('ls')}`",
    ],
)
def test_calls_of_sandboxes_are_seen(text: str, tmp_path: Path):
    assert names(tmp_path, text) == ["getSandbox", "exec"] or names(tmp_path, text) == ["exec", "getSandbox"]


@pytest.mark.parametrize(
    "text",
    [
        "const m = /a/.exec(text); regex.exec(text); fs.rm('a'); child.spawn('a'); db.exec('select')",
        "// sandbox.exec('ls')\n/* sandbox.rm('a') */",
        "const text = \"sandbox.exec('ls')\"; const other = 'sandbox.rm(1)'; const t = `sandbox.spawn(1)`",
        "const pattern = /sandbox.exec('x')/g;",
        "function exec(command: string) {}",
        "sandbox.executed('x'); sandbox.rmAll('x')",
    ],
)
def test_other_calls_are_left_alone(text: str, tmp_path: Path):
    assert names(tmp_path, text) == []


@pytest.mark.parametrize(
    ("statement", "dropped"),
    [
        ("await sandbox.exec('a');", True),
        ("if (x) { await sandbox.exec('a') }", True),
        ("first()\nawait sandbox.exec('a')\nlast()", True),
        ("const r = await sandbox.exec('a');", False),
        ("const r =\n  await sandbox.exec('a');", False),
        ("return sandbox.exec('a');", False),
        ("return\n  sandbox.exec('a');", True),
        ("use(await sandbox.exec('a'));", False),
        ("const f = () => sandbox.exec('a');", False),
        ("await sandbox.exec('a').then(check);", False),
        ("const [a] = await Promise.all([\n  sandbox.exec('a'),\n]);", False),
    ],
)
def test_dropped_results(statement: str, dropped: bool, tmp_path: Path):
    (call,) = source(tmp_path, f"{{ {statement} }}").calls or ()
    assert call.dropped is dropped


@pytest.mark.parametrize(
    ("argument", "spliced"),
    [
        ("'ls'", False),
        ("`ls`", False),
        ("command", False),
        ("`ls ${folder}`", True),
        ("'ls ' + folder", True),
        ('folder + " x"', True),
        ("`ls ${shellQuote(folder)} ${escapeArg(x)}`", False),
        ("`ls ${quote(folder)} ${x}`", True),
        ("a + b", False),
    ],
)
def test_text_put_together(argument: str, spliced: bool, tmp_path: Path):
    (call,) = source(tmp_path, f"const r = await sandbox.exec({argument});").calls or ()
    assert call.interpolated is spliced


def test_arguments_and_options(tmp_path: Path):
    text = "const r = sandbox.exec('a, b', { cwd: f(1, { x: 2 }), 'q': 1, env, async onOutput() {}, ...rest });"
    (call,) = source(tmp_path, text).calls or ()
    assert call.arguments == ("'a, b'", "{ cwd: f(1, { x: 2 }), 'q': 1, env, async onOutput() {}, ...rest }")
    assert call.options == {"cwd", "q", "env", "onOutput"}
    assert call.where.endswith("index.ts:1")


def test_words_of_the_sdk(tmp_path: Path):
    text = (
        "import { bridge } from '@cloudflare/sandbox/bridge';\n"
        "class A extends Sandbox { static outboundByHost = {}; allowedHosts = ['a']; }\n"
        "sandbox.mountBucket('B', '/m', { endpoint, credentialProxy: true });\n"
        "sandbox.mountBucket('B', '/m', {});\n"
        "sandbox.tunnels.get(1); // proxyToSandbox\n"
    )
    found = source(tmp_path, text).uses or ()
    lines = [(use.value, int(use.where.rpartition(":")[2])) for use in found]
    assert lines == [
        ("outboundByHost", 2),
        ("allowedHosts", 2),
        ("credentialProxy", 3),
        ("tunnels", 5),
        ("mountBucket", 4),
        ("bridge", 1),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import { proxyToSandbox } from '@cloudflare/sandbox';", []),
        ("import {\n  getSandbox,\n  proxyToSandbox,\n  type Sandbox,\n} from '@cloudflare/sandbox';", []),
        ("import * as sdk from '@cloudflare/sandbox';\nsdk.proxyToSandbox(a, b);", [2]),
        ("export { proxyToSandbox } from '@cloudflare/sandbox';", []),
        ("const { proxyToSandbox } = require('@cloudflare/sandbox');", []),
        ("const { proxyToSandbox: proxy } = await import('@cloudflare/sandbox');\nproxy(a, b);", [1]),
        ("const { getSandbox, proxyToSandbox, } =\n  await import('@cloudflare/sandbox');", []),
        ("import { proxyToSandbox } from '@cloudflare/sandbox';\n\nproxyToSandbox(a, b);", [3]),
        ("import { proxyToSandbox as proxy } from '@cloudflare/sandbox';\nproxy(a, b);", [1]),
        ("import {proxyToSandbox} from '@cloudflare/sandbox';", []),
        ("// sandbox\nuse({ proxyToSandbox })", [2]),
        ("// sandbox\nconst handlers = { a, proxyToSandbox };", [2]),
    ],
)
def test_an_import_alone_is_no_use(text: str, lines: list[int], tmp_path: Path):
    found = source(tmp_path, text).uses or ()
    assert [(use.value, int(use.where.rpartition(":")[2])) for use in found] == [
        ("proxyToSandbox", line) for line in lines
    ]


def exported(tmp_path: Path, text: str) -> frozenset[str]:
    path = tmp_path / "index.ts"
    path.write_text(text)
    return Modules(Files(tmp_path), path).exports().value


def test_exports_and_imports(tmp_path: Path):
    text = (
        "export { A, B as C, type T } from 'x';\nexport class D extends E {}\nexport async function f() {}\n"
        "export const g = 1;\nexport default h;\n// export class Z {}\nimport('./y'); const q = require('./z');\n"
    )
    assert exported(tmp_path, text) == {"A", "C", "D", "f", "g", "default"}
    assert imported(text) == ["x", "./y", "./z"]
    assert exported(tmp_path, "export * from './a';") == {"*"}


@pytest.mark.parametrize(
    ("body", "position"),
    [
        ("const p = await proxyToSandbox(request, env);\nif (p) return p;\nreturn app.fetch(request);", "first"),
        ("return (await proxyToSandbox(request, env)) ?? app.fetch(request);", "first"),
        ("if (x) return new Response();\nconst p = await proxyToSandbox(request, env);", "late"),
        ("return app.fetch(request);", None),
    ],
)
def test_the_place_of_the_proxy(body: str, position: str | None, tmp_path: Path):
    text = f"export default {{\n  async fetch(request: Request, env: Env): Promise<Response> {{\n{body}\n}} }};\n"
    found = source(tmp_path, text).proxy_position
    assert (found.value if found else None) == position
