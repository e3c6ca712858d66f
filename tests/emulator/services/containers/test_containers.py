"""Containers through the official SDK: applications of both policies, versions, instances, rollouts."""

from pathlib import Path
from typing import Any

import pytest
from cloudflare import APIStatusError, Cloudflare, NotFoundError

from emulator.testing import Running, running
from testbed.emulator.containers_stage import Stage
from testbed.emulator.control import Control

OTHER = "a" * 64


@pytest.fixture
def stage(raw: Any, emulator: Running) -> Stage:
    return Stage(raw, emulator)


def test_life_of_a_scheduled_application(client: Cloudflare, stage: Stage):
    applications, account = client.containers.applications, stage.account
    made = applications.create(
        account_id=account,
        name="sandbox",
        scheduling_policy="default",
        instances=0,
        max_instances=10,
        configuration={
            "image": stage.image,
            "instance_type": "standard-1",
            "environment_variables": [{"name": "A", "value": "b"}],
            "command": ["serve"],
        },
        constraints={"jurisdiction": "eu", "regions": ["WEUR"]},
        durable_objects={"script_name": "worker", "class_name": "Sandbox"},
        observability={"logs": {"enabled": True}},
        rollout_active_grace_period=60,
    )
    assert made.version == 1
    assert made.durable_objects.namespace_id == stage.namespace
    read = applications.get(made.id, account_id=account)
    assert read.to_dict() == made.to_dict()
    assert (read.configuration.image, read.configuration.instance_type) == (stage.image, "standard-1")
    assert read.configuration.to_dict()["memory_mib"] == 4096
    assert read.constraints.regions == ["WEUR"]
    assert (read.max_instances, read.rollout_active_grace_period) == (10, 60)
    edited = applications.edit(
        made.id,
        account_id=account,
        max_instances=20,
        rollout_active_grace_period=0,
        constraints={"regions": ["ENAM"]},
        observability={"logs": {"enabled": False}},
        configuration={"wrangler_ssh": {"enabled": True, "port": 2222}},
    )
    assert (edited.max_instances, edited.version) == (20, 1)
    assert edited.constraints.to_dict() == {"regions": ["ENAM"]}
    assert edited.configuration.to_dict()["wrangler_ssh"] == {"enabled": True, "port": 2222}
    versions = applications.versions.list(made.id, account_id=account).result
    assert [(version.version, version.percentage) for version in versions] == [(1, 100)]
    assert applications.delete(made.id, account_id=account).message
    assert applications.get(made.id, account_id=account).id == made.id
    stage.raw.advance(4)
    with pytest.raises(NotFoundError, match="APPLICATION_NOT_FOUND"):
        applications.get(made.id, account_id=account)
    assert not list(applications.list(account_id=account))


def test_life_of_a_managed_application(client: Cloudflare, stage: Stage):
    applications, account = client.containers.applications, stage.account
    wanted: Any = {
        "account_id": account,
        "name": "managed",
        "scheduling_policy": "durable_object",
        "durable_objects": {"namespace_id": stage.namespace},
        "observability": {"logs": {"enabled": True}},
    }
    made = applications.create(**wanted)
    assert made.id == stage.namespace
    assert applications.create(**wanted).to_dict() == made.to_dict()
    edited = applications.edit(
        made.id, account_id=account, configuration={"authorized_keys": [{"public_key": "ssh-ed25519 AAAA"}]}
    )
    assert edited.configuration.authorized_keys[0].public_key == "ssh-ed25519 AAAA"
    assert edited.observability.logs.enabled
    assert applications.versions.list(made.id, account_id=account).result == []
    stage.run_instance({"id": made.id}, name="one", image=stage.image)
    (instance,) = applications.instances.list(made.id, account_id=account)
    assert (instance.name, instance.image, instance.configuration) == ("one", stage.image, None)
    assert applications.get(made.id, account_id=account).health.instances.active == 1
    applications.delete(made.id, account_id=account)


