"""`ctx.container`, whole, as a Durable Object in workerd sees it; its texts letter by letter: libraries match them."""

import time
from typing import Any

import pytest

from testbed.emulator.boxes import HOST, SERVE, SLEEP, SOURCE, Boxes, Object, ObjectError

pytestmark = pytest.mark.workerd

ALREADY = "start() cannot be called on a container that is already running."


def fails(box: Object, method: str, *args: Any) -> tuple[str | None, str]:
    """Name and text of what a method throws."""
    with pytest.raises(ObjectError) as caught:
        box(method, *args)
    return caught.value.name, str(caught.value)


# Starting


def test_running_is_true_from_start_on(box: Object):
    assert box("facts")["atConstruction"] is False
    assert box.running is False
    box.begin()
    assert box.running is True


def test_the_object_sees_the_platforms_members_and_no_binding_of_the_emulator(box: Object):
    facts = box("facts")
    assert facts["bindings"] == ["BOX"]
    assert {"running", "images", "start", "monitor", "destroy", "signal", "getTcpPort", "setInactivityTimeout"} <= set(
        facts["members"]
    )


@pytest.mark.parametrize("flags", [[], ["disallow_importable_env"]])
def test_no_code_of_the_worker_sees_a_binding_of_the_emulator(boxes: Boxes, flags: list[str]):
    try:
        boxes.upload(compatibility_flags=flags)
        seen = boxes.stage.ask("/bindings", HOST).json()
        assert seen == {where: ["BOX"] for where in ("handler", "imported", "atStart", "inner")}
    finally:
        boxes.upload()


def test_start_twice(box: Object):
    box.begin()
    assert fails(box, "call", "start", [SLEEP]) == ("Error", ALREADY)
    assert box.running


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"env": {"A=B": "x"}}, "Environment variable names cannot contain '=' or '\\0': A=B"),
        ({"labels": {str(n): "x" for n in range(11)}}, "A container can have at most 10 labels."),
        (
            {"labels": {"x" * 17: ""}},
            "Label names have 1 to 16 bytes, values at most 64, and neither has control characters.",
        ),
        (
            {"labels": {"a": "x" * 65}},
            "Label names have 1 to 16 bytes, values at most 64, and neither has control characters.",
        ),
        (
            {"labels": {"a": "\n"}},
            "Label names have 1 to 16 bytes, values at most 64, and neither has control characters.",
        ),
        ({"instance": "huge"}, "Invalid container instance type."),
        ({"instance": None}, "Invalid container instance type."),
        ({"image": ""}, "An image reference has 1 to 4096 printable characters."),
        ({"entrypoint": []}, "entrypoint must be a non-empty array of strings."),
        ({"entrypoint": [1]}, "entrypoint must be a non-empty array of strings."),
    ],
)
def test_options_that_are_refused_at_once(box: Object, options: dict[str, Any], error: str):
    assert fails(box, "call", "start", [options]) == ("TypeError", error)
    assert box.running is False


SIZE = (
    "A custom instance has 1 to 4 vcpu, 3072 memoryMib per vcpu to 12288, and 1 to 20000 diskMb, the last two in whole "
    "numbers."
)
VCPU = "Container resource vcpu must be a finite number greater than 0."
HARD = "Hard timeout must be greater than 0"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"instance": {}}, VCPU),
        ({"instance": {"vcpu": "1", "memoryMib": 3072, "diskMb": 100}}, VCPU),
        ({"instance": {"vcpu": 0, "memoryMib": 3072, "diskMb": 100}}, VCPU),
        ({"instance": {"vcpu": 1}}, SIZE),
        ({"instance": {"vcpu": 0.5, "memoryMib": 3072, "diskMb": 100}}, SIZE),
        ({"instance": {"vcpu": 5, "memoryMib": 12288, "diskMb": 100}}, SIZE),
        ({"instance": {"vcpu": 2, "memoryMib": 6143, "diskMb": 100}}, SIZE),
        ({"instance": {"vcpu": 1, "memoryMib": 12289, "diskMb": 100}}, SIZE),
        ({"instance": {"vcpu": 1, "memoryMib": 3072.5, "diskMb": 100}}, SIZE),
        ({"instance": {"vcpu": 1, "memoryMib": 3072, "diskMb": 0.5}}, SIZE),
        ({"instance": {"vcpu": 1, "memoryMib": 3072, "diskMb": 20001}}, SIZE),
        ({"instance": {"vcpu": 1, "memoryMib": 10**30, "diskMb": 100}}, SIZE),
        ({"hardTimeout": 0}, HARD),
        ({"hardTimeout": -1}, HARD),
        ({"hardTimeout": "soon"}, HARD),
    ],
)
def test_options_out_of_range(box: Object, options: dict[str, Any], error: str):
    assert fails(box, "call", "start", [options]) == ("RangeError", error)
    assert box.running is False


