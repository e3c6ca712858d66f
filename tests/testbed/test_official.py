"""How much of the emulator the official SDK can judge; a loss shows here."""

from emulator.registry import API, Fidelity, Operation, load_services
from testbed.emulator import official, sdk

OPERATIONS = [
    operation
    for service in load_services()
    for operation in service.operations
    if operation.base == API and operation.fidelity is not Fidelity.ABSENT
]

NOT_IN_SDK = {
    "containers.dash_applications",
    "containers.dash_instances",
    "containers.delete_rollout",
    "containers.get_me",
    "containers.get_rollout",
    "containers.list_rollouts",
    "containers.update_rollout",
    "durable_objects.get_namespace",
    "kv.delete_many_older",
    "workers_beta.patch_latest_version",
    "workers_domains.get_record",
    "workers_domains.list_records",
    "workers_domains.preview_domains",
    "workers_domains.replace_domains",
    "workers_routes.replace_routes",
    "workers_services.delete_service",
    "workers_services.get_content",
    "workers_services.get_environment",
    "workers_services.get_references",
    "workers_services.get_service",
    "workers_services.get_settings",
    "workers_services.get_subdomain",
    "workers_services.list_bindings",
    "workers_services.list_routes",
    "workers_services.list_tail_producers",
    "workers_triggers.check_subdomain",
    "zone_settings.list_settings",
}
ANSWERS_OTHER_THAN_JSON = {
    "dns.export_records",  # a zone file
    "kv.read_value",  # the value
    "r2.get_object",  # the object
    "workers.download_script",  # the script
    "workers.get_content",  # a form with the modules
}
WRITES_WITHOUT_JSON = {
    "access.refresh_service_token",  # no body
    "dns.import_records",  # a form
    "kv.write_value",  # a form
    "r2.edit_bucket",  # headers
    "r2.put_object",  # the object
    "tokens.account_roll",  # no body in the SDK
    "tokens.user_roll",  # no body in the SDK
    "workers.edit_settings",  # a form
    "workers.put_content",  # a form
    "workers.upload_script",  # a form
    "workers_assets.upload_files",  # a form
    "workers_triggers.create_tail",  # no body
    "workers_versions.upload_version",  # a form
}


def known(operation: Operation) -> bool:
    return sdk.find(operation.method, operation.path) is not None


def test_operations_the_sdk_does_not_have():
    assert {operation.id for operation in OPERATIONS if not known(operation)} == NOT_IN_SDK


def test_every_answer_can_be_judged():
    judged = {op.id for op in OPERATIONS if official.answer_schema(op.method, op.path) is not None}
    print(f"{len(judged)} of {len(OPERATIONS)} operations have an official answer")  # noqa: T201 - shown by -rP
    assert len(judged) >= 265
    assert {operation.id for operation in OPERATIONS} - judged == NOT_IN_SDK | ANSWERS_OTHER_THAN_JSON


def test_every_body_can_be_made():
    writes = {op.id for op in OPERATIONS if op.method in ("POST", "PUT", "PATCH")}
    described = {op.id for op in OPERATIONS if official.body_schema(op.method, op.path) is not None}
    print(f"{len(described)} operations have an official body")  # noqa: T201 - shown by -rP
    assert len(described) >= 102
    assert writes - described == (NOT_IN_SDK & writes) | WRITES_WITHOUT_JSON


def test_bodies_have_wire_names_and_no_parameters():
    schema = official.body_schema("POST", "/accounts/{account_id}/r2/buckets")
    assert schema["properties"].keys() == {"name", "locationHint", "storageClass"}
    assert schema["required"] == ["name"]


def test_bodies_of_unions_have_no_parameters():
    schema = official.body_schema("POST", "/zones/{zone_id}/dns_records")
    variants = [schema["$defs"][variant["$ref"].rpartition("/")[2]] for variant in schema["anyOf"]]
    assert len(variants) > 20
    assert all("type" in variant["properties"] and "zone_id" not in variant["properties"] for variant in variants)


def test_lists_are_required_where_the_sdk_reads_them():
    path = "/accounts/{account_id}/workers/scripts/{script_name}/versions"
    schema = official.answer_schema("GET", path)
    assert schema["required"] == ["success", "errors", "messages", "result"]
    result = schema["$defs"][schema["properties"]["result"]["$ref"].rpartition("/")[2]]
    assert result["required"] == ["items"]