def test_lists_page_by_token(client: Cloudflare, stage: Stage):
    names = [f"application-{number:02}" for number in range(25)]
    for name in names:
        stage.create(name=name, durable_objects={"namespace_id": stage.make_namespace(name, "Sandbox")})
    listed = client.containers.applications.list
    assert [each.name for each in listed(account_id=stage.account, per_page=10)] == names
    whole = stage.raw.api("GET", f"{stage.base}/applications").json()
    assert [each["name"] for each in whole["result"]] == names
    assert "next_page_token" not in whole["result_info"]
    assert [each.name for each in listed(account_id=stage.account, name=names[3])] == [names[3]]
    assert len(list(listed(account_id=stage.account, image=stage.image))) == 25
    assert not list(listed(account_id=stage.account, image=stage.newer))
    pages = stage.raw.api("GET", f"{stage.base}/dash/applications", params={"per_page": 20}).json()
    assert len(pages["result"]) == 20
    rest = {"per_page": 20, "page_token": pages["result_info"]["next_page_token"]}
    assert len(stage.raw.api("GET", f"{stage.base}/dash/applications", params=rest).json()["result"]) == 5
    for query in ({"per_page": 0}, {"per_page": 501}, {"page_token": "abc"}):
        assert stage.raw.api("GET", f"{stage.base}/applications", params=query).status_code == 400


def test_one_application_per_namespace(stage: Stage):
    made = stage.create()
    owner = {"error": "DURABLE_OBJECT_ALREADY_HAS_APPLICATION", "details": {"name": "sandbox", "id": made["id"]}}
    assert stage.refuse("POST", "/applications", stage.body(name="other")) == (400, 1608, owner)
    managed = {"name": "m", "scheduling_policy": "durable_object", "durable_objects": {"namespace_id": stage.namespace}}
    assert stage.refuse("POST", "/applications", managed) == (400, 1608, owner)
    assert stage.raw.api("DELETE", f"{stage.base}/applications/{made['id']}").status_code == 200
    assert stage.refuse("POST", "/applications", stage.body(name="other")) == (400, 1608, owner)
    stage.raw.advance(4)
    assert stage.create(name="other")["id"] != made["id"]


def test_a_deleted_application_is_listed_for_a_while_but_cannot_be_changed(stage: Stage):
    made = stage.create()
    path = f"/applications/{made['id']}"
    stage.raw.api("DELETE", stage.base + path)
    assert [each["id"] for each in stage.raw.api("GET", f"{stage.base}/applications").json()["result"]] == [made["id"]]
    gone = (404, 1609, {"error": "APPLICATION_NOT_FOUND"})
    assert stage.refuse("PATCH", path, {"max_instances": 1}) == gone
    assert stage.refuse("POST", f"{path}/rollouts", {}) == gone
    assert stage.refuse("DELETE", path, None) == gone
    stage.raw.advance(4)
    assert stage.refuse("GET", path, None) == gone
    stage.raw.api("DELETE", f"/accounts/{stage.account}/workers/scripts/worker")
    kinds = stage.raw.control("GET", "/state")["kinds"]
    assert not [kind for kind in kinds if kind.startswith("container_")]


def test_the_state_counts_nothing_that_is_overdue(stage: Stage):
    made, store = stage.create(), stage.emulator.state.store
    rollout = stage.rollout(made)
    stage.raw.advance(60)
    assert (
        store.get("container_rollout", f"{stage.account}/containers/{made['id']}", rollout["id"])["status"]
        == "completed"
    )
    path = f"{stage.base}/applications/{made['id']}"
    stage.raw.api("DELETE", path)
    assert store.count("container_application", stage.account) == 1
    stage.raw.advance(4)
    assert store.count("container_application", stage.account) == 0
    stage.raw.control("PUT", "/containers/durations", json={"deletion": 0})
    stage.raw.api("DELETE", f"{stage.base}/applications/{stage.create()['id']}")
    assert "container_application" not in stage.raw.control("GET", "/state")["kinds"]


def test_a_deletion_ends_after_a_restart_too(tmp_path: Path):
    with running(tmp_path) as first:
        stage = Stage(Control(first), first)
        stage.raw.api("DELETE", f"{stage.base}/applications/{stage.create()['id']}")
    with running(tmp_path) as second:
        control = Control(second)
        assert "container_application" in control.control("GET", "/state")["kinds"]
        second.state.clock.offset += 4  # as if the time had passed by itself
        assert not [kind for kind in control.control("GET", "/state")["kinds"] if kind.startswith("container_")]


