"""The recorder itself: a test that uses it must be able to fail."""

import pulumi
import pulumi_cloudflare
import pytest

from tests.components.monitor import UNKNOWN, deploy, unknown_inputs

BUCKET = "cloudflare:index/r2Bucket:R2Bucket"


class Shelf(pulumi.ComponentResource):
    def __init__(self, name: str) -> None:
        super().__init__("test:index:Shelf", name)
        options = pulumi.ResourceOptions(parent=self, protect=True, replace_on_changes=["jurisdiction"])
        bucket = pulumi_cloudflare.R2Bucket(f"{name}-bucket", account_id="a" * 32, name="books", opts=options)
        self.rule = pulumi_cloudflare.R2ManagedDomain(
            f"{name}-public",
            account_id=pulumi.Output.secret("a" * 32),
            bucket_name=bucket.id,
            enabled=False,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"bucket": bucket.id, "location": bucket.location})


def test_inputs_options_and_dependencies_are_recorded():
    recorded = deploy(lambda: Shelf("shelf"), answers={BUCKET: lambda inputs: {"location": f"of {inputs['name']}"}})
    assert recorded.names() == ["R2Bucket shelf-bucket", "R2ManagedDomain shelf-public", "Shelf shelf"]
    bucket = recorded.one("R2Bucket")
    assert (bucket.type, bucket.parent, bucket.protect) == (BUCKET, "shelf", True)
    assert bucket.inputs == {"accountId": "a" * 32, "name": "books"}
    assert bucket.options == {"replaceOnChanges": ["jurisdiction"]}
    public = recorded.one("R2ManagedDomain")
    assert public.inputs == {"accountId": "a" * 32, "bucketName": "shelf-bucket-id", "enabled": False}
    assert (public.secret_inputs, public.protect) == ({"accountId"}, False)
    assert public.dependencies == {"shelf-bucket"}
    assert public.input_dependencies == {"bucketName": {"shelf-bucket"}}
    assert recorded.one("Shelf").outputs == [{"bucket": "shelf-bucket-id", "location": "of books"}]


def test_in_a_preview_what_the_provider_decides_is_unknown():
    recorded = deploy(lambda: Shelf("shelf"), preview=True)
    assert recorded.one("R2ManagedDomain").inputs["bucketName"] == UNKNOWN
    assert recorded.one("Shelf").outputs == [{"bucket": UNKNOWN, "location": UNKNOWN}]


def test_runs_do_not_see_each_other():
    stacks = [deploy(lambda: pulumi.export("stack", pulumi.get_stack()), stack=stack).exports for stack in ("a", "b")]
    assert stacks == [{"stack": "a"}, {"stack": "b"}]


def test_secret_outputs_of_a_provider_stay_secret():
    def program() -> None:
        token = pulumi_cloudflare.AccountToken("token", account_id="a" * 32, name="n", policies=[])
        pulumi.export("value", token.value)

    answer = {"cloudflare:index/accountToken:AccountToken": lambda _: {"value": "v"}}
    root = deploy(program, answers=answer).one("pulumi:pulumi:Stack")
    assert (root.outputs, root.secret_outputs) == ([{"value": "v"}], {"value"})


def test_an_error_in_an_apply_reaches_the_test():
    def program() -> None:
        pulumi.export("broken", pulumi.Output.from_input(0).apply(lambda zero: 1 // zero))

    with pytest.raises(ZeroDivisionError):
        deploy(program)


def test_a_function_without_an_answer_fails_the_run():
    with pytest.raises(Exception, match="no answer for the function cloudflare:index/getZone:getZone"):
        deploy(lambda: pulumi.export("zone", pulumi_cloudflare.get_zone_output(zone_id="z").name))


def test_warnings_are_kept():
    assert deploy(lambda: pulumi.log.warn("careful")).warnings == ["careful"]


def test_inputs_the_sdk_does_not_know_are_named():
    def program() -> None:
        rules = [{"id": "a", "enabled": True, "conditions": {"prefiks": "x"}, "colour": "red"}]
        pulumi_cloudflare.R2BucketLifecycle("rules", account_id="a", bucket_name="b", rules=rules)

    found = unknown_inputs(deploy(program).one("R2BucketLifecycle"), pulumi_cloudflare)
    assert sorted(found) == ["rules[0].colour", "rules[0].conditions.prefiks"]
