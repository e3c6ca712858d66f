"""What nobody can reach any more leaves the disk soon after the next start, and nothing else does."""

import time
from pathlib import Path
from typing import Any

from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.workers_upload import Uploads, parts

KINDS = ("worker_asset", "worker_asset_session", "worker_tail")


def blobs(folder: Path) -> int:
    return len([path for path in (folder / "blobs").glob("??/*") if path.is_file()])


def send_asset(uploads: Uploads, script: str, name: str) -> Any:
    """Upload one asset; the token that completes the session."""
    manifest = {"/a.html": {"hash": name, "size": 1}}
    session = uploads.post(f"scripts/{script}/assets-upload-session", {"manifest": manifest})
    sent = uploads.raw.api(
        "POST",
        f"{uploads.base}/assets/upload?base64=true",
        files=[(name, (name, "eA==", "text/html"))],
        headers={"authorization": f"Bearer {session['jwt']}"},
    )
    return sent.json()["result"]["jwt"]


def test_a_sweep_removes_what_nobody_can_reach(tmp_path: Path):
    with running(tmp_path) as first:
        uploads = Uploads(Control(first))
        for number in range(30):
            uploads.put("gone", f"export default {{ fetch() {{ return new Response('{number}') }} }};")
        uploads.raw.api("DELETE", f"{uploads.base}/scripts/gone")
        send_asset(uploads, "never", "b" * 32)
        uploads.put("kept", "export default { kept() {} };", assets={"jwt": send_asset(uploads, "kept", "a" * 32)})
        uploads.post("scripts/kept/tails", {})
        uploads.raw.advance(7 * 3600)
        manifest = {"/c.html": {"hash": "c" * 32, "size": 1}}
        open_session = uploads.post("scripts/kept/assets-upload-session", {"manifest": manifest})
        assert blobs(tmp_path) == 30 + 2
    with running(tmp_path) as second:
        uploads = Uploads(Control(second))
        until = time.monotonic() + 60
        while blobs(tmp_path) > 2 and time.monotonic() < until:
            time.sleep(0.05)
        # The kept script and its asset; the asset that came for nothing was of the same content.
        assert blobs(tmp_path) == 2
        kinds = uploads.raw.control("GET", "/state")["kinds"]
        assert [kinds.get(kind, 0) for kind in KINDS] == [1, 1, 0]
        assert "kept()" in uploads.raw.api("GET", f"{uploads.base}/scripts/kept").text
        assert uploads.refused("kept", assets={"jwt": open_session["jwt"]})[1].endswith("is not complete")


def test_a_sweep_at_any_time_leaves_what_is_in_use(tmp_path: Path):
    with running(tmp_path) as emulator:
        uploads = Uploads(Control(emulator))
        token = send_asset(uploads, "one", "a" * 32)
        uploads.raw.api("PUT", f"{uploads.base}/scripts/two", files=parts({"assets": {"jwt": token}}))
        uploads.raw.api("DELETE", f"{uploads.base}/scripts/one")
        emulator.loop.call_soon_threadsafe(emulator.state.sweep)
        assert len(uploads.get("scripts")) == 1
        assert blobs(tmp_path) == 2
        uploads.put("two", keep_assets=True)
        assert uploads.get("workers/two/versions")[0]["assets"] == {"config": {}}
