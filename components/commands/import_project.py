"""The command `import`: a Pulumi project that takes over what wrangler deployed, and a report of what changes.

It says no when something would be lost and is not allowed to be. Nothing is written then.
"""

import argparse
import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from ..account.reader import Account, AccountError, account, asked
from ..errors import reading_or_writing, visible
from ..init import origin
from ..init.plan import INSTALL, program
from ..platform import api
from ..wrangler import report
from ..wrangler.conversion import Converted, Surroundings, accepting, converted
from ..wrangler.document import read_jsonc
from ..wrangler.environment import Environment
from ..wrangler.live import CODE, CONFIGURATION, configuration
from ..wrangler.project import Found, ProjectError, find, is_inside, leads_out, stack_name, write
from ..wrangler.stack_file import stack_file
from .exits import Exit
from .formats import JSON, add_format, as_json
from .terminal import is_terminal

Files = dict[str, str | bytes]
"""Contents by path; bytes are code, which nobody wants to read in a dry run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("project", nargs="?", default=".", help="folder of the wrangler project, or its configuration")
    parser.add_argument("--env", default="", metavar="NAME", help="environment; the top level if left out")
    parser.add_argument("--into", metavar="FOLDER", help="the project's own folder (if left out), or one above it")
    parser.add_argument("--stack", metavar="NAME", help="name of the Pulumi stack; that of the environment if left out")
    parser.add_argument("--sdk-version", metavar="VERSION", help="version of the Sandbox SDK, if no lock file tells")
    parser.add_argument("--allow-loss", action="append", default=[], metavar="NAME", help="give this up; repeatable")
    parser.add_argument("--offline", action="store_true", help="do not ask the account for ids of routes and the like")
    parser.add_argument("--new", action="store_true", help="nothing has been deployed yet: routes are made, not kept")
    parser.add_argument(
        "--account", action="store_true", help="list the account's Workers with containers, to choose one"
    )
    parser.add_argument("--script", metavar="NAME", help="download this Worker of the account into the folder first")
    parser.add_argument("--dry-run", action="store_true", help="show the files and the report, and write nothing")
    add_format(parser, help="how the report is printed")
    parser.epilog = (
        "The account is asked, and only read, if CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN are set. Secrets are "
        "never read: those that the settings name are to be given with `pulumi config set --secret`."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    if arguments.account and not arguments.script:
        arguments.script = _chosen(arguments.format)
        if not arguments.script:
            return Exit.DONE
    return _import(arguments)


def _import(arguments: argparse.Namespace) -> Exit:
    found, code = _downloaded(arguments) if arguments.script else (find(Path(arguments.project)), {})
    said = found.environment(arguments.env)
    with reading_or_writing(arguments.into or found.path, "name the folder of the wrangler project, or one above it"):
        home = found.path.parent.resolve()
        into = Path(arguments.into).resolve() if arguments.into else home
    if not home.is_relative_to(into):
        raise ProjectError(f"--into {arguments.into}: name the folder of the wrangler project, or one above it")
    made = accepting(converted(said, _around(arguments, found, said, home, into)), datetime.now(UTC).date())
    stack = stack_name(arguments.stack or arguments.env or "production")
    files: Files = {**code, **program(made.document["name"], origin.requirement())}
    files[f"Pulumi.{stack}.yaml"] = stack_file(made.document, found.document.name)
    lost = [each for each in made.report if each.kind == "lost" and each.name not in arguments.allow_loss]
    if not lost and not arguments.dry_run:
        write(into, files)
    _show(arguments, made, files, stack, None if lost else into)
    return Exit.NO if lost else Exit.DONE


def _downloaded(arguments: argparse.Namespace) -> tuple[Found, Files]:
    """Return a live Worker as the wrangler project that it could have come from, and the files of that project."""
    if arguments.into or arguments.env or arguments.offline or arguments.new:
        raise ProjectError("--script: what is downloaded goes with none of --env, --into, --new and --offline")
    script: str = arguments.script
    found = asked(lambda: _named_account().worker(script))
    if found is None:
        raise AccountError(
            f"--script {script}: the account has no such Worker; `sandbox-stack import --account` lists them"
        )
    live, modules = found
    text = f"{json.dumps(configuration(live), indent=2, ensure_ascii=False)}\n"
    files: Files = {CONFIGURATION: text, **{f"{CODE}/{name}": content for name, content in modules.items()}}
    if led_out := [name for name in files if ".." in PurePosixPath(name).parts or not name.isprintable()]:
        raise AccountError(f"--script {script}: the module {led_out[0]!r} has a name that no file should have")
    return Found(Path(arguments.project) / CONFIGURATION, read_jsonc(CONFIGURATION, text), None), files


def _around(arguments: argparse.Namespace, found: Found, said: Environment, home: Path, into: Path) -> Surroundings:
    way = home.relative_to(into).as_posix()
    live = None if arguments.offline else account(os.environ, said.get("account_id", str))
    script, routes = said.script_name or "", said.said("routes") or said.said("route") or []
    listed = routes if isinstance(routes, list) else [routes]
    patterns = [each.get("pattern") if isinstance(each, dict) else each for each in listed]
    return Surroundings(
        is_file=lambda path: is_inside(into, f"{way}/{path}"),
        leads_out=lambda path: leads_out(into, path),
        prefix="" if way == "." else f"{way}/",
        account_id=os.environ.get(api.ACCOUNT_ID),
        sdk_version=arguments.sdk_version or found.sdk_version,
        titles=asked(live.titles) if live and said.said("kv_namespaces") else {},
        routes=_routes(live, script, [each for each in patterns if isinstance(each, str)]),
        secrets=asked(lambda: live.secrets(script)) if live else frozenset(),
        digest=lambda image: asked(lambda: live.digest(image)) if live else None,
        deployed=not arguments.new,
    )


def _routes(live: Account | None, script: str, patterns: list[str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = asked(lambda: live.routes(script, patterns)) if live and patterns else {}
    return found


def _show(arguments: argparse.Namespace, made: Converted, files: Files, stack: str, into: Path | None) -> None:
    """Show the report, and what follows; without a folder the files are refused."""
    if arguments.format == JSON:
        shown = {
            "written": [] if into is None or arguments.dry_run else sorted(files),
            "settings": made.document,
            "report": report.document(made.report),
        }
        sys.stdout.write(as_json(shown))
        return
    out = [report.text(made.report)]
    if into is None:
        names = " ".join(
            f"--allow-loss {shlex.quote(each.name)}"
            for each in made.report
            if each.kind == "lost" and each.name not in arguments.allow_loss
        )
        out.append(f"Nothing was written. Remove what would be lost from the project, or give it up: {names}\n")
    elif arguments.dry_run:
        out += [f"--- {name}\n{text}" for name, text in files.items() if isinstance(text, str)]
    else:
        secrets = "".join(f"  pulumi config set --secret {name}\n" for name in made.settings.all_secrets)
        there = "" if into == Path.cwd() else f"cd {shlex.quote(str(into))} && "
        following = f"  {there}{INSTALL}\n  pulumi stack init {stack}\n{secrets}  pulumi preview\n"
        out.append(f"Wrote {', '.join(files)}. Next:\n{following}")
    sys.stdout.write(visible("".join(out)))


def _named_account() -> Account:
    live = account()
    if live is None:
        raise AccountError(f"--account: set {api.ACCOUNT_ID} and {api.TOKEN}")
    return live


def _chosen(form: str) -> str:
    """List the classes with containers; return the script that a person at a terminal chose, if there is one."""
    live = _named_account()
    classes = asked(lambda: sorted(live.classes(), key=lambda each: (each.script, each.name)))
    if form == JSON:
        sys.stdout.write(as_json([vars(each) for each in classes]))
        return ""
    rows = [("SCRIPT", "CLASS", "APPLICATION", "POLICY")]
    rows += [(each.script, each.name, each.application, each.policy) for each in classes]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    scripts = {each.script for each in classes}
    if not scripts or not (is_terminal(sys.stdout) and sys.stdin.isatty()):
        return ""
    sys.stdout.write("Script to download and take over (none to end): ")
    sys.stdout.flush()
    wanted = sys.stdin.readline().strip()
    if wanted and wanted not in scripts:
        raise AccountError(f"{wanted} is not in the list")
    return wanted
