"""Applications, versions, rollouts and instances as the API shows them."""

from datetime import UTC, datetime
from typing import Any

from emulator.clock import stamp
from emulator.store import Document, pick

from . import replacing, rollouts, sizes
from .bodies import MANAGED
from .replacing import LIVE
from .rollouts import Rollout

_OPTIONAL = ("constraints", "affinities", "observability", "priorities")


def moment(seconds: float) -> str:
    """A moment as the API writes it."""
    return stamp(datetime.fromtimestamp(seconds, UTC))


def application(app: Document, instances: list[Document], rollout: Rollout | None, target: Document) -> Document:
    """An application; `target` is the version its instances are going to."""
    shown: Document = {
        **pick(app, "id", "account_id", "name"),
        "scheduling_policy": app["policy"],
        "created_at": moment(app["created_at"]),
        "updated_at": moment(app["updated_at"]),
    }
    if app["namespace_id"]:
        shown["durable_objects"] = {"namespace_id": app["namespace_id"]}
    shown |= {name: app[name] for name in _OPTIONAL if app.get(name) is not None}
    if app["policy"] == MANAGED:
        return {**shown, "configuration": app["configuration"], "health": _managed_health(instances)}
    configuration = sizes.expanded(app["configuration"])
    shown |= {
        "configuration": configuration,
        **pick(app, "instances", "max_instances", "rollout_active_grace_period", "version"),
        "health": health(app, instances, rollout),
        "scheduling_hint": {
            "current": {"instances": app["instances"], "configuration": configuration, "version": app["version"]},
            "target": {
                "instances": app["instances"],
                "configuration": sizes.expanded(target["configuration"]),
                "version": target["version"],
            },
        },
    }
    if app["active_rollout_id"]:
        shown["active_rollout_id"] = app["active_rollout_id"]
    return shown


def health(app: Document, instances: list[Document], rollout: Rollout | None) -> Document:
    """Counts of instances and what went wrong, of a scheduled application."""
    counts = {state: sum(each["state"] == state for each in instances) for state in (*LIVE, "failed")}
    # Without Durable Objects the scheduler keeps the asked number of instances running by itself.
    running = counts["running"] + (0 if app["namespace_id"] else app["instances"])
    shown: Document = {
        "instances": {
            "active": running,
            "assigned": 0,
            "healthy": running,
            "failed": counts["failed"],
            "starting": counts["provisioning"],
            "scheduling": 0,
        },
        "errors": [],
    }
    if rollout is not None:
        shown["errors"] = [_error(rollout, number, error) for number, error in enumerate(rollout["errors"])]
        if rollout["strategy"] == rollouts.NEW_INSTANCES:
            shown["summary"] = _summary(rollout, instances)
    return shown


def _managed_health(instances: list[Document]) -> Document:
    active = sum(each["state"] in ("running", "stopping") for each in instances)
    return {"instances": {"active": active, "starting": sum(each["state"] == "provisioning" for each in instances)}}


def _summary(rollout: Rollout, instances: list[Document]) -> str:
    if rollout["errors"]:
        return "unhealthy"
    if not any(each["version"] == rollout["target_version"] for each in instances):
        return "pending"
    return "degraded" if rollout["moving"] else "healthy"


def _error(rollout: Rollout, number: int, error: dict[str, Any]) -> Document:
    event = {
        "id": f"{rollout['id']}-{number}",
        "name": error["event"],
        "type": "UserError" if error["event"] == "ImagePullError" else "Error",
        "message": error["message"],
        "details": {},
        "statusChange": {},
        "time": moment(error["time"]),
    }
    return {"instance_id": rollout["id"], "event": event}


def rollout(app: Document, value: Rollout, instances: list[Document]) -> Document:
    """A rollout."""
    shown: Document = {
        name: value[name] for name in ("id", "description", "status", "kind", "strategy", "current_version")
    }
    shown |= {
        "target_version": value["target_version"],
        "current_configuration": sizes.expanded(value["current_configuration"]),
        "target_configuration": sizes.expanded(value["target_configuration"]),
        "created_at": moment(value["created_at"]),
        "last_updated_at": moment(value["updated_at"]),
        "health": health(app, instances, value),
    }
    if value["started_at"] is not None:
        shown["started_at"] = moment(value["started_at"])
    aim = rollouts.aim(value)
    if value["strategy"] == rollouts.NEW_INSTANCES:
        shares = {"current_version_percentage": 100 - aim, "target_version_percentage": aim}
        return {**shown, "percentage": aim, "version_distribution": shares}
    shown["steps"] = [_step(value, number, step) for number, step in enumerate(value["steps"])]
    shown["progress"] = _progress(value, instances)
    return shown


def _step(value: Rollout, number: int, step: Document) -> Document:
    shown = {
        "id": number + 1,
        "status": step["status"],
        "description": value["descriptions"][number],
        "step_size": {"percentage": value["targets"][number]},
    }
    shown |= {name: moment(step[name]) for name in ("started_at", "completed_at") if step[name] is not None}
    if step["reason"]:
        shown["reason"] = step["reason"]
    return shown


def _progress(value: Rollout, instances: list[Document]) -> Document:
    total, updated = replacing.progress(value, instances)
    shown: Document = {
        "total_steps": len(value["steps"]),
        "current_step": value["position"] + (1 if value["moving"] else 0),
        "total_instances": total,
        "updated_instances": updated,
    }
    if rollouts.is_active(value):
        shown["version_distribution"] = {
            "current_version_instances": total - updated,
            "target_version_instances": updated,
            "target_version_percentage": rollouts.aim(value),
        }
    return shown


def instance(app: Document, each: Document, configuration: Document | None) -> Document:
    """An instance as the public lists show it."""
    status: Document = {"state": each["state"], "updated_at": moment(each["updated_at"])}
    if each.get("exit_code") is not None:
        status["exit_code"] = each["exit_code"]
    shown: Document = {
        "id": each["id"],
        "application_id": app["id"],
        "image": each.get("image") or (configuration or {}).get("image", ""),
        "status": status,
        "started_at": moment(each["started_at"]),
        "location": {"name": each["location"], "region": each["region"]},
    }
    if each.get("name"):
        shown["name"] = each["name"]
    if configuration is not None:
        size = sizes.size_of(configuration)
        shown["configuration"] = {"vcpu": size.vcpu, "memory": size.memory_mib, "disk": size.disk_mb}
    return shown


def dash_application(shown: Document) -> Document:
    """An application as the dashboard's list shows it."""
    names = ("id", "name", "created_at", "updated_at", "health")
    return {
        **{name: shown[name] for name in names},
        "instances": shown.get("max_instances", 0),
        "image": shown.get("configuration", {}).get("image", ""),
        "version": shown.get("version", 0),
    }


def dash_instance(each: Document) -> Document:
    """An instance as the dashboard's list shows it."""
    status = {"provisioning": "placed"}.get(each["state"], each["state"])
    return {
        "id": each["id"],
        "app_version": each["version"],
        "created_at": moment(each["started_at"]),
        "location": each["location"],
        "current_placement": {"status": {"container_status": status, "health": status}},
    }


def durable_object(each: Document) -> Document:
    """The Durable Object an instance belongs to, as the dashboard's list shows it."""
    return {
        "id": each["id"],
        "name": each.get("name"),
        "deployment_id": each["id"] if each["state"] in LIVE else None,
        "assigned_at": moment(each["started_at"]),
    }
