"""Code that Cloudflare would refuse at upload is refused here too: workerd is asked."""

import pytest

from testbed.emulator.runtime_stage import Stage

pytestmark = pytest.mark.workerd

GOOD = "export default { fetch() { return new Response('good'); } };"
REFUSED = (
    ("export default { fetch( { return } }", [], "Uncaught SyntaxError: Unexpected token 'return'"),
    (f'import x from "nowhere"; {GOOD}', [], 'No such module "nowhere"'),
    (GOOD, ["no_such_flag"], "No such compatibility flag: no_such_flag"),
)


def test_what_does_not_start_is_refused_and_leaves_nothing(stage: Stage):
    for source, flags, problem in REFUSED:
        code, text = stage.uploads.refused("app", source, compatibility_flags=flags)
        assert code == 10021
        assert problem in text
    assert stage.uploads.get("scripts") == []


def test_settings_with_an_unknown_flag_are_refused(stage: Stage):
    stage.uploads.put("app", GOOD)
    path = f"{stage.uploads.base}/scripts/app/settings"
    refusal = stage.raw.refusal("PATCH", path, json={"compatibility_flags": ["no_such_flag"]})
    assert refusal == (400, 10021, "No such compatibility flag: no_such_flag")
    assert stage.uploads.get("scripts/app/settings")["compatibility_flags"] == []


def test_what_only_lacks_its_bindings_is_accepted(stage: Stage):
    lacking = f"import {{ env }} from 'cloudflare:workers'; env.MISSING.call(); {GOOD}"
    stage.uploads.put("app", lacking, compatibility_date="2026-10-01")


def test_methods_that_no_request_can_have_do_not_reach_workers(stage: Stage):
    stage.uploads.put("app", GOOD)
    for method in ("CONNECT", "TRACE"):
        answer = stage.ask("/", method=method)
        assert (answer.status_code, answer.text) == (405, f"The edge passes no {method} requests on to Workers.\n")
    assert stage.ask("/").text == "good"
