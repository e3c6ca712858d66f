"""Uploads of Workers for tests, without a client library."""

import json
from typing import Any

MODULE = "application/javascript+module"
PLAIN = "export default { fetch() { return new Response('plain'); } };"


def exporting(*classes: str) -> str:
    """Code that exports Durable Object classes, as a bundler writes it."""
    names = ", ".join((*classes, "index_default as default"))
    bodies = "".join(f"var {each} = class extends DurableObject {{}};\n" for each in classes)
    head = 'import { DurableObject } from "cloudflare:workers";\n'
    return f"{head}{bodies}var index_default = {{ fetch() {{}} }};\nexport {{ {names} }};\n"


def parts(metadata: dict[str, Any], modules: dict[str, str] | None = None) -> list[tuple[str, Any]]:
    """A multipart body; the only module is index.js unless said."""
    files = {"index.js": PLAIN} if modules is None else modules
    given = {"main_module": next(iter(files), "index.js"), **metadata}
    found: list[tuple[str, Any]] = [("metadata", (None, json.dumps(given), "application/json"))]
    return found + [(name, (name, content, MODULE)) for name, content in files.items()]


class Uploads:
    """Uploads to one account."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.base = f"/accounts/{raw.emulator.account_id}/workers"

    def put(self, name: str, code: str = PLAIN, query: str = "", **metadata: Any) -> Any:
        """Upload a script that must be taken; the result."""
        answer = self.send(name, code, query, **metadata)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def refused(self, name: str, code: str = PLAIN, query: str = "", **metadata: Any) -> tuple[int, str]:
        """Upload a script that must be refused: code and text."""
        answer = self.send(name, code, query, **metadata)
        assert 400 <= answer.status_code < 500, answer.text
        error = answer.json()["errors"][0]
        return error["code"], error["message"]

    def details(self, name: str, code: str, **metadata: Any) -> set[tuple[str, str]]:
        """Upload a script whose exports must be refused: class and scenario of each complaint."""
        error = self.send(name, code, **metadata).json()["errors"][0]
        assert error["code"] == 100402, error
        assert all(each["message"] and each["suggestion"] for each in error["meta"]["details"])
        return {(each["class"], each["scenario"]) for each in error["meta"]["details"]}

    def send(self, name: str, code: str, query: str = "", **metadata: Any) -> Any:
        files = parts(metadata, {"index.js": code})
        return self.raw.api("PUT", f"{self.base}/scripts/{name}?{query}", files=files)

    def post(self, path: str, body: Any) -> Any:
        answer = self.raw.api("POST", f"{self.base}/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def get(self, path: str) -> Any:
        answer = self.raw.api("GET", f"{self.base}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    def classes(self, script: str) -> dict[str, dict[str, Any]]:
        """Namespaces of a script by class."""
        listed = self.get("durable_objects/namespaces?per_page=1000")
        return {each["class"]: each for each in listed if each["script"] == script}
