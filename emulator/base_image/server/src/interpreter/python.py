"""Runs Python for the interpreter: with IPython where it is installed, else by hand.

Requests and replies are lines of JSON on descriptor 3; what code prints goes to the process's own streams, each run's
output followed by the mark that its request names.
"""

# Images may have a Python that does not know `X | None` yet.
from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import importlib.util
import io
import json
import os
import socket
import sys
import traceback
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

FIELDS = {
    "text/plain": "text",
    "text/html": "html",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/svg+xml": "svg",
    "text/latex": "latex",
    "text/markdown": "markdown",
    "application/javascript": "javascript",
    "application/json": "json",
}
METHODS = {
    "_repr_html_": "text/html",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_latex_": "text/latex",
    "_repr_markdown_": "text/markdown",
    "_repr_javascript_": "application/javascript",
    "_repr_json_": "application/json",
}

outputs: list[dict[str, Any]] = []


def show(data: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Add a result, given by MIME type."""
    fields: dict[str, Any] = {}
    for kind, value in data.items():
        if kind in FIELDS:
            fields[FIELDS[kind]] = base64.b64encode(value).decode() if isinstance(value, bytes) else value
    if fields:
        outputs.append({**fields, "metadata": dict(metadata or {})})


def failure(error: BaseException, lines: list[str] | None = None) -> dict[str, Any]:
    """Describe an exception."""
    told = lines if lines is not None else traceback.format_exception(type(error), error, error.__traceback__)
    return {"type": type(error).__name__, "message": str(error), "traceback": told}


class Runner(Protocol):
    """Runs code; says what went wrong."""

    def run(self, code: str) -> dict[str, Any] | None:
        """Run code whose names last."""


class Plain:
    """Runs code by hand: the value of a last expression is a result."""

    def __init__(self) -> None:
        os.environ.setdefault("MPLBACKEND", "Agg")
        warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)
        self.names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "display": self.display}

    def display(self, *values: object) -> None:
        """Show values as well as they know how."""
        for value in values:
            data = {"text/plain": repr(value)}
            for method, kind in METHODS.items():
                found = getattr(value, method, None)
                made = found() if callable(found) and not isinstance(value, type) else None
                if made is not None:
                    data[kind] = made[0] if isinstance(made, tuple) else made
            show(data)

    def figures(self) -> None:
        """Show and close the figures that were drawn."""
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums() if pyplot else ():
            image = io.BytesIO()
            pyplot.figure(number).savefig(image, format="png", bbox_inches="tight")
            pyplot.close(number)
            show({"image/png": image.getvalue(), "text/plain": "<Figure>"})

    def run(self, code: str) -> dict[str, Any] | None:
        """Run code; the error if it fails, also if it wants to leave."""
        try:
            tree = ast.parse(code, "<code>")
            last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            if last is not None:
                tree.body.pop()
            exec(compile(tree, "<code>", "exec"), self.names)  # noqa: S102 - what this program is for
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<code>", "eval"), self.names)  # noqa: S307 - as above
                if value is not None:
                    self.names["_"] = value
                    self.display(value)
            self.figures()
        except BaseException as error:  # noqa: BLE001 - told to the caller
            return failure(error)
        return None


def rich() -> Runner:
    """Make a runner on IPython."""
    from IPython.core.displayhook import DisplayHook  # type: ignore[import-not-found] # noqa: PLC0415
    from IPython.core.displaypub import DisplayPublisher  # type: ignore[import-not-found] # noqa: PLC0415
    from IPython.core.interactiveshell import InteractiveShell  # type: ignore[import-not-found] # noqa: PLC0415
    from traitlets.config import Config  # type: ignore[import-not-found] # noqa: PLC0415

    class Hook(DisplayHook):  # type: ignore[misc]
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
            show(format_dict, md_dict)

        def finish_displayhook(self) -> None:
            pass

    class Publisher(DisplayPublisher):  # type: ignore[misc]
        def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, **_: object) -> None:
            show(data, metadata)

    class Shell(InteractiveShell):  # type: ignore[misc]
        told: list[str] | None = None

        def _showtraceback(self, _kind: type, _error: BaseException, stb: list[str]) -> None:
            self.told = list(stb)

        def enable_gui(self, gui: str | None = None) -> None:
            pass

        def run(self, code: str) -> dict[str, Any] | None:
            self.told = None
            result = self.run_cell(code, store_history=False)
            error = result.error_before_exec or result.error_in_exec
            return failure(error, self.told) if error else None

    # Figures are shown at the end of a run, as notebooks do.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.displayhook_class = Hook
    config.InteractiveShell.display_pub_class = Publisher
    config.InteractiveShell.banner1 = ""
    Shell.displayhook_class = Hook
    Shell.display_pub_class = Publisher
    made: Runner = Shell.instance(config=config)
    return made


def main() -> None:
    """Answer requests until the channel closes."""
    os.set_inheritable(3, False)
    channel = socket.socket(fileno=3).makefile("rw", encoding="utf-8", newline="\n")
    runner: Runner = rich() if importlib.util.find_spec("IPython") else Plain()
    sys.path.insert(0, "")

    def reply(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message, default=str) + "\n")
        channel.flush()

    reply({"status": "ready"})
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            line = channel.readline()
            if not line:
                return
            request = json.loads(line)
            outputs.clear()
            try:
                error = runner.run(request["code"])
            except BaseException as crash:  # noqa: BLE001 - told to the caller
                error = failure(crash)
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            for descriptor in (1, 2):
                os.write(descriptor, request["mark"].encode())
            reply({"executionId": request["executionId"], "success": error is None, "outputs": outputs, "error": error})


main()
