"""The Worker that `sandbox-stack init` writes for people to go on with: its types are right, and it knows who calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.init.answers import Answers
from components.init.plan import plan
from components.init.writing import write
from testbed.worker_sources import SOURCES, WorkerSources

pytestmark = pytest.mark.engine
HOST = "previews.example"
KEYS = Answers(name="demo", worker="own")
PREVIEWS = Answers(name="demo", worker="own", hostname=HOST, api_hostname=f"api.{HOST}")
ACCESS = Answers(
    **{**vars(PREVIEWS), "callers": "access", "team": "team.cloudflareaccess.com", "people": ("a@b.example",)}
)
ASK_WITH_KEYS = """
import { callerOf } from "./src/callers.ts";

const hash = async (text) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex");
const keys = [
  { id: "a", sha256: await hash("good"), tenant: "team", scopes: ["exec"] },
  { id: "b", sha256: await hash("other"), tenant: "rest", scopes: ["*"], not_after: "2999-01-01T00:00:00Z" },
  { id: "c", sha256: await hash("ended"), tenant: "team", scopes: ["*"], not_after: "2020-01-01T00:00:00Z" },
  { id: "d", sha256: await hash("reader"), tenant: "team", scopes: ["files:read"] },
];
const API_KEYS = JSON.stringify(keys);
const who = (authorization, env = { API_KEYS }) =>
  callerOf(new Request("https://api.example", { headers: authorization ? { authorization } : {} }), env);
const found = {
  good: await who("Bearer good"),
  other: await who("Bearer other"),
  ended: await who("Bearer ended"),
  reader: await who("Bearer reader"),
  unknown: await who("Bearer unknown"),
  hash: await who(`Bearer ${keys[0].sha256}`),
  basic: await who("Basic good"),
  nothing: await who(""),
  unset: await who("Bearer good", {}),
};
console.log(JSON.stringify(found));
"""
ASK_WITH_ACCESS = """
import { sign } from "hono/jwt";
import { callerOf } from "./src/callers.ts";

const made = async () => {
  const size = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const how = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ...size };
  const pair = await crypto.subtle.generateKey(how, true, ["sign", "verify"]);
  const told = { kid: "k", alg: "RS256" };
  const key = async (one) => ({ ...(await crypto.subtle.exportKey("jwk", one)), ...told });
  return { open: await key(pair.publicKey), closed: await key(pair.privateKey) };
};
const team = await made();
const stranger = await made();
const asked = [];
globalThis.fetch = async (address) => {
  asked.push(String(address));
  return Response.json({ keys: [team.open] });
};
const env = { ACCESS_TEAM_DOMAIN: "team.cloudflareaccess.com", ACCESS_AUDIENCES: '["api"]' };
const now = Math.floor(Date.now() / 1000);
const claims = { iss: "https://team.cloudflareaccess.com", aud: ["api"], exp: now + 600, email: "Ada@b.example" };
const request = (token) => new Request("https://x.example", { headers: { "cf-access-jwt-assertion": token } });
const call = (token) => callerOf(request(token), env);
const who = async (change, key = team.closed) => call(await sign({ ...claims, ...change }, key, "RS256"));
const found = {
  good: await who({}),
  same: await who({ email: "ada@B.example" }),
  other: await who({ email: "bob@b.example" }),
  machine: await who({ email: undefined, common_name: "ada@b.example" }),
  audience: await who({ aud: ["another"] }),
  issuer: await who({ iss: "https://other.cloudflareaccess.com" }),
  ended: await who({ exp: now - 600 }),
  endless: await who({ exp: undefined }),
  nobody: await who({ email: undefined }),
  forged: await who({}, stranger.closed),
  garbage: await call("garbage"),
  nothing: await callerOf(new Request("https://x.example"), env),
  asked: [...new Set(asked)],
};
console.log(JSON.stringify(found));
"""


@pytest.fixture
def written(tmp_path: Path):
    """Write a project and give the folder of its Worker, with packages."""

    def write_worker(answers: Answers) -> Path:
        write(tmp_path / "project", plan(answers, "package"))
        folder = tmp_path / "project" / "worker"
        (folder / "node_modules").symlink_to(SOURCES / "node_modules")
        return folder

    return write_worker


@pytest.mark.parametrize("answers", [KEYS, PREVIEWS, ACCESS], ids=["keys", "previews", "access"])
def test_types(answers: Answers, written: Any, worker_sources: WorkerSources):
    compiler = SOURCES / "node_modules" / "typescript" / "bin" / "tsc"
    done = worker_sources.run(compiler, "-p", ".", cwd=written(answers), ok=False)
    assert (done.returncode, done.stdout) == (0, "")


def ask(worker: WorkerSources, folder: Path, program: str) -> dict[str, Any]:
    (folder / "ask.mjs").write_text(program)
    found: dict[str, Any] = json.loads(worker.run(folder / "ask.mjs", cwd=folder).stdout.splitlines()[-1])
    return found


def test_a_key_reaches_the_sandbox_of_its_tenant_and_nobody_else_does(written: Any, worker_sources: WorkerSources):
    found = ask(worker_sources, written(KEYS), ASK_WITH_KEYS)
    sandboxes = {name: found.pop(name) for name in ("good", "other")}
    assert all(len(each) == 40 and set(each) <= set("0123456789abcdef") for each in sandboxes.values())
    assert sandboxes["good"] != sandboxes["other"]
    assert set(found.values()) == {None}


def test_who_passed_access_reaches_a_sandbox_and_nobody_else_does(written: Any, worker_sources: WorkerSources):
    found = ask(worker_sources, written(ACCESS), ASK_WITH_ACCESS)
    assert found.pop("asked") == ["https://team.cloudflareaccess.com/cdn-cgi/access/certs"]
    sandboxes = [found.pop(name) for name in ("good", "same", "other", "machine")]
    assert sandboxes[0] == sandboxes[1]
    assert len(set(sandboxes)) == 3
    assert all(len(each) == 40 for each in sandboxes)
    assert set(found.values()) == {None}
