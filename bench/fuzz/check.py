"""Break documents of every kind at random and check them: findings or silence, never a traceback.

`python -m bench.fuzz.check --documents 20000` prints what it did; the tests run a short form.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path

from components.check.project import UsageError, check_path
from components.check.report import FORMATS
from components.platform.sdk import SDK_VERSION
from testbed import loopback
from testbed.check.corpus import PROJECTS
from testbed.check.projects import SOUND, TOML

TODAY = date(2026, 11, 16)
PIECES = (
    "{", "}", "[", "]", '"', "'", "`", "${", "\\", "/*", "*/", "//", ",", ":", "=", "\n", "\r", "\t", "\ufeff",
    "\u2028", "null", "true", "-1", "1e999", "9" * 400, "\\ud800", "é", "🦀", "FROM ", "COPY --from=", "ENV A=", "ARG ",
    "<<EOF\n", "\\\n", "RUN [", "[[", "]]", "export ", "sandbox.exec(", "getSandbox(", "=>", "[" * 200, "{" * 200,
    "(" * 200,
    '{"a":' * 150, "@sha256:", "docker.io/", SDK_VERSION, "&a ", "*a ", "- ", "!!python/object:os.system ", "<<: *a",
)  # fmt: skip
BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\x80", b"\xc3", b"\xed\xa0\x80")
PULUMI = (
    "config:\n  p:settings:\n    name: dev\n    worker:\n      variables: {A: b}\n    container: {max_instances: 3}\n"
)
SHELL = {"Pulumi.yaml": "name: p\nplugins: {providers: [{name: cloudflare-sandbox}]}\n"}


def broken(text: str, dice: random.Random) -> bytes:
    """Break a text in one to four ways."""
    for _ in range(dice.randint(1, 4)):
        at, to = sorted((dice.randint(0, len(text)), dice.randint(0, len(text))))
        way = dice.randrange(6)
        if way == 0:
            text = text[:at] + dice.choice(PIECES) + text[at:]
        elif way == 1:
            text = text[:at] + text[min(to, at + 30) :]
        elif way == 2:
            text = text[:at]
        elif way == 3:
            text = text[:to] + text[at:]
        elif way == 4:
            text = text[:at] + chr(dice.randint(1, 0x2FFF)) + text[at + 1 :]
        else:
            text = text[:at] + dice.choice(PIECES) + text[at + dice.randint(0, 8) :]
    data = text[:50_000].encode("utf-8", "surrogatepass")
    if dice.random() < 0.05:
        at = dice.randint(0, len(data))
        data = data[:at] + dice.choice(BYTES) + data[at:]
    return data


def sources() -> list[tuple[dict[str, str], str]]:
    """Return projects, and the file of each that is to be broken."""
    found = [(dict(each.files), name) for each in PROJECTS.values() for name in each.files]
    found += [({**SOUND, "wrangler.toml": TOML}, "wrangler.toml")] * 20
    return found + [({**SHELL, "Pulumi.dev.yaml": PULUMI}, "Pulumi.dev.yaml")] * 20


def run(documents: int, seed: int) -> Counter[str]:
    """Check broken documents and count what came out."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret: a seed makes a run the same again
    counts = Counter[str]()
    choices = sources()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(documents):
            files, target = dice.choice(choices)
            folder = root / str(number % 50)
            for file, text in files.items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(broken(text, dice) if file == target else text.encode())
            try:
                result = check_path(folder, today=TODAY)
            except UsageError:
                counts["refused"] += 1
            else:
                for write in FORMATS.values():
                    write(result.findings, result.projects).encode("utf-8", "backslashreplace")
                counts["unreadable"] += any(each.rule == "check/unreadable" for each in result.findings)
                counts["with findings" if result.findings else "silent"] += 1
            for file in files:
                (folder / file).unlink()
    return counts


if __name__ == "__main__":
    loopback.enforce()
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.process_time()
    told = run(given.documents, given.seed)
    sys.stdout.write(f"{given.documents} documents, {time.process_time() - begun:.1f} s: {dict(told)}\n")