def test_the_hard_timeout_ends_it_whatever_it_does(box: Object):
    box.begin({**SLEEP, "hardTimeout": 3000})  # time enough for the command to begin on a busy machine
    began = time.monotonic()
    assert box("execUnread", ["sleep", "600"]) == 137
    assert box.end().exit_code == 137
    assert time.monotonic() - began < 60


def test_sizes_of_named_types_may_be_spelt_out(box: Object):
    box.begin({"instance": {"vcpu": 0.5, "memoryMib": 4096, "diskMb": 8000}})
    assert box("exec", ["echo", "well"])["stdout"] == "well\n"


def test_environment_and_labels_arrive(box: Object):
    box.begin({"env": {"GREETING": "grüß dich"}, "labels": {"team": "a", "ü": "ö"}})
    said = box("exec", ["sh", "-c", "echo $GREETING; env | grep ^CLOUDFLARE_ | cut -d= -f1 | sort"])
    greeting, *names = said["stdout"].splitlines()
    assert greeting == "grüß dich"
    assert names == [
        "CLOUDFLARE_APPLICATION_ID",
        "CLOUDFLARE_COUNTRY_A2",
        "CLOUDFLARE_DEPLOYMENT_ID",
        "CLOUDFLARE_DURABLE_OBJECT_ID",
        "CLOUDFLARE_LOCATION",
        "CLOUDFLARE_PLACEMENT_ID",
        "CLOUDFLARE_REGION",
    ]
    assert box.call("inspect")["labels"] == {"team": "a", "ü": "ö"}


# Ends


def test_monitor_of_what_never_ran(box: Object):
    assert fails(box, "call", "monitor", []) == (
        "Error",
        "monitor() cannot be called on a container that is not running.",
    )


def test_monitor_resolves_when_it_ends_well(box: Object):
    assert box("runOnce", {"entrypoint": ["true"]}) == {"value": None}
    assert box.running is False


@pytest.mark.parametrize("code", [1, 42, 137])
def test_monitor_rejects_with_the_exit_code(box: Object, code: int):
    ended = box("runOnce", {"entrypoint": ["sh", "-c", f"exit {code}"]})["error"]
    text = f"Container exited with unexpected exit code: {code}"
    assert ended == {"name": "Error", "message": text, "exitCode": code}


def test_an_entry_point_that_is_missing(box: Object):
    ended = box("runOnce", {"entrypoint": ["/missing"]})["error"]["message"]
    assert ended.startswith("the image docker.io/cloudflare/sandbox@sha256:")
    assert ended.endswith(' does not start: exec: "/missing": stat /missing: no such file or directory')


def test_an_image_that_is_gone(box: Object):
    image = "registry.cloudflare.com/nobody/gone:1"
    ended = box("runOnce", {**SLEEP, "image": image})["error"]["message"]
    assert ended == f"No such image available named {image}"


def test_several_monitors_share_one_result(box: Object):
    box.begin()
    assert box("severalMonitors", 9) == [[137, True]] * 4
    assert box.running is False


def test_destroy_resolves_the_monitor(box: Object):
    assert box.begin()("destroyWith", None) is False
    assert box.end() is None


def test_destroy_with_an_error_rejects_the_monitor_with_it(box: Object):
    assert box.begin()("destroyWith", "no longer wanted") is False
    ended = box.end()
    assert (str(ended), ended.name) == ("no longer wanted", "Error")


def test_destroy_of_what_does_not_run(box: Object):
    assert box("destroyWith", None) is False
    assert box("destroyWith", "x") is False


def test_start_after_destroy_is_not_hit_by_the_end_before_it(box: Object):
    assert box("again", SLEEP, 4) == 4


@pytest.mark.parametrize(("number", "code"), [(15, 3), (2, 4)])
def test_signals(box: Object, number: int, code: int):
    script = "trap 'exit 3' TERM; trap 'exit 4' INT; while :; do sleep 0.05; done"
    box.begin({"entrypoint": ["bash", "-c", script]})
    box("exec", ["sh", "-c", "until grep -q bash /proc/1/comm; do sleep 0.02; done; sleep 0.1"])
    box.call("signal", number)
    assert box.end().exit_code == code


@pytest.mark.parametrize("number", [0, 65, -1, 1.5, "x", None])
def test_signals_that_are_none(box: Object, number: Any):
    box.begin()
    assert fails(box, "call", "signal", [number]) == ("RangeError", "Invalid signal number.")


def test_a_signal_to_what_does_not_run(box: Object):
    name, text = fails(box, "call", "signal", [15])
    assert (name, text) == ("Error", "signal() cannot be called on a container that is not running.")


