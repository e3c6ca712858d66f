"""Measure `check` on a project of 1,000 files: processor time beyond what starting Python takes.

`python -m bench.rules.check` prints a table.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from testbed import loopback
from testbed.check.projects import SOUND, config
from tools.paths import ROOT

MODULE = """\
import {{ helper{next} }} from "./part{next}";
import type {{ Sandbox }} from "@cloudflare/sandbox";

/** Part {number}. */
export async function helper{number}(sandbox: Sandbox, name: string): Promise<string> {{
  const result = await sandbox.exec("uptime", {{ cwd: "/workspace", timeout: 5_000 }});
  if (!result.success) {{
    throw new Error(`{number}: ${{result.stderr}}`);
  }}
  return result.stdout + (await helper{next}(sandbox, name));
}}
"""
OTHER = """\
import {{ helper{next} }} from "./part{next}";

/** Part {number}. */
export async function helper{number}(name: string): Promise<string> {{
  const response = await fetch(`https://example.com/${{name}}`);
  if (!response.ok) {{
    throw new Error(`{number}: ${{response.statusText}}`);
  }}
  return (await response.text()) + (await helper{next}(name));
}}
"""
"""A module that has nothing to do with sandboxes."""
PROBE = (
    "import time; start = time.process_time(); import sys; from components.cli import main; "
    "code = main(['check', '--today', '2026-11-16', '--format', 'json', sys.argv[1]]); "
    "print(code, time.process_time() - start, file=sys.stderr)"
)


def make(folder: Path, files: int, every: int = 1) -> None:
    """Write a project whose entry reaches every other module, of which each so-and-so-manieth uses a sandbox."""
    modules = files - len(SOUND) - 1
    parts = {
        f"src/part{n}.ts": (OTHER if n % every else MODULE).format(number=n, next=(n + 1) % modules)
        for n in range(modules)
    }
    entry = SOUND["src/index.ts"] + 'import "./part0";\n'
    for name, text in {**SOUND, **parts, "src/index.ts": entry, "wrangler.jsonc": config()}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def seconds(folder: Path, tries: int) -> float:
    """Return the least processor time of several runs, from the first import to the answer."""
    best = float("inf")
    for _ in range(tries):
        argv = [sys.executable, "-c", PROBE, str(folder)]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
        code, taken = done.stderr.split()
        if code != "0":
            raise RuntimeError(done.stdout)
        best = min(best, float(taken))
    return best


def measured(files: int, tries: int = 5, every: int = 1) -> float:
    """Make a project and measure it."""
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), files, every)
        return seconds(Path(name), tries)


if __name__ == "__main__":
    loopback.enforce()
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, nargs="+", default=[10, 100, 1_000])
    for count in parser.parse_args().files:
        few, all_ = measured(count, every=50), measured(count)
        sys.stdout.write(f"{count:>6} files  {few:.3f} s if few use a sandbox, {all_:.3f} s if all do\n")
