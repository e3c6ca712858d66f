"""What Check and Diff say before anything is asked of the account, and how unknown values pass through previews."""

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from components.pulumi_protocol import encoding
from components.pulumi_protocol.values import UNKNOWN, Secret
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import APPLICATION, SCRIPT, CheckFailedError, Kept, Stack, urn


def failures(stack: Stack, resource: tuple[str, str, dict[str, Any]]) -> dict[str, str]:
    with pytest.raises(CheckFailedError) as caught:
        stack.plugin.check(*resource)
    return dict(caught.value.failures)


def test_what_is_wrong_comes_back_as_it_was(stack: Stack, worker: Worker):
    """The engine reads the inputs before the failures, and outside a preview it ends at one that is unknown."""
    kind, name, properties = worker.script(scriptName="Not Valid")
    news = encoding.encode(properties)
    answer = stack.plugin.stub.Check(provider_pb2.CheckRequest(urn=urn(kind, name), news=news))
    assert [each.property for each in answer.failures] == ["scriptName"]
    assert answer.inputs == news


def test_checks_of_a_script_come_all_at_once(stack: Stack, cloud: Cloud, worker: Worker):
    wrong = worker.script(
        scriptName="Not Valid",
        mainModule="main.js",
        modules={"index.js": {"file": "nowhere.js"}, "a.wasm": {}, "b.js": {"sha256": "short"}},
        bindings={"Box": {"type": "durable_object_namespace", "className": "Box"}, "R": {"type": "r2_bucket"}},
        classes={"Sandbox": {"container": {}, "storage": "legacy-kv"}, "B": {"renamedFrom": "B"}},
        deletedClasses=["Sandbox"],
        compatibilityDate="yesterday",
        logpush="yes",
    )
    assert failures(stack, wrong) == {
        "scriptName": "expected 1 to 63 lower-case letters, digits, hyphens and underscores, got 'Not Valid'",
        'modules["b.js"].sha256': "expected a SHA-256 in 64 hexadecimal digits, got 'short'",
        "compatibilityDate": "expected a date such as 2026-11-16, got 'yesterday'",
        "logpush": "expected true or false, got a string",
        "bindings.R.bucketName": "a binding of type r2_bucket needs bucketName",
    }
    with_other_mistakes = worker.script(
        mainModule="main.js",
        modules={"index.js": {"file": "nowhere.js"}, "a.wasm": {}},
        bindings={"Box": {"type": "durable_object_namespace", "className": "Box"}},
        classes={"Sandbox": {"container": {}, "storage": "legacy-kv"}},
        deletedClasses=["Sandbox"],
    )
    assert failures(stack, with_other_mistakes) == {
        "mainModule": "main.js is not one of the modules (a.wasm, index.js)",
        'modules["index.js"].file': (
            "cannot read nowhere.js (No such file or directory); build the Worker first or correct the path"
        ),
        'modules["a.wasm"]': "give the file of the module",
        "bindings.Box.className": (
            "class Box is not one of this script's classes (Sandbox); add it there, or set scriptName"
        ),
        "classes.Sandbox.storage": "containers need sqlite storage, not legacy-kv",
        "deletedClasses": "class Sandbox is wanted in classes and given up in deletedClasses; choose one",
    }
    assert cloud.calls() == []


def test_a_class_that_the_main_module_does_not_export_is_told_before_the_upload(
    stack: Stack, cloud: Cloud, worker: Worker
):
    file = worker.folder / "small.js"
    file.write_text("class Sandbox {}\nexport default { fetch() {} };\n")
    told = f"the main module {file} does not export the class Sandbox; export it there, as in "
    assert failures(stack, worker.script()) == {
        "classes.Sandbox": f"{told}`export {{ Sandbox }} from '@cloudflare/sandbox'`"
    }
    assert cloud.calls() == []
    file.write_text("export * from './other.js';\n")
    stack.plugin.check(*worker.script())


