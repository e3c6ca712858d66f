"""Property names in the three spellings that meet here: programs in Python, Pulumi's protocol, Cloudflare's API."""

import re


def snake(name: str) -> str:
    """Turn `className` into `class_name`."""
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)


def camel(name: str) -> str:
    """Turn `class_name` into `className`."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def type_of(urn: str) -> str:
    """Return the type token of a resource, without those of its parents."""
    return urn.split("::")[2].rpartition("$")[2]


def path(*parts: str | int) -> str:
    """Join parts to a property path as Pulumi writes it."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z_]\w*", part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text
