"""What only tests and set-up do with the registry: put images into it without pushing them."""

from pathlib import Path

from emulator.calls import Call, Result
from emulator.schema import fields, flag, items, mapping, number, text
from emulator.store import Document

from . import errors, layouts, stand_in

_FILE = fields({"content": text()}, {"mode": number(least=0, most=0o7777, whole=True)})
SEED = fields(
    {"repository": text(least=1), "tags": items(text(least=1), least=1)},
    {
        "labels": mapping(text()),
        "env": items(text()),
        "entrypoint": items(text()),
        "cmd": items(text()),
        "files": mapping(_FILE),
        "docker": flag(),
    },
)
_LAYOUT = fields({"repository": text(least=1), "folder": text(least=1)}, {})


def seed_image(call: Call, body: Document) -> Document:
    """Put a small image into the registry; outside an account's prefix it is a public mirror of that name."""
    return stand_in.seed(call.state, stand_in.recipe_of(body))


async def take_layout(call: Call) -> Result:
    """Take the images of an OCI image layout on this machine into the registry."""
    await call.read()
    body = call.body(_LAYOUT, errors.INVALID)
    return Result(await layouts.take(call.state, body["repository"], Path(body["folder"])))
