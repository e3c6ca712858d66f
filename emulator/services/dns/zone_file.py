"""Records as a zone file (BIND's format) and back; pure.

Written is every record with its full name. Read are the types that have one line of plain content; directives other
than $ORIGIN and $TTL, and records of the zone itself that Cloudflare makes (SOA, NS at the top), are passed over.
"""

import re
import shlex
from typing import Any

from . import errors
from .records import DATA_FIELDS, PLAIN_TYPES

Record = dict[str, Any]

_AUTOMATIC = 300
_TTL = re.compile(r"\d{1,9}")
_COMMENT = re.compile(r"""((?:[^;"]|"[^"]*")*)(;.*)?""", re.DOTALL)
_HOSTS = ("CNAME", "MX", "NS", "PTR")


def write(zone_name: str, records: list[Record]) -> str:
    """The zone file of a zone."""
    lines = [f";; Domain: {zone_name}.", f"$ORIGIN {zone_name}.", ""]
    for record in sorted(records, key=lambda each: (each["type"], each["name"], each["content"])):
        ttl = 1 if record["ttl"] == 1 else int(record["ttl"])
        note = f" ; cf_tags=cf-proxied:{'true' if record['proxied'] else 'false'}"
        lines.append(f"{record['name']}.\t{ttl}\tIN\t{record['type']}\t{_content(record)}{note}")
    return "\n".join(lines) + "\n"


def _content(record: Record) -> str:
    content = str(record["content"])
    if record["type"] == "TXT":
        return content if content.startswith('"') else '"' + content.replace('"', '\\"') + '"'
    if record["type"] in _HOSTS:
        content = f"{content.rstrip('.')}."
    return f"{record['priority']} {content}" if "priority" in record and record["type"] == "MX" else content


def read(zone_name: str, text: str, *, proxied: bool) -> list[Record]:
    """The records of a zone file; proxied, those that can be, when asked for or when the file says so."""
    origin, ttl, name = zone_name, _AUTOMATIC, zone_name
    found: list[Record] = []
    for number, line in enumerate(text.splitlines(), 1):
        split = _COMMENT.fullmatch(line)
        body, note = split.groups() if split else (line, "")
        words = _words(body, number)
        if not words:
            continue
        if words[0] in ("$ORIGIN", "$TTL"):
            origin, ttl = (words[1].rstrip("."), ttl) if words[0] == "$ORIGIN" else (origin, int(words[1]))
            continue
        if not body[0].isspace():
            name = _full(words.pop(0), origin)
        record = _record(name, words, ttl, number)
        if record is not None and not (record["type"] in ("NS", "SOA") and name == zone_name):
            tagged = "cf-proxied:true" in (note or "")
            record["proxied"] = (proxied or tagged) and record["type"] in ("A", "AAAA", "CNAME")
            found.append(record)
    return found


def _words(body: str, number: int) -> list[str]:
    lexer = shlex.shlex(body, posix=False, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError as error:
        raise errors.BAD_ZONE_FILE(line=number, problem="a quotation mark is not closed") from error


def _full(name: str, origin: str) -> str:
    if name == "@":
        return origin
    return name.rstrip(".") if name.endswith(".") else f"{name}.{origin}"


def _record(name: str, words: list[str], ttl: int, number: int) -> Record | None:
    while words and (words[0].upper() == "IN" or _TTL.fullmatch(words[0])):
        word = words.pop(0)
        ttl = int(word) if _TTL.fullmatch(word) else ttl
    if len(words) < 2:
        raise errors.BAD_ZONE_FILE(line=number, problem="a record needs a type and a content")
    kind, *content = words
    kind = kind.upper()
    if kind == "SOA":
        return None
    if kind in DATA_FIELDS or kind not in PLAIN_TYPES:
        raise errors.BAD_ZONE_FILE(line=number, problem=f"records of type {kind} are not read in the emulator")
    record: Record = {"name": name, "type": kind, "ttl": ttl}
    if kind == "MX":
        if not content[0].isdigit():
            raise errors.BAD_ZONE_FILE(line=number, problem="an MX record needs a priority")
        record["priority"] = int(content.pop(0))
    text = " ".join(content)
    return {**record, "content": text.rstrip(".") if kind in _HOSTS else text}
