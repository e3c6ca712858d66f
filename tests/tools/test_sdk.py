"""The generated SDKs are those of the schema that is served, and nobody has edited them."""

import json

from components.provider import schema
from tools import sdk


def test_the_sdks_are_current():
    assert json.loads(sdk.MADE.read_text()) == sdk.state(), "run `make sdk`"


def test_they_are_of_the_schema_that_is_served():
    assert sdk.SCHEMA == schema.FILE
    for made in ("nodejs/sandboxStack.ts", "go/cloudflaresandbox/sandboxStack.go"):
        text = (sdk.SDKS / made).read_text()
        assert all(name in text or name[:1].upper() + name[1:] in text for name in inputs()), made


def inputs() -> list[str]:
    return list(json.loads(schema.text())["resources"]["cloudflare-sandbox:index:SandboxStack"]["inputProperties"])
