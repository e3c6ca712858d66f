"""The fidelity table of `docs/emulator.md`, made from the declared operations.

One section per service, one row per operation: how faithful it is, what is missing, and where it is known from.
"""

from .registry import API, Service


def fidelity_table(services: list[Service]) -> str:
    """Markdown, ending in a newline."""
    parts = []
    for service in services:
        operations = [operation for operation in service.operations if operation.base == API]
        if not operations and not service.mounted:
            continue
        parts += [
            f"### {service.name}",
            "",
            f"Known from: {service.source} ({service.date}).",
            "",
            "| Operation | Fidelity | Permission | Note |",
            "|---|---|---|---|",
        ]
        for operation in sorted(operations, key=lambda operation: (operation.path, operation.method)):
            note = operation.note
            if operation.source != service.source:
                note = f"{note} [{operation.source}]".strip()
            needs = " or ".join(operation.needs) or "any token"
            parts.append(f"| `{operation.method} {operation.path}` | {operation.fidelity} | {needs} | {note} |")
        parts += [
            f"| `{row.method} {row.path}` | {row.fidelity} | {row.needs} | {row.note} |" for row in service.mounted
        ]
        parts.append("")
    return "\n".join(parts)