def test_the_class_must_be_container_enabled(stage: Stage):
    plain = stage.make_namespace("plain", "Plain", container=False)
    body = stage.body(durable_objects={"namespace_id": plain})
    refused = (400, 1607, {"error": "DURABLE_OBJECT_NOT_CONTAINER_ENABLED"})
    assert stage.refuse("POST", "/applications", body) == refused
    body = stage.body(durable_objects={"script_name": "plain", "class_name": "Plain"})
    assert stage.refuse("POST", "/applications", body) == refused
    unknown = (400, 1000, {"error": "DURABLE_OBJECT_NOT_FOUND"})
    for wrong in ({"namespace_id": "0" * 32}, {"script_name": "worker", "class_name": "Other"}):
        assert stage.refuse("POST", "/applications", stage.body(durable_objects=wrong)) == unknown


def test_an_application_outlives_its_worker(stage: Stage):
    made = stage.create()
    done = stage.raw.api("DELETE", f"/accounts/{stage.account}/workers/scripts/worker", params={"force": "true"})
    assert done.status_code == 200
    assert stage.get(made)["durable_objects"] == {"namespace_id": stage.namespace}
    again = stage.make_namespace("worker", "Sandbox")
    assert again != stage.namespace
    assert stage.create(durable_objects={"namespace_id": again})["name"] == made["name"]


def test_images_must_exist(stage: Stage):
    def refused(image: str) -> Any:
        body = stage.body(configuration={"image": image})
        status, code, message = stage.refuse("POST", "/applications", body)
        assert (status, code) == (400, 1000)
        return message

    account, here = stage.account, stage.emulator.origin.removeprefix("http://")
    missing = f"registry.cloudflare.com/{account}/sandbox:none"
    assert refused(missing) == {"error": "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE", "details": {"image": missing}}
    assert refused(f"{here}/{account}/sandbox@sha256:{OTHER}")["error"] == "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE"
    assert refused(f"registry.cloudflare.com/{'0' * 32}/sandbox:v1")["error"] == "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE"
    assert refused("docker.io/library/alpine:3")["error"] == "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE"
    assert refused("ghcr.example/image:1") == {
        "error": "IMAGE_REGISTRY_NOT_CONFIGURED",
        "details": {"domain": "ghcr.example"},
    }
    assert refused(f"registry.cloudflare.com/{account}/sandbox:latest") == {
        "error": "VALIDATE_INPUT",
        "details": {"configuration.image": "Latest tags are not allowed"},
    }
    for form in ("sandbox:v1", f"registry.cloudflare.com/{account}/sandbox", f"http://{here}/{account}/sandbox:v1"):
        assert refused(form)["details"] == {"configuration.image": "must be host/repository with a tag or a digest"}
    stage.raw.control("POST", "/registry/images", json={"repository": "library/alpine", "tags": ["3"]})
    made = stage.create(configuration={"image": "docker.io/alpine:3"})
    for host in ("127.0.0.1:1", "localhost:9999", here):  # another port: the emulator was started anew since
        change = {"configuration": {"image": f"{host}/{account}/sandbox:v1"}}
        assert stage.raw.api("PATCH", f"{stage.base}/applications/{made['id']}", json=change).status_code == 200


@pytest.mark.parametrize(
    ("change", "details"),
    [
        ({"name": 5}, {"name": "expected string, received number"}),
        ({"surprise": 1, "more": 2}, {".": 'unrecognized keys: "surprise", "more"'}),
        ({"max_instances": -1}, {"max_instances": "expected number to be >=0"}),
        ({"max_instances": 1.5}, {"max_instances": "expected int, received number"}),
        ({"scheduling_policy": "gpu"}, {"scheduling_policy": 'expected "default"'}),
        (
            {"durable_objects": {"namespace_id": "x", "class_name": "y"}},
            {"durable_objects": 'unrecognized key: "class_name"'},
        ),
        ({"rollout_active_grace_period": 604801}, {"rollout_active_grace_period": "expected number to be <=604800"}),
        ({"constraints": {"regions": ["weur"]}}, {"constraints.regions[0]": "expected one of"}),
        ({"affinities": {"colocation": "moon"}}, {"affinities.colocation": 'expected "datacenter"'}),
        (
            {"scheduling_policy": "durable_object"},
            {".": 'unrecognized keys: "instances", "max_instances"', "configuration": "unrecognized keys"},
        ),
    ],
)
def test_bad_bodies(stage: Stage, change: dict[str, Any], details: dict[str, str]):
    status, code, message = stage.refuse("POST", "/applications", stage.body(**change))
    assert (status, code, message["error"]) == (400, 1000, "VALIDATE_INPUT")
    assert message["details"].keys() == details.keys()
    for path, text in details.items():
        assert message["details"][path].startswith(text)


