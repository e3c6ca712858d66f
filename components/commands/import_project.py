"""The command `import`: a Pulumi project that takes over what wrangler deployed, and a report of what changes.

It says no when something would be lost and is not allowed to be. Nothing is written then.
"""

import argparse
import io
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from ..account.reader import Account, AccountError, account, asked
from ..init import origin
from ..init.plan import INSTALL, requirements
from ..wrangler import pulumi_project, report
from ..wrangler.conversion import ConversionError, Converted, Surroundings, accepting, converted
from ..wrangler.environment import Environment
from ..wrangler.project import Found, ProjectError, find, is_inside, stack_name, write
from .exits import Exit
from .formats import JSON, add_format, as_json


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
    parser.add_argument("--account", action="store_true", help="list the classes with containers that the account has")
    parser.add_argument("--dry-run", action="store_true", help="show the files and the report, and write nothing")
    add_format(parser, help="how the report is printed")
    parser.epilog = (
        "The account is asked, and only read, if CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN are set. Secrets are "
        "never read: those that the settings name are to be given with `pulumi config set --secret`."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and give its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a project may hold what an output cannot show
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if arguments.account:
            return _list(arguments.format)
        return _import(arguments)
    except (ProjectError, ConversionError, AccountError) as error:
        sys.stderr.write(f"{error}\n")
        return Exit.REFUSED


def _import(arguments: argparse.Namespace) -> Exit:
    found = find(Path(arguments.project))
    said = found.environment(arguments.env)
    home = found.path.parent.resolve()
    into = Path(arguments.into).resolve() if arguments.into else home
    if not home.is_relative_to(into):
        raise ProjectError(f"--into {arguments.into}: name the folder of the wrangler project, or one above it")
    made = accepting(converted(said, _around(arguments, found, said, home, into)), datetime.now(UTC).date())
    stack = stack_name(arguments.stack or arguments.env or "production")
    files = pulumi_project.files(made.document, stack, found.document.name, requirements(origin.requirement()))
    lost = [each for each in made.report if each.kind == "lost" and each.name not in arguments.allow_loss]
    if not lost and not arguments.dry_run:
        write(into, files)
    _show(arguments, made, files, stack, None if lost else into)
    return Exit.NO if lost else Exit.DONE


def _around(arguments: argparse.Namespace, found: Found, said: Environment, home: Path, into: Path) -> Surroundings:
    way = home.relative_to(into).as_posix()
    live = None if arguments.offline else account(os.environ, said.get("account_id", str))
    script, routes = said.script_name or "", said.said("routes") or said.said("route") or []
    listed = routes if isinstance(routes, list) else [routes]
    patterns = [each.get("pattern") if isinstance(each, dict) else each for each in listed]
    return Surroundings(
        is_file=lambda path: is_inside(into, f"{way}/{path}"),
        prefix="" if way == "." else f"{way}/",
        account_id=os.environ.get("CLOUDFLARE_ACCOUNT_ID"),
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


def _show(arguments: argparse.Namespace, made: Converted, files: dict[str, str], stack: str, into: Path | None) -> None:
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
        out += [f"--- {name}\n{text}" for name, text in files.items()]
    else:
        secrets = "".join(f"  pulumi config set --secret {name}\n" for name in made.settings.all_secrets)
        there = "" if into == Path.cwd() else f"cd {shlex.quote(str(into))} && "
        following = f"  {there}{INSTALL}\n  pulumi stack init {stack}\n{secrets}  pulumi preview\n"
        out.append(f"Wrote {', '.join(files)}. Next:\n{following}")
    sys.stdout.write("".join(out))


def _list(form: str) -> Exit:
    live = account()
    if live is None:
        raise AccountError("--account: set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN")
    classes = asked(lambda: sorted(live.classes(), key=lambda each: (each.script, each.name)))
    if form == JSON:
        sys.stdout.write(as_json([vars(each) for each in classes]))
        return Exit.DONE
    rows = [("SCRIPT", "CLASS", "APPLICATION", "POLICY")]
    rows += [(each.script, each.name, each.application, each.policy) for each in classes]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    return Exit.DONE
