"""The bridged SDK in parts is the same as the whole, whoever imports it first."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHAPE = "{n: type(v).__name__ for n, v in vars(sdk).items() if not n.startswith('__')}"
PARTS = "from components import bridged; parts = {name: getattr(bridged, name) for name in bridged.__all__}"
WHOLE = "import pulumi_cloudflare as sdk"


def run(program: str) -> object:
    argv = [sys.executable, "-W", "ignore", "-c", f"import json, sys\n{program}"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def whole() -> object:
    return run(f"{WHOLE}; print(json.dumps({SHAPE}))")


def test_nothing_is_loaded_before_a_name_is_asked_for():
    assert run("from components import bridged; print(json.dumps('pulumi_cloudflare' in sys.modules))") is False


def test_only_the_modules_asked_for_are_loaded():
    loaded = "[n for n in sys.modules if n.startswith('pulumi_cloudflare.')]"
    program = "from components import bridged; bridged.R2Bucket"
    assert run(f"{program}; print(json.dumps(sorted({loaded})))") == [
        "pulumi_cloudflare._utilities",
        "pulumi_cloudflare.r2_bucket",
    ]


@pytest.mark.parametrize(
    "imports",
    [
        "from pulumi_cloudflare import *; assert callable(get_zone); import pulumi_cloudflare as sdk",
        "import pulumi_cloudflare.get_zone; import pulumi_cloudflare as sdk; assert callable(sdk.get_zone)",
        "import pulumi_cloudflare as sdk; assert 'Zone' in dir(sdk)",
        "import pulumi_cloudflare as sdk; sdk.config; sdk.outputs.R2BucketLifecycleRule",
    ],
)
def test_who_imports_the_package_later_gets_the_whole(imports: str, whole: object):
    assert run(f"{PARTS}\n{imports}\nprint(json.dumps({SHAPE}))") == whole


@pytest.mark.parametrize("order", [f"{PARTS}; {WHOLE}", f"{WHOLE}; {PARTS}"])
def test_classes_are_the_same_and_known_to_the_engine(order: str):
    known = "from pulumi.runtime import rpc; known = len(rpc._RESOURCE_MODULES) > 300"
    same = "all(getattr(sdk, name) is part for name, part in parts.items())"
    assert run(f"{order}; same = {same}; {known}; print(json.dumps([known, same]))") == [True, True]


def test_looking_at_loaded_modules_does_not_load_more():
    looks = "[getattr(m, '__warningregistry__', None) for m in list(sys.modules.values())]"
    program = f"{PARTS}; {looks}; print(json.dumps('pulumi_cloudflare.zone' in sys.modules))"
    assert run(program) is False


def test_names_are_listed():
    program = """
from components import bridged
try:
    bridged.Zone
except AttributeError as error:
    print(json.dumps(str(error)))"""
    assert run(program) == "module 'components.bridged' has no attribute 'Zone'; list it there to use it"


def test_importing_components_does_not_import_the_sdk():
    program = "import components.access, components.domain, components.storage, components.worker"
    assert run(f"{program}; print(json.dumps('pulumi_cloudflare' in sys.modules))") is False