def test_an_empty_body_names_every_missing_field(stage: Stage):
    _, _, message = stage.refuse("POST", "/applications", {})
    missing = {"name", "scheduling_policy", "instances", "max_instances", "configuration"}
    assert set(message["details"]) == missing
    assert stage.refuse("POST", "/applications", None)[2]["details"] == {".": "expected object, received null"}


def test_sizes(stage: Stage):
    def refused(**size: Any) -> Any:
        return stage.refuse("POST", "/applications", stage.body(configuration={"image": stage.image, **size}))[2]

    assert refused(vcpu=8, memory_mib=24576)["error"] == "SURPASSED_BASE_LIMITS"
    assert refused(instance_type="lite", vcpu=1)["details"] == {
        "configuration.instance_type": "cannot be combined with vcpu"
    }
    assert set(refused(vcpu=0.5)["details"]) == {"configuration.vcpu", "configuration.memory_mib"}
    assert refused(vcpu=1, memory_mib=3072, disk={"size_mb": 20001})["error"] == "SURPASSED_BASE_LIMITS"
    assert refused(instance_type="huge")["error"] == "VALIDATE_INPUT"
    custom = stage.create(
        configuration={"image": stage.image, "vcpu": 1, "memory_mib": 3072, "disk": {"size_mb": 20000}}
    )
    assert "instance_type" not in custom["configuration"]
    assert (custom["configuration"]["disk"]["size_mb"], custom["configuration"]["memory"]) == (20000, "3072MiB")
    path = f"{stage.base}/applications/{custom['id']}"
    changed = stage.raw.api("PATCH", path, json={"configuration": {"memory_mib": 4096}}).json()["result"]
    assert (changed["configuration"]["vcpu"], changed["configuration"]["disk"]["size_mb"]) == (1, 20000)
    changed = stage.raw.api("PATCH", path, json={"configuration": {"instance_type": "dev"}}).json()["result"]
    assert (changed["configuration"]["instance_type"], changed["configuration"]["vcpu"]) == ("lite", 0.0625)
    body = stage.body(
        name="big", max_instances=400, configuration={"image": stage.image, "instance_type": "standard-4"}
    )
    body.pop("durable_objects")
    assert stage.refuse("POST", "/applications", body)[2] == {"error": "SURPASSED_TOTAL_LIMITS"}


def test_other_rules_of_create(stage: Stage):
    outside = stage.body(constraints={"jurisdiction": "us", "regions": ["ENAM", "WEUR"]})
    assert stage.refuse("POST", "/applications", outside)[2] == {
        "error": "LOCATION_NOT_ALLOWED",
        "details": {"regions": "WEUR"},
    }
    assert stage.refuse("POST", "/applications", stage.body(jobs=True))[2] == {"error": "JOB_CREATE_NOT_ALLOWED"}
    logs = {"logs": {"enabled": True}}
    both = stage.body(observability=logs, configuration={"image": stage.image, "observability": logs})
    assert stage.refuse("POST", "/applications", both)[2]["details"] == {
        "observability": "cannot be combined with configuration.observability"
    }
    made = stage.create(
        configuration={"image": stage.image, "observability": logs}, affinities={"colocation": "datacenter"}
    )
    assert made["configuration"]["observability"] == logs
    path = f"{stage.base}/applications/{made['id']}"
    moved = stage.raw.api("PATCH", path, json={"observability": logs}).json()["result"]
    assert (moved["observability"], "observability" in moved["configuration"]) == (logs, False)
    for body in ({"name": "x"}, {"durable_objects": {"namespace_id": "x"}}, {"scheduling_policy": "durable_object"}):
        assert stage.refuse("PATCH", f"/applications/{made['id']}", body)[2]["error"] == "VALIDATE_INPUT"
    cleared = stage.raw.api("PATCH", path, json={"configuration": {"wrangler_ssh": None}, "affinities": None})
    assert "affinities" not in cleared.json()["result"]


