"""Takes the dashboard's picture for the documentation: `python -m docs.generators.screenshot [file] [scheme]`."""

import sys
import tempfile
from pathlib import Path

from emulator.testing import running
from testbed import loopback
from testbed.browser.chromium import launched
from testbed.browser.install import install
from testbed.emulator.control import Control
from testbed.emulator.populated import Populated
from tools.paths import ROOT


def main(file: Path, scheme: str) -> None:
    """Write the picture of a populated account."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as emulator, launched(install()) as browser:
        raw = Control(emulator)
        Populated(raw)
        raw.fault(operation="queues.list_queues", status=503, times=1)
        for path in ("queues", "workers/scripts/absent"):
            raw.http.get(f"{emulator.url}/accounts/{emulator.account_id}/{path}")
        raw.http.close()
        with browser.page(f"{emulator.origin}/dashboard", width=1600, height=1028, scheme=scheme) as page:
            page.until("document.querySelector('#workers tbody tr')")
            page.evaluate("document.querySelector('#workers details').open = true")
            page.evaluate("document.fonts.ready.then(() => true)")
            page.picture(file)


if __name__ == "__main__":
    loopback.enforce()
    given = sys.argv[1:]
    main(Path(given[0]) if given else ROOT / "docs" / "dashboard.png", given[1] if len(given) > 1 else "light")
