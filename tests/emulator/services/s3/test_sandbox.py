"""R2's endpoint as a hostile sandbox sees it: by HTTPS under its own name, for signed requests, and nothing else."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from tests.emulator.runtime.egress.stage import Box, Boxes
from tests.emulator.services.s3.client import Client, minted
from tools.paths import cache_root
from tools.setup import toolchain

pytestmark = pytest.mark.workerd
DENIED = "AccessDenied 403"
MISMATCH = "SignatureDoesNotMatch 403"


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boxes]:
    tools, folder, layers = toolchain.load(), tmp_path_factory.mktemp("s3") / "state", cache_root() / "layers"
    with running(folder, packages=PACKAGES, node=tools.node, containers=tools.containers, layers=layers) as emulator:
        stage = Stage(Control(emulator))
        made = Boxes(stage)
        made.deploy(tools)
        for name in ("tenants", "others"):
            stage.raw.api("POST", f"/accounts/{stage.account}/r2/buckets", json={"name": name}).raise_for_status()
        yield made
        stage.raw.http.close()
        stage.http.close()


@pytest.fixture(scope="module")
def owner(boxes: Boxes) -> Client:
    """Who signs what sandboxes get."""
    made = minted(boxes.stage.raw, boxes.stage.account, {"tenants": "Write"})
    for tenant in ("a", "b"):
        made.ask("PUT", f"/tenants/{tenant}/secret", tenant.encode())
    return made


@pytest.fixture(scope="module")
def box(boxes: Boxes) -> Iterator[Box]:
    with boxes.box("hostile", internet=True) as made:
        yield made


def came(box: Box, target: str, options: str = "", host: str = "") -> str:
    """What came of a request: the content, or name and status of a refusal."""
    said = box.curl(f"--path-as-is --write-out ' %{{http_code}}' {options} 'https://{host}{target}'")
    assert said.code == 0, said.err
    content, _, status = said.out.rpartition(" ")
    found = re.search(r"<Code>(\w+)</Code>", content)
    return f"{found[1]} {status}" if found else content


def test_an_address_that_was_signed_does_its_one_thing(box: Box, owner: Client):
    put, get = owner.presigned("PUT", "/tenants/a/new"), owner.presigned("GET", "/tenants/a/new")
    box.run("echo -n content > upload")
    assert came(box, put, "-T upload", owner.host) == ""
    assert came(box, get, "-r 3-", owner.host) == "tent"
    node = f"fetch('https://{owner.host}{get}').then((r) => r.text()).then(console.log)"
    assert box.run(f'node -e "{node}"').out == "content\n"


@pytest.mark.parametrize(
    "change",
    [
        ("/tenants/a/", "/tenants/b/"),
        ("/tenants/a/", "/tenants/a/../b/"),
        ("/tenants/a/", "/tenants/a/%2e%2e/b/"),
        ("/tenants/a/", "/tenants//b/"),
        ("/tenants/", "/others/"),
        ("/tenants/a/secret?", "/tenants?prefix=b&"),
        ("X-Amz-Expires=60", "X-Amz-Expires=604800"),
        ("X-Amz-Credential=", "X-Amz-Credential=0"),
        ("X-Amz-Signature=", "uploads=&X-Amz-Signature="),
    ],
)
def test_it_is_good_for_no_other_object(box: Box, owner: Client, change: tuple[str, str]):
    address = owner.presigned("GET", "/tenants/a/secret", expires=60).replace(*change, 1)
    assert came(box, address, host=owner.host) in (MISMATCH, "InvalidArgument 400")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("-X PUT -d x", MISMATCH),
        ("-X DELETE", MISMATCH),
        ("-X POST", MISMATCH),
        ("-H 'x-amz-copy-source: /tenants/b/secret'", DENIED),
        ("-H 'x-amz-meta-x: y'", DENIED),
        ("-H 'x-emulator-key: x'", "a"),  # which the emulator does not take from a sandbox
        ("-H 'authorization: Bearer x'", "InvalidArgument 400"),
    ],
)
def test_it_does_no_other_thing(box: Box, owner: Client, options: str, wanted: str):
    assert came(box, owner.presigned("GET", "/tenants/a/secret"), options, owner.host) == wanted
    assert owner.ask("GET", "/tenants/a/secret").content == b"a"


def test_it_expires(box: Box, owner: Client):
    old = datetime.now(UTC) - timedelta(minutes=2)
    address = owner.presigned("GET", "/tenants/a/secret", expires=60, now=old)
    assert came(box, address, host=owner.host) == "ExpiredRequest 400"


def test_a_key_for_one_prefix_opens_no_other(box: Box, boxes: Boxes, owner: Client):
    """As a Worker would give one to a sandbox that is to use S3 itself."""
    body = {"bucket": "tenants", "parentAccessKeyId": owner.key, "permission": "object-read-write", "ttlSeconds": 600}
    path = f"/accounts/{boxes.stage.account}/r2/temp-access-credentials"
    made = boxes.stage.raw.api("POST", path, json={**body, "prefixes": ["a/"]}).json()["result"]
    key = f"--user {made['accessKeyId']}:{made['secretAccessKey']} -H 'x-amz-security-token: {made['sessionToken']}'"
    signed = f"--aws-sigv4 aws:amz:auto:s3 -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' {key}"
    assert came(box, "/tenants/a/secret", signed, owner.host) == "a"
    for target in ("/tenants/b/secret", "/tenants/a/../b/secret", "/others/x", "/tenants/?list-type=2", "/"):
        assert came(box, target, signed, owner.host) in (DENIED, MISMATCH, "NoSuchKey 404"), target


def test_nothing_else_of_this_machine_is_behind_that_address(box: Box, boxes: Boxes, owner: Client):
    token = f"-H 'authorization: Bearer {boxes.stage.emulator.token}'"
    assert came(box, "/client/v4/accounts", token, owner.host) == "AuthorizationHeaderMalformed 400"
    for host in ("127.0.0.1", "localhost", "boxes.localhost", "r2.cloudflarestorage.com", "x.example.com"):
        said = box.curl(f"{token} -H 'host: {host}' https://{owner.host}/client/v4/accounts")
        assert said.out == "There is no such host here.\n", host
    assert box.curl(f"http://{owner.host}/ --max-time 2").code != 0
    port = boxes.stage.emulator.origin.rpartition(":")[2]
    assert box.curl(f"http://{owner.host}:{port}/ --max-time 2").code != 0


def test_its_certificate_vouches_for_nothing_else(box: Box, owner: Client):
    address = box.run(f"getent hosts {owner.host}").out.split()[0]
    said = box.curl(f"--resolve example.com:443:{address} https://example.com/")
    assert (said.code, "no alternative certificate subject name" in said.err) == (60, True)
    facts = box.run("openssl x509 -noout -ext basicConstraints,subjectAltName -in $NODE_EXTRA_CA_CERTS").out
    assert "CA:FALSE" in facts
    assert set(re.findall(r"DNS:(\S+?)(?:,|\s)", facts)) == {
        "*.r2.cloudflarestorage.com",
        *(f"*.{each}.r2.cloudflarestorage.com" for each in ("eu", "us", "fedramp", "fedramp-high")),
    }


def test_without_internet_there_is_none(boxes: Boxes, owner: Client):
    with boxes.box("closed", internet=False) as box:
        assert box.curl(f"https://{owner.host}/").code == 6
        assert (
            box.curl(f"--insecure --resolve {owner.host}:443:198.18.2.1 https://{owner.host}/ --max-time 2").code != 0
        )
        assert "r2" not in box.run("ls /usr/local/share/ca-certificates").out
