"""Findings as text, JSON, SARIF 2.1.0 and GitHub annotations."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from ..rules import ADVISORY, MANDATORY, NOTE, Finding, rules

_LEVELS: Final = {MANDATORY: "error", ADVISORY: "warning", NOTE: "note"}
_ANNOTATIONS: Final = {**_LEVELS, NOTE: "notice"}
_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def split(where: str) -> tuple[str, int]:
    """Divide `file:line`; a place without a line is on line 1."""
    name, colon, line = where.rpartition(":")
    return (name, int(line)) if colon and line.isdigit() else (where, 1)


def as_text(findings: list[Finding], projects: int) -> str:
    """Say everything, the mandatory first within each file as they come."""
    parts = [f"{finding.severity}: {finding.text()}" for finding in findings]
    mandatory, advisory = (sum(each.severity == level for each in findings) for level in (MANDATORY, ADVISORY))
    counted = f"{projects} {'project' if projects == 1 else 'projects'}"
    parts.append(f"{counted}: {mandatory} mandatory, {advisory} advisory findings")
    return "\n".join(parts) + "\n"


def as_json(findings: list[Finding], projects: int) -> str:
    """Return the findings as they are."""
    return json.dumps({"projects": projects, "findings": [vars(each) for each in findings]}, indent=2) + "\n"


def as_sarif(findings: list[Finding], projects: int) -> str:  # noqa: ARG001 - all formats are called alike
    """Return a SARIF log, as code scanning reads it."""
    known = {each.id: each for each in rules()}
    used = list(dict.fromkeys(finding.rule for finding in findings))
    descriptions = [
        {
            "id": name,
            "shortDescription": {
                "text": known[name].title if name in known else "What is checked can be read and told"
            },
            "helpUri": next(finding.link for finding in findings if finding.rule == name),
        }
        for name in used
    ]
    run = {
        "tool": {"driver": {"name": "pulumi-cloudflare-sandbox", "rules": descriptions}},
        "results": [_result(finding, used) for finding in findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding, used: list[str]) -> dict[str, Any]:
    name, line = split(finding.where)
    place = {"artifactLocation": {"uri": quote(name, errors="replace")}, "region": {"startLine": line}}
    return {
        "ruleId": finding.rule,
        "ruleIndex": used.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.what}. {finding.why} {finding.remedy}"},
        "locations": [{"physicalLocation": place}],
    }


def as_github(findings: list[Finding], projects: int) -> str:  # noqa: ARG001 - all formats are called alike
    """Return workflow commands that annotate the files of a pull request."""
    lines = []
    for finding in findings:
        name, line = split(finding.where)
        properties = f"file={_property(name)},line={line},title={_property(finding.rule)}"
        message = _message(f"{finding.what}. {finding.why} {finding.remedy}")
        lines.append(f"::{_ANNOTATIONS[finding.severity]} {properties}::{message}\n")
    return "".join(lines)


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Final[Mapping[str, Callable[[list[Finding], int], str]]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
