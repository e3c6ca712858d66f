"""Values followed to where they begin: which commands hold something from outside, and what is known of them."""

from pathlib import Path

import pytest

from components.check.files import Files
from components.check.source import Modules
from components.facts.stack import HOLE, Call


def commands(folder: Path, text: str, **others: str) -> list[Call]:
    (folder / "index.ts").write_text(text)
    for name, more in others.items():
        (folder / f"{name}.ts").write_text(more)
    calls = Modules(Files(folder), folder / "index.ts").facts().calls or ()
    return [call for call in calls if call.name == "exec"]


@pytest.mark.parametrize(
    "text",
    [
        "const A = 'a'; sandbox.exec(`${A} b`)",
        "const A = { b: { c: 'd' } }; sandbox.exec('x ' + A.b.c)",
        "const { a } = { a: 'b' }; sandbox.exec(`x ${a}`)",
        "let a = 'x'; a = 'y'; sandbox.exec(`z ${a}`)",
        "sandbox.exec(`x ${UNSEEN_CONSTANT}`)",
        "const f = () => 'a'; sandbox.exec(`x ${f()}`)",
        "function f(a, b = 'c') { return `${a} ${b}`; } sandbox.exec(`x ${f('d')}`)",
        "function f({ a }) { return a; } sandbox.exec('x ' + f({ a: 'b' }))",
        "enum E { A = 'a' } sandbox.exec(`x ${E.A}`)",
        "function f(n: number) { sandbox.exec(`x ${n}`); }",
        "type T = 'a' | 'b'; function f(t: T) { sandbox.exec(`x ${t}`); }",
        "function f(o: { n: number }) { sandbox.exec(`x ${o.n}`); }",
        "function f({ n }: { n: boolean }) { sandbox.exec(`x ${n}`); }",
        "class A { #b = 'c'; d() { sandbox.exec(`x ${this.#b}`); } }",
        "sandbox.exec(`x ${y.length} ${Number(y)} ${Math.floor(y)} ${parseInt(y, 10)}`)",
        "sandbox.exec(`x ${Buffer.from(y).toString('base64')}`)",
        "sandbox.exec(`x ${y ? 'a' : 'b'}`)",
        "sandbox.exec(`x ${y && 'a'}`)",
        "sandbox.exec(`x ${import.meta.env.MODE} ${process.env.HOME} ${this.env.A} ${c.env['B']}`)",
        "sandbox.exec(['a', 'b'].map((x) => `-${x}`).join(' '))",
        "sandbox.exec(Object.values({ a: 'b' }).join(' ') + ' x')",
        "const A = ['a']; const B = [...A, 'b']; sandbox.exec(`x ${B.join(' ')}`)",
        "['a'].forEach((each, index) => sandbox.exec(`${each} ${index}`))",
        "sandbox.exec(`x ${y.replace(/\\W/g, '')}`)",
        "function f(y) { if (!ALLOWED.has(y)) return; sandbox.exec(`x ${y}`); }",
        "function f(y) { assertSafeName(y); sandbox.exec(`x ${y}`); }",
        "const OK = /^[a-z]+$/; function f(y) { if (!OK.test(y)) { throw new Error(); } sandbox.exec(`x ${y}`); }",
        "sandbox.exec(tag`x ${y}`)",
        "sandbox.exec(y)",
        "sandbox.exec(`${y}`)",
    ],
)
def test_what_is_harmless(text: str, tmp_path: Path):
    (call,) = commands(tmp_path, text)
    assert not call.interpolated


@pytest.mark.parametrize(
    "text",
    [
        "let a = 'x'; if (b) a = `y ${b}`; sandbox.exec(a)",
        "let a = 'x'; a = a + ' ' + b; sandbox.exec(a)",
        "const { a } = await request.json(); sandbox.exec(`x ${a}`)",
        "const { a = 'b' } = body; sandbox.exec(`x ${a}`)",
        "function f(s: string) { sandbox.exec(`x ${s}`); }",
        "function f(o: { s: string }) { sandbox.exec(`x ${o.s}`); }",
        "const f = (a) => `x ${a}`; sandbox.exec(f(b))",
        "class A { b = 'c'; set(b) { this.b = b; } d() { sandbox.exec(`x ${this.b}`); } }",
        "const B = ['a']; B.push(c); sandbox.exec(`x ${B.join(' ')}`)",
        "sandbox.exec(['x', ...(y ? [z] : [])].join(' '))",
        "sandbox.exec(`x ${y.trim().toLowerCase()}`)",
        "sandbox.exec(`x ${y.replace(/ /g, '')}`)",
        "sandbox.exec(`x ${y.replace(/[^a-z]/, '')}`)",
        "for (const a of b) sandbox.exec(`x ${a}`)",
        "function f(y) { if (/[a-z]/.test(y)) sandbox.exec(`x ${y}`); }",
        "function f(y) { if (!OK.test(z)) return; sandbox.exec(`x ${y}`); }",
        "function f(y) { sandbox.exec(`x ${y}`); if (!ALLOWED.has(y)) return; }",
        "sandbox.exec(`x ${await (await fetch(u)).text()}`)",
        "sandbox.exec('x ' + (y ?? 'z'))",
    ],
)
def test_what_comes_from_outside(text: str, tmp_path: Path):
    (call,) = commands(tmp_path, text)
    assert call.interpolated


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("sandbox.exec('a\\nb')", ("a\nb",)),
        ("sandbox.exec(`a ${b} c`)", (f"a {HOLE} c",)),
        ("sandbox.exec(b ? 'x' : 'y')", ("x", "y")),
        ("const A = 'a' + 1; sandbox.exec(A + '\\u{62}')", ("a1b",)),
        ("sandbox.exec(b)", (HOLE,)),
    ],
)
def test_what_is_known_of_a_command(text: str, known: tuple[str, ...], tmp_path: Path):
    (call,) = commands(tmp_path, text)
    assert call.text == known


def test_constants_and_helpers_of_other_modules(tmp_path: Path):
    text = (
        "import D, { A, make as build } from './a';\nimport * as all from './a';\n"
        "// sandbox\nsandbox.exec(`${A} x`); sandbox.exec(build(A)); sandbox.exec(build(y)); sandbox.exec(`${D} x`);\n"
    )
    other = "export * from './b';\nexport function make(a: string) { return `x ${a}`; }\nexport default 'd';\n"
    found = commands(tmp_path, text, a=other, b="export const A = 'a';\n")
    assert [call.interpolated for call in found] == [False, False, True, False]


def test_a_command_that_is_only_handed_on_is_judged_where_it_is_made(tmp_path: Path):
    text = (
        "import { run } from './run';\n"
        "run(sandbox, 'npm ci');\n"
        "run(sandbox, `cat ${name}`);\n"
        "const twice = (command) => run(sandbox, command);\n"
        "twice('ls ' + folder);\n"
    )
    found = commands(tmp_path, text, run="export const run = (sandbox, command) => sandbox.exec(command);\n")
    told = [(call.where.rpartition("/")[2], call.interpolated) for call in found]
    assert told == [("run.ts:1", False), ("index.ts:2", False), ("index.ts:3", True), ("index.ts:5", True)]