def test_instances(client: Cloudflare, stage: Stage):
    made, account = stage.create(max_instances=30), stage.account
    for number in range(25):
        stage.run_instance(made, name=f"box-{number:02}", state="running" if number < 20 else "stopped")
    api = client.containers.applications.instances
    assert [each.name for each in api.list(made["id"], account_id=account, per_page=10)] == [
        f"box-{number:02}" for number in range(25)
    ]
    assert len(list(api.list(made["id"], account_id=account, state="active"))) == 20
    assert len(list(api.list(made["id"], account_id=account, state="not-active"))) == 5
    assert len(list(api.list(made["id"], account_id=account, name_prefix="box-1"))) == 10
    with pytest.deprecated_call():
        assert len(list(api.list_v1(made["id"], account_id=account, per_page=10))) == 25
    first = next(iter(api.list(made["id"], account_id=account)))
    assert api.get(first.id, account_id=account, application_id=made["id"]).configuration.memory == 1024
    assert stage.get(made)["health"]["instances"]["active"] == 20
    dash = stage.raw.api(
        "GET", f"{stage.base}/dash/applications/{made['id']}/instances", params={"per_page": 20}
    ).json()
    assert (len(dash["result"]["instances"]), len(dash["result"]["durable_objects"])) == (20, 20)
    stage.raw.api("PATCH", f"{stage.base}/applications/{made['id']}", json={"max_instances": 5})
    active = list(api.list(made["id"], account_id=account, state="active"))
    assert [each.name for each in active] == [f"box-{number:02}" for number in range(5)]
    path = f"{stage.emulator.origin}/_emulator/containers/{account}/applications/{made['id']}/instances"
    assert stage.raw.http.put(path, json={"name": "one more"}).status_code == 409
    assert stage.raw.http.delete(f"{path}/{first.id}").status_code == 200
    with pytest.raises(NotFoundError, match="INSTANCE_NOT_FOUND"):
        api.get(first.id, account_id=account, application_id=made["id"])


def test_image_preparation(client: Cloudflare, stage: Stage):
    seeded = stage.raw.control("POST", "/registry/images", json={"repository": f"{stage.account}/m", "tags": ["1"]})
    image = f"registry.cloudflare.com/{stage.account}/m@{seeded['digest']}"
    path = f"{stage.base}/image-preparations"
    assert stage.raw.api("POST", path, json={"image": image}).status_code == 202
    stage.raw.advance(2)
    ready = client.containers.images.prepare(account_id=stage.account, image=image)
    assert (ready.status, ready.artifact_digest[:7]) == ("ready", "sha256:")
    failing = {"image": image, "reason": "too large"}
    stage.raw.control("PUT", f"/containers/{stage.account}/image-preparation-failure", json=failing)
    assert stage.raw.api("POST", path, json={"image": image}).json()["result"]["status"] == "pending"
    stage.raw.advance(2)
    assert stage.raw.api("POST", path, json={"image": image}).json()["result"] == {
        "image": image,
        "status": "error",
        "reason": "too large",
    }
    for wrong in (stage.image, f"docker.io/a/b@sha256:{OTHER}", "nonsense"):
        assert stage.refuse("POST", "/image-preparations", {"image": wrong})[2]["error"] == "VALIDATE_INPUT"
    absent = f"registry.cloudflare.com/{stage.account}/m@sha256:{OTHER}"
    assert stage.refuse("POST", "/image-preparations", {"image": absent})[2]["error"] == (
        "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE"
    )


def test_me(stage: Stage):
    me = stage.raw.api("GET", f"{stage.base}/me").json()["result"]
    assert me["external_account_id"] == stage.account
    assert (me["limits"]["vcpu_per_deployment"], me["limits"]["disk_mb_per_deployment"]) == (4, 20000)


def test_permissions(stage: Stage, client: Cloudflare):
    groups = {
        group["name"]: group["id"]
        for group in stage.raw.api("GET", f"/accounts/{stage.account}/tokens/permission_groups").json()["result"]
    }
    policy = {
        "effect": "allow",
        "permission_groups": [{"id": groups["Workers Containers Read"]}],
        "resources": {f"com.cloudflare.api.account.{stage.account}": "*"},
    }
    body = {"name": "reader", "policies": [policy]}
    token = stage.raw.api("POST", f"/accounts/{stage.account}/tokens", json=body).json()["result"]["value"]
    reader = stage.raw.as_token(token)
    assert reader.api("GET", f"{stage.base}/applications").status_code == 200
    assert reader.refusal("POST", f"{stage.base}/applications", json=stage.body())[0] == 403
    credentials = f"{stage.base}/registries/registry.cloudflare.com/credentials"
    assert reader.refusal("POST", credentials, json={})[0] == 403
    with pytest.raises(APIStatusError):
        client.with_options(api_token="x" * 40).containers.applications.get("x", account_id=stage.account)
