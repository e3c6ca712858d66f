"""Operations of Containers, and the control routes for tests."""

from emulator.registry import CONTROL, PARTIAL, Service

from . import bodies, errors, operations, registries, rules
from . import control as controls
from .errors import WRANGLER

api = Service(
    "containers",
    source=f"official Python SDK 5.9.0 (client.containers); {WRANGLER}",
    date="2026-11-16",
    invalid=errors.INVALID,
)
control = Service("containers_control", source=errors.OWN, date="2026-11-16", base=CONTROL, invalid=errors.BAD_CONTROL)
api.on_settle(rules.settle_all)

READ, WRITE = "Workers Containers Read", "Workers Containers Write"
_BASE = "/accounts/{account_id}/containers"
_APPLICATIONS = _BASE + "/applications"
_APPLICATION = _APPLICATIONS + "/{application_id}"
_INSTANCES = _APPLICATION + "/instances"
_ROLLOUTS = _APPLICATION + "/rollouts"
_ROLLOUT = _ROLLOUTS + "/{rollout_id}"
_DASH = _BASE + "/dash/applications"
_REGISTRIES = _BASE + "/registries"
_UNPUBLISHED = "unpublished; used by wrangler 4.158"
_READ_BY_WRANGLER = "the fields wrangler reads"
_ACTIONS = "actions next, previous, revert"
_NEWEST = "newest first; `limit`, and `last` to go on"
_EDIT_APPLICATION = (
    "image, size, command and environment are taken as wrangler sends them; instances follow by a rollout only"
)
_DELETE_APPLICATION = "gone after 3 s of the emulator's clock (see the durations)"
_CREATE_ROLLOUT = "a step takes 2 s of the emulator's clock (see the durations)"
_PREPARE_IMAGE = "ready after 1 s of the emulator's clock"

api.post(_APPLICATIONS, operations.create_application, WRITE, body=bodies.CREATE, note="names need not be unique")
api.get(_APPLICATIONS, operations.list_applications, READ)
api.get(_APPLICATION, rules.find, READ, view=rules.shown, name="get_application")
api.patch(_APPLICATION, operations.edit_application, WRITE, view=rules.shown, note=_EDIT_APPLICATION)
api.delete(_APPLICATION, operations.delete_application, WRITE, note=_DELETE_APPLICATION)
api.get(_APPLICATION + "/versions", operations.list_versions, READ)
api.get(_INSTANCES + "-v2", operations.list_instances, READ, note="those the runtime or a test reports")
api.get(_INSTANCES, operations.list_instances_v1, READ, note="deprecated; the list lies in result.instances")
api.get(_INSTANCES + "/{instance_id}", operations.get_instance, READ)
api.post(_ROLLOUTS, operations.create_rollout, WRITE, status=201, note=_CREATE_ROLLOUT)
api.get(_ROLLOUTS, operations.list_rollouts, READ, source=_UNPUBLISHED, note=_NEWEST)
api.get(_ROLLOUT, operations.get_rollout, READ, source=_UNPUBLISHED)
api.post(_ROLLOUT, operations.update_rollout, WRITE, source=_UNPUBLISHED, note=_ACTIONS)
api.delete(_ROLLOUT, operations.delete_rollout, WRITE, source=_UNPUBLISHED, note="not while it is under way")
api.post(_BASE + "/image-preparations", operations.prepare_image, WRITE, body=bodies.PREPARATION, note=_PREPARE_IMAGE)
api.get(_BASE + "/me", operations.get_me, READ, PARTIAL, source=_UNPUBLISHED, note="fixed limits")
for _path, _handler in (
    (_DASH, operations.dash_applications),
    (_DASH + "/{application_id}/instances", operations.dash_instances),
):
    api.get(_path, _handler, READ, PARTIAL, source=_UNPUBLISHED, note=_READ_BY_WRANGLER)
api.get(_REGISTRIES, registries.list_registries, READ, note="the managed one is listed with its loopback address")
api.post(
    _REGISTRIES,
    registries.configure_registry,
    WRITE,
    PARTIAL,
    body=bodies.REGISTRY,
    status=201,
    note="the secret is not looked up",
)
api.delete(_REGISTRIES + "/{domain}", registries.delete_registry, WRITE)
api.post(
    _REGISTRIES + "/{domain}/credentials",
    registries.generate_credentials,
    WRITE,
    body=bodies.CREDENTIALS,
    status=201,
    note="registry.cloudflare.com means the registry of this emulator: `registry_host` is its address on loopback, "
    "which clients must use (wrangler: CLOUDFLARE_CONTAINER_REGISTRY); made-up password for registries elsewhere",
)

_CONTROL = "/containers/{account_id}"
_CONTROLLED = _CONTROL + "/applications/{application_id}"
control.get("/containers/durations", controls.read_durations)
control.put("/containers/durations", controls.set_durations, body=controls.DURATIONS)
control.put(_CONTROLLED + "/rollout-failure", controls.fail_rollout, body=controls.FAILURE)
control.put(_CONTROL + "/image-preparation-failure", controls.fail_preparation, body=controls.PREPARATION)
control.put(_CONTROLLED + "/instances", controls.report_instance, body=controls.INSTANCE)
control.delete(_CONTROLLED + "/instances/{instance_id}", controls.forget_instance)
