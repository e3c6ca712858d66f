"""The bridged SDK in parts is the same as the whole, whoever imports it first."""

import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from components.bridged.nested import Nested

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
        "from pulumi_cloudflare.zone import Zone; import pulumi_cloudflare as sdk; assert sdk.Zone is Zone",
    ],
)
def test_who_imports_the_package_later_gets_the_whole(imports: str, whole: object):
    assert run(f"{PARTS}\n{imports}\nprint(json.dumps({SHAPE}))") == whole


@pytest.mark.parametrize("later", ["pulumi_cloudflare.zone", "pulumi_cloudflare._inputs", "pulumi_cloudflare.outputs"])
def test_a_single_module_may_be_imported_before_all_parts_are(later: str, whole: object):
    parts = "same = all(getattr(sdk, name) is part for name, part in parts.items()); assert same"
    program = f"from components import bridged; bridged.R2Bucket; import {later}\n{PARTS}; {WHOLE}; sdk.Zone; {parts}"
    assert run(f"{program}\nprint(json.dumps({SHAPE}))") == whole


@pytest.mark.parametrize("order", [f"{PARTS}; {WHOLE}", f"{WHOLE}; {PARTS}"])
def test_classes_are_the_same_and_known_to_the_engine(order: str):
    known = "from pulumi.runtime import rpc; known = len(rpc._RESOURCE_MODULES) > 300"
    same = "all(getattr(sdk, name) is part for name, part in parts.items())"
    assert run(f"{order}; same = {same}; {known}; print(json.dumps([known, same]))") == [True, True]


# Every type that a resource's inputs and outputs are made of, as the engine's serialization sees it.
NESTED = """
from pulumi import _types
def look(kind, seen):
    if not isinstance(kind, type):
        for inner in getattr(kind, "__args__", ()):
            look(inner, seen)
    elif kind.__module__.startswith("pulumi_cloudflare") and str(kind) not in seen:
        types = _types.input_type_types if _types.is_input_type(kind) else _types._types_from_py_properties
        names = _types._py_to_pulumi_names_from_py_properties(kind)
        seen[str(kind)] = [names, {name: str(inner) for name, inner in types(kind).items()}]
        for inner in types(kind).values():
            look(inner, seen)
seen = {}
for name, part in parts.items():
    look(part, seen)
    look(getattr(sys.modules[part.__module__], f"{name}Args", None), seen)
print(json.dumps(seen))
"""


def test_nested_types_are_those_of_the_whole_package():
    alone = run(f"{PARTS}\n{NESTED}")
    assert alone == run(f"{WHOLE}; {PARTS}\n{NESTED}")
    assert isinstance(alone, dict)
    assert {"_inputs", "outputs"} <= {name.split(".")[1] for name in alone}
    assert len(alone) > 300


def test_a_nested_type_stays_the_same_class_when_the_package_is_made_whole():
    program = """
import pulumi_cloudflare._inputs as inputs, pulumi_cloudflare.outputs as outputs
early = [inputs.R2BucketLifecycleRuleArgs, outputs.R2BucketLifecycleRule]
import pulumi_cloudflare as sdk
same = [sdk.R2BucketLifecycleRuleArgs is early[0], sdk.outputs.R2BucketLifecycleRule is early[1]]
print(json.dumps([*same, "R2BucketLifecycleRule" in dir(outputs), type(outputs).__name__]))"""
    assert run(PARTS + program) == [True, True, True, "module"]


@pytest.mark.parametrize(
    "imports",
    [
        "from pulumi_cloudflare._inputs import *; ZoneAccountArgs",
        "from pulumi_cloudflare._inputs import ZoneAccountArgsDict",
        "import pulumi_cloudflare.outputs; assert 'ZoneAccount' in dir(pulumi_cloudflare.outputs)",
    ],
)
def test_who_asks_for_nested_types_later_gets_all(imports: str, whole: object):
    assert run(f"{PARTS}\n{imports}\n{WHOLE}\nprint(json.dumps({SHAPE}))") == whole


def test_only_the_nested_types_that_are_named_get_defined():
    program = "from components import bridged; bridged.R2BucketLifecycle; nested = sys.modules['pulumi_cloudflare.{}']"
    defined = (
        "sorted(each for each, value in vars(nested).items() if getattr(value, '__module__', 0) == nested.__name__)"
    )
    assert run(f"{program.format('outputs')}; print(json.dumps({defined}))") == []
    inputs = run(f"{program.format('_inputs')}; print(json.dumps({defined}))")
    assert isinstance(inputs, list)
    assert inputs
    assert all(each.startswith("R2BucketLifecycleRule") and each.endswith("Args") for each in inputs)


def test_a_file_of_another_form_is_refused(tmp_path: Path):
    odd = tmp_path / "odd.py"
    odd.write_text("import pulumi\n__all__ = []\n@pulumi.output_type\n# a remark\nclass Odd: ...\n")
    nested = Nested(ModuleSpec("sdk.outputs", None, origin=str(odd)), lambda _: None)
    with pytest.raises(ImportError, match=r"odd\.py has not the form that pulumi's generator gives it"):
        _ = nested.Odd


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