def test_a_hash_that_was_given_is_verified(stack: Stack, worker: Worker):
    file = str(worker.folder / "small.js")
    wrong = worker.script(modules={"index.js": {"file": file, "sha256": "0" * 64}})
    assert failures(stack, wrong)['modules["index.js"].sha256'].endswith("build it again or correct the hash")


def test_a_file_that_changes_under_the_update_is_not_uploaded(stack: Stack, cloud: Cloud, worker: Worker):
    kind, name, inputs = worker.script()
    checked = stack.plugin.check(kind, name, inputs)
    worker.write("changed")
    with pytest.raises(grpc.RpcError, match="changed while the update ran; run `pulumi up` again"):
        stack.plugin.stub.Create(provider_pb2.CreateRequest(urn=urn(kind, name), properties=checked))
    assert cloud.writes() == []


def test_an_imported_module_without_a_file_cannot_be_uploaded(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    sha = stack.outputs(SCRIPT, "small")["modules"]["index.js"]["sha256"]
    bare = {"index.js": {"sha256": sha}}
    assert stack.up(worker.script(modules=bare)) == ["same"]
    with pytest.raises(grpc.RpcError, match=r"has no file; set modules\['index.js'\].file"):
        stack.up(worker.script(modules=bare, logpush=True))
    assert cloud.picture()["scripts"]


def test_a_managed_application_has_no_image_of_its_own(stack: Stack, worker: Worker):
    text = "an application managed by its Durable Objects has images in the Worker's classes instead; leave {} out"
    wrong = worker.application(schedulingPolicy="durable_object")
    names = ("image", "instanceType", "maxInstances")
    assert failures(stack, wrong) == {name: text.format(name) for name in names}


def test_a_scheduled_application_needs_an_image_and_a_limit(stack: Stack, worker: Worker):
    text = "is required with the scheduling policy default"
    assert failures(stack, worker.application(image=None, maxInstances=None)) == {"image": text, "maxInstances": text}


def test_the_image_of_another_account_is_refused(stack: Stack, cloud: Cloud, worker: Worker):
    image = cloud.images[0].replace(cloud.account, "f" * 32)
    text = f"the image belongs to account {'f' * 32}, the application to {cloud.account}; push it there"
    assert failures(stack, worker.application(image=image)) == {"image": text}


@pytest.mark.parametrize(
    "name", ["accountId", "scriptName", "mainModule", "modules", "bindings", "classes", "lifecycle"]
)
def test_unknown_inputs_of_a_script_pass_through_a_preview(name: str, stack: Stack, worker: Worker):
    kind, label, inputs = worker.script(**{name: UNKNOWN})
    checked = stack.plugin.check(kind, label, inputs)
    assert encoding.decode(checked)[name] is UNKNOWN
    request = provider_pb2.CreateRequest(urn=urn(kind, label), properties=checked, preview=True)
    shown = encoding.decode(stack.plugin.stub.Create(request).properties)
    assert shown[name] is UNKNOWN
    assert shown["versionId"] is UNKNOWN


@pytest.mark.parametrize("name", ["accountId", "scriptName", "image", "maxInstances", "environment", "rollout"])
def test_unknown_inputs_of_an_application_pass_through_a_preview(name: str, stack: Stack, worker: Worker):
    kind, label, inputs = worker.application(**{name: UNKNOWN})
    checked = stack.plugin.check(kind, label, inputs)
    request = provider_pb2.CreateRequest(urn=urn(kind, label), properties=checked, preview=True)
    shown = encoding.decode(stack.plugin.stub.Create(request).properties)
    assert shown["applicationId"] is UNKNOWN
    assert (shown["name"] is UNKNOWN) == (name == "scriptName")


def previewed(stack: Stack, kind: str, label: str, inputs: dict[str, Any]) -> dict[str, Any]:
    kept = stack.state[kind, label]
    checked = stack.plugin.check(kind, label, inputs, kept.inputs)
    request = provider_pb2.UpdateRequest(
        urn=urn(kind, label), id=kept.id, olds=kept.properties, old_inputs=kept.inputs, news=checked, preview=True
    )
    return encoding.decode(stack.plugin.stub.Update(request).properties)


def test_a_preview_of_a_change_knows_what_stays(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script(), worker.application())
    before, application = stack.outputs(SCRIPT, "small"), stack.outputs(APPLICATION, "small-app")
    shown = previewed(stack, *worker.script(logpush=True))
    assert (shown["etag"], shown["namespaceIds"]) == (before["etag"], before["namespaceIds"])
    assert shown["versionId"] is UNKNOWN
    worker.write("changed", "Helper")
    shown = previewed(stack, *worker.script(classes={"Sandbox": {"container": {}}, "Helper": {}}))
    assert shown["etag"] is UNKNOWN
    assert shown["namespaceIds"] == {"Sandbox": before["namespaceIds"]["Sandbox"], "Helper": UNKNOWN}
    shown = previewed(stack, *worker.application(maxInstances=9))
    assert (shown["applicationId"], shown["version"]) == (application["applicationId"], 1)
    assert previewed(stack, *worker.application(image=cloud.images[1]))["version"] is UNKNOWN


def test_a_difference_names_each_path(stack: Stack, worker: Worker):
    stack.up(worker.script(), worker.application())
    worker.write("changed")
    kind, label, inputs = worker.script(logpush=True, compatibilityFlags=[])
    kept: Kept = stack.state[kind, label]
    found = stack.plugin.diff(kind, label, kept, stack.plugin.check(kind, label, inputs, kept.inputs))
    kinds = {name: provider_pb2.PropertyDiff.Kind.Name(each.kind) for name, each in found.detailedDiff.items()}
    assert kinds == {'modules["index.js"].sha256': "UPDATE", "logpush": "ADD", "compatibilityFlags": "DELETE"}
    kind, label, inputs = worker.application(name="other")
    kept = stack.state[kind, label]
    found = stack.plugin.diff(kind, label, kept, stack.plugin.check(kind, label, inputs, kept.inputs))
    assert list(found.replaces) == ["name"]
    assert found.deleteBeforeReplace


def test_secrets_stay_secret_in_what_is_kept(stack: Stack, worker: Worker):
    bound = {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}}
    key = {"KEY": {"type": "secret_text", "text": "not marked by the program"}}
    hidden = Secret("marked by the program")
    script = worker.script(bindings={**bound, **key})
    stack.up(script, worker.application(environment={"MODE": "fast", "TOKEN": hidden}))
    for part in ("inputs", "properties"):
        kept = encoding.decode(getattr(stack.state[SCRIPT, "small"], part))
        assert kept["bindings"]["KEY"]["text"] == Secret("not marked by the program")
        kept = encoding.decode(getattr(stack.state[APPLICATION, "small-app"], part))
        assert kept["environment"] == {"MODE": "fast", "TOKEN": hidden}
    assert stack.refresh() == []
    assert encoding.decode(stack.state[APPLICATION, "small-app"].properties)["environment"]["TOKEN"] == hidden


def test_checks_do_not_tell_secrets(stack: Stack, worker: Worker):
    token = "it's-a-token-in-the-wrong-place"
    key = {"name": "me", "publicKey": Secret(token)}
    wrong = worker.application(accountId=Secret(token), authorizedKeys=[key], maxInstances=Secret(-4711))
    assert failures(stack, wrong) == {
        "accountId": "expected an account id of 32 hexadecimal digits",
        "authorizedKeys[0].publicKey": "expected a public key of type ssh-ed25519",
        "maxInstances": "expected a whole number of at least 0",
    }
    script = worker.script(mainModule=Secret("hidden-main.js"))
    assert failures(stack, script) == {"mainModule": "[secret] is not one of the modules (index.js)"}
    stack.up(worker.script(scriptName=Secret("hidden-name")))
    with pytest.raises(CheckFailedError, match=r"another script: \[secret\] would be deleted"):
        stack.up(worker.script(scriptName="other-name"))
