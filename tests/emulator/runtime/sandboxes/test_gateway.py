"""Whose containers a connection of an entry module reaches: those of its own namespace."""

import asyncio
import json

import pytest

from emulator.runtime.sandboxes.sandbox import Key, Sandbox
from emulator.runtime.sandboxes.secret import Secrets
from emulator.runtime.sandboxes.streams import Streams

pytestmark = pytest.mark.workerd

OBJECT = "0" * 64


class _Asked:
    """Takes down whose sandbox was looked for."""

    def __init__(self) -> None:
        self.keys: list[Key] = []

    def find(self, key: Key) -> Sandbox | None:
        self.keys.append(key)
        return None


@pytest.mark.parametrize(("namespace", "account"), [("other", "mine"), ("own", "theirs")])
def test_a_secret_opens_one_namespace_of_one_account(namespace: str, account: str):
    secrets, asked = Secrets(), _Asked()

    async def connect(target: str, of: str) -> None:
        line = {"secret": secrets.of("mine", "own"), "account": of, "target": f"{target}/{OBJECT}", "port": 1}
        reader, writer = await asyncio.open_connection(*address.split(":"))
        writer.write(json.dumps(line).encode() + b"\n")
        await reader.read()
        writer.close()

    async def try_both() -> None:
        nonlocal address
        streams = Streams(asked, secrets)  # type: ignore[arg-type]
        address = await streams.address()
        await connect(namespace, account)
        assert asked.keys == []
        await connect("own", "mine")
        await streams.stop()

    address = ""
    asyncio.run(try_both())
    assert asked.keys == [Key("mine", "own", OBJECT)]