def test_the_inactivity_timeout_ends_it(box: Object):
    box.begin({"entrypoint": ["bash", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"]})
    box.call("setInactivityTimeout", 700)
    began = time.monotonic()
    assert box.end() is None
    assert 0.6 < time.monotonic() - began < 20


def test_what_is_in_use_is_not_idle(box: Object):
    box.begin()
    box.call("setInactivityTimeout", 300)
    assert box("execUnread", ["sleep", "1.5"]) == 0
    assert box.running


@pytest.mark.parametrize("ms", [0, -5, "x"])
def test_inactivity_timeouts_that_are_none(box: Object, ms: Any):
    box.begin()
    text = "setInactivityTimeout() cannot be called with a duration <= 0."
    assert fails(box, "call", "setInactivityTimeout", [ms]) == ("TypeError", text)


# Ports


@pytest.mark.parametrize("port", [0, 65536, -1, 1.5])
def test_ports_that_are_none(box: Object, port: float):
    assert fails(box, "get", port, "http://inside/") == ("TypeError", f"Invalid port number: {port}")


def test_requests_reach_the_server_as_they_are(box: Object):
    box.begin(SERVE)
    said = box.boxes.stage.ask(box.path(8080, "/path?q=1"), HOST, "PATCH", content=b"x").json()
    assert said == {"method": "PATCH", "url": "/path?q=1", "host": "inside", "own": []}


def test_https_is_refused_in_words(box: Object):
    box.begin(SERVE)
    text = "Connecting to a container using HTTPS is not currently supported; use HTTP instead."
    assert fails(box, "get", 8080, "https://inside/") == ("Error", text)


def test_a_port_that_nothing_listens_on(box: Object):
    box.begin(SERVE)
    box("get", 8080, "http://inside/")  # from now on nothing is waited for
    text = "The container is not listening in the TCP address 10.0.0.1:9999"
    assert fails(box, "get", 9999, "http://inside/") == ("Error", text)


def test_a_port_of_what_does_not_run(box: Object):
    assert fails(box, "get", 8080, "http://inside/") == (
        "Error",
        "The container is not running, consider calling start()",
    )


def test_bodies_stream_both_ways(box: Object):
    box.begin(SERVE)
    stage = box.boxes.stage
    url, headers = f"{stage.emulator.origin}{box.path(8080, '/slow')}", {"host": HOST}
    with stage.http.stream("GET", url, headers=headers) as answer:
        began = time.monotonic()
        assert b"".join(answer.iter_raw()) == b"one two"
        assert time.monotonic() - began > 0.1  # the first part came before the second was there
    content = bytes(range(256)) * 20_000
    assert stage.ask(box.path(8080, "/echo"), HOST, "POST", content=content).content == content
    streamed = stage.ask(box.path(8080, "/echo"), HOST, "POST", content=(b"x" * 1000 for _ in range(500)))
    assert len(streamed.content) == 500_000


def test_a_redirect_is_followed_unless_the_request_says_otherwise(box: Object):
    box.begin(SERVE)
    assert '"url":"/elsewhere"' in box("get", 8080, "http://inside/moved")
    assert '"host":"other.test"' in box("get", 8080, "http://inside/moved?to=http://other.test/")  # still its own port
    answer = box.boxes.stage.ask(box.path(8080, "/moved"), HOST)
    assert (answer.status_code, answer.headers["location"]) == (302, "/elsewhere")


def test_a_sandbox_cannot_speak_for_the_emulator(box: Object):
    box.begin(SERVE)
    answer = box.boxes.stage.ask(box.path(8080, "/lie"), HOST)
    assert answer.status_code == 200
    assert "x-emulator-problem" not in answer.headers


def test_an_answer_that_breaks_off_is_an_error(box: Object):
    box.begin(SERVE)
    assert fails(box, "get", 8080, "http://inside/cut")[1] == "Network connection lost."


def test_web_sockets(box: Object):
    box.begin(SERVE)
    messages = ["one", "zwei: ü", "", "x" * 100]
    assert box("webSocket", 8080, messages) == messages


def test_raw_connections(box: Object):
    box.begin(SERVE)
    box("get", 8080, "http://inside/")
    said = box("raw", 8080, "GET /raw HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert said.startswith("HTTP/1.1 200 OK\r\n")
    assert '"url":"/raw"' in said


def test_a_raw_connection_to_a_port_that_nothing_listens_on(box: Object):
    box.begin(SERVE)
    box("get", 8080, "http://inside/")
    text = "The container is not listening in the TCP address 10.0.0.1:9999"
    assert fails(box, "raw", 9999, "x") == ("Error", text)
    assert box("rawParts", 9999) == [text] * 4


def test_a_raw_connection_to_what_does_not_run(box: Object):
    text = "The container is not running, consider calling start()"
    assert fails(box, "raw", 8080, "x") == ("Error", text)


def test_a_raw_connection_may_come_before_word_of_the_start(box: Object):
    said = box("rawAtOnce", SERVE, 8080, "GET /raw HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert '"url":"/raw"' in said


def test_the_first_request_waits_for_the_server(box: Object):
    box(
        "begin",
        {"entrypoint": ["bash", "-c", 'sleep 0.5; exec node -e "$SERVER"'], "env": {"SERVER": SERVE["entrypoint"][2]}},
    )
    assert '"url":"/"' in box("get", 8080, "http://inside/")


# Commands


def test_exec(box: Object):
    box.begin()
    said = box(
        "exec", ["sh", "-c", "cat; echo err >&2; pwd; echo $A; exit 5"], {"cwd": "/opt", "env": {"A": "b"}}, "in "
    )
    assert said.pop("pid") > 1
    assert said == {"stdout": "in /opt\nb\n", "stderr": "err\n", "exitCode": 5, "isPty": False}


def test_exec_streams(box: Object):
    box.begin()
    script = ["sh", "-c", "echo out; echo err >&2"]
    assert box("exec", script, {"stderr": "combined"})["stdout"] == "out\nerr\n"
    assert box("exec", script, {"stdout": "ignore"})["stdout"] == ""
    assert box("exec", script, {"stderr": "ignore"})["stderr"] == ""
    assert box("execPiped", ["one ", "two"]) == "one two"
    assert box("execLarge", 20_000_000) == 20_000_000
    assert box("execUnread", script) == 0  # as from a pipe, nobody has to read


def test_exec_ends_with_its_process_whoever_holds_its_outputs(box: Object):
    box.begin()
    began = time.monotonic()
    said = box("exec", ["sh", "-c", "sleep 300 & echo said; exit 3"])
    assert (said["stdout"], said["exitCode"]) == ("said\n", 3)
    endless = box("exec", ["sh", "-c", "yes > /dev/null & yes & sleep 0.1; exit 4"], {"stdout": "ignore"})
    assert endless["exitCode"] == 4
    assert time.monotonic() - began < 120  # not the 300 seconds of what was left behind


def test_exec_keeps_what_was_said_before_the_end(box: Object):
    box.begin()
    large = ["bash", "-c", "sleep 300 & head -c 3000000 /dev/zero; exit 5"]
    said = box("exec", large)
    assert (len(said["stdout"]), said["exitCode"]) == (3_000_000, 5)
    late = box("exec", ["bash", "-c", "exec > >(sleep 0.02; cat); echo late"])
    assert late["stdout"] == "late\n"


def test_exec_as_a_user(box: Object):
    box.begin()
    assert box("exec", ["id", "-un"], {"user": "nobody"})["stdout"] == "nobody\n"


@pytest.mark.parametrize(("signal", "code"), [(None, 143), (9, 137)])
def test_exec_killed(box: Object, signal: int | None, code: int):
    box.begin()
    assert box("execKilled", ["sleep", "600"], signal) == code


def test_exec_aborted(box: Object):
    assert box.begin()("execAborted") == 137


def test_exec_errors(box: Object):
    text = "exec() cannot be called on a container that is not running."
    assert fails(box, "exec", ["true"]) == ("Error", text)
    box.begin()
    assert fails(box, "exec", []) == ("TypeError", "exec() requires a non-empty command array.")
    missing = box("exec", ["missing"])
    assert (missing["exitCode"], missing["stdout"]) == (127, "")
    assert 'exec: "missing": executable file not found in $PATH' in missing["stderr"]


def test_what_this_machine_cannot_do_is_refused(box: Object):
    box.begin()
    expected = "is not available on this machine: the emulator cannot do it."
    assert fails(box, "exec", ["true"], {"pty": True})[1] == f"exec() with a terminal {expected}"
    assert fails(box, "call", "snapshotContainer", [])[1] == f"snapshotContainer() {expected}"


# Deployments


def test_a_new_version_finds_it_running(boxes: Boxes, box: Object):
    box.begin(SERVE)
    before = box("exec", ["cat", "/proc/sys/kernel/random/boot_id", "/etc/hostname"])["stdout"]
    box("exec", ["sh", "-c", "echo kept > /kept"])
    boxes.upload(SOURCE + "\n// a newer version")
    assert box("facts")["atConstruction"] is True
    assert box("exec", ["cat", "/kept"])["stdout"] == "kept\n"
    assert box("exec", ["cat", "/proc/sys/kernel/random/boot_id", "/etc/hostname"])["stdout"] == before
    assert fails(box, "call", "start", [SLEEP]) == ("Error", ALREADY)
    box("watch")
    box.call("destroy")
    assert box.end() is None
