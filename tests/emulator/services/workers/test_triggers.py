"""Routes, custom domains, workers.dev, schedules, tails and assets."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

from emulator.services.workers_triggers.cron import is_valid
from testbed.emulator.workers_upload import Uploads


@pytest.fixture
def uploads(raw: Any) -> Uploads:
    found = Uploads(raw)
    found.put("app")
    return found


@pytest.mark.usefixtures("uploads")
def test_routes(client: Cloudflare, zone: str):
    routes = client.workers.routes
    made = routes.create(zone_id=zone, pattern="*.sandbox.example/*", script="app")
    assert routes.get(made.id, zone_id=zone).script == "app"
    for number in range(30):
        routes.create(zone_id=zone, pattern=f"r{number}.sandbox.example/*")
    assert len(list(routes.list(zone_id=zone))) == 31
    changed = routes.update(made.id, zone_id=zone, pattern="sandbox.example/api/*")
    assert (changed.id, changed.pattern, changed.script) == (made.id, "sandbox.example/api/*", None)
    assert routes.delete(made.id, zone_id=zone).id == made.id
    with pytest.raises(NotFoundError, match="10009"):
        routes.get(made.id, zone_id=zone)


@pytest.mark.usefixtures("uploads")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"pattern": "sandbox.example/*", "script": "missing"}, 10019),
        ({"pattern": "taken.sandbox.example/*", "script": "app"}, 10020),
        ({"pattern": "elsewhere.example/*"}, 10022),
        ({"pattern": "a.*.sandbox.example/*"}, 10022),
        ({"pattern": "sandbox.example/*/x"}, 10022),
        ({"pattern": "sandbox.example/?q=1"}, 10022),
        ({"pattern": 5}, 10021),
        ({}, 10021),
    ],
)
def test_refused_routes(raw: Any, zone: str, body: dict[str, Any], code: int):
    assert (
        raw.api("POST", f"/zones/{zone}/workers/routes", json={"pattern": "taken.sandbox.example/*"}).status_code == 200
    )
    assert raw.refusal("POST", f"/zones/{zone}/workers/routes", json=body)[1] == code


def test_routes_go_with_their_script(uploads: Uploads, raw: Any, client: Cloudflare, account: str, zone: str):
    client.workers.routes.create(zone_id=zone, pattern="sandbox.example/*", script="app")
    client.workers.domains.update(account_id=account, hostname="app.sandbox.example", service="app", zone_id=zone)
    raw.api("DELETE", f"{uploads.base}/scripts/app")
    assert raw.control("GET", "/state")["empty"]


def test_domains(uploads: Uploads, client: Cloudflare, account: str, zone: str):
    uploads.put("other")
    domains = client.workers.domains
    made = domains.update(account_id=account, hostname="app.sandbox.example", service="app", zone_id=zone)
    assert (made.environment, made.zone_name) == ("production", "sandbox.example")
    assert domains.get(made.id, account_id=account).service == "app"
    assert [each.id for each in domains.list(account_id=account, hostname="app.sandbox.example")] == [made.id]
    assert list(domains.list(account_id=account, service="other")) == []
    # The hazard of a replacement that creates first: the new attachment has the old one's id and goes with it.
    moved = domains.update(account_id=account, hostname="app.sandbox.example", service="other")
    assert (moved.id, moved.service) == (made.id, "other")
    domains.delete(made.id, account_id=account)
    assert list(domains.list(account_id=account)) == []
    with pytest.raises(NotFoundError, match="100114"):
        domains.get(made.id, account_id=account)


def test_refused_domains(uploads: Uploads, raw: Any, client: Cloudflare, zone: str):
    path = f"{uploads.base}/domains"
    assert raw.refusal("PUT", path, json={"hostname": "x.elsewhere.example", "service": "app"})[1] == 100115
    assert raw.refusal("PUT", path, json={"hostname": "*.sandbox.example", "service": "app"})[1] == 100115
    assert raw.refusal("PUT", path, json={"hostname": "x.sandbox.example", "service": "missing"})[1] == 10007
    client.dns.records.create(zone_id=zone, name="x.sandbox.example", type="A", ttl=1, content="192.0.2.1")
    assert raw.refusal("PUT", path, json={"hostname": "x.sandbox.example", "service": "app"})[1] == 100117
    own = f"{uploads.base}/scripts/app/domains"
    origins = [{"hostname": "x.sandbox.example"}]
    assert raw.api("POST", f"{own}/changeset", json=origins).json()["result"]["conflicting"]
    assert raw.refusal("PUT", f"{own}/records", json={"origins": origins})[1] == 100117
    forced = {"origins": origins, "override_existing_dns_record": True}
    assert raw.api("PUT", f"{own}/records", json=forced).status_code == 200
    uploads.put("other")
    other = f"{uploads.base}/scripts/other/domains/records"
    assert raw.refusal("PUT", other, json={"origins": origins})[1] == 100116


def test_workers_dev(uploads: Uploads, raw: Any, client: Cloudflare, account: str):
    subdomain = client.workers.scripts.subdomain
    assert subdomain.get("app", account_id=account).enabled is False
    assert subdomain.create("app", account_id=account, enabled=True).previews_enabled is True
    assert subdomain.delete("app", account_id=account).enabled is False
    name = client.workers.subdomains.get(account_id=account).subdomain
    assert raw.refusal("PUT", f"{uploads.base}/subdomain", json={"subdomain": "mine"})[1] == 10036
    assert raw.refusal("GET", f"{uploads.base}/subdomains/{name}")[1] == 10031
    client.workers.subdomains.delete(account_id=account)
    assert raw.refusal("GET", f"{uploads.base}/subdomain")[:2] == (404, 10007)
    assert raw.refusal("POST", f"{uploads.base}/scripts/app/subdomain", json={"enabled": True})[1] == 10063
    assert raw.refusal("GET", f"{uploads.base}/subdomains/mine")[1] == 10032
    assert client.workers.subdomains.update(account_id=account, subdomain="mine").subdomain == "mine"
    assert uploads.get("workers/app")["subdomain"]["url"] == "https://app.mine.workers.dev"


def test_schedules_settings_and_tails(uploads: Uploads, raw: Any, client: Cloudflare, account: str):
    schedules = client.workers.scripts.schedules
    crons = ["*/5 * * * *", "0 0 * * MON-FRI"]
    made = schedules.update("app", account_id=account, body=[{"cron": cron} for cron in crons])
    assert [each.cron for each in made.schedules] == crons
    assert [each.cron for each in schedules.get("app", account_id=account).schedules] == crons
    for wrong in (
        "often",
        "99 * * * *",
        "0 24 * * *",
        "0 0 0 * *",
        "0 0 * 13 *",
        "0 0 * * 0",
        "*/0 * * * *",
        "9-2 * * * *",
    ):
        refused = raw.refusal("PUT", f"{uploads.base}/scripts/app/schedules", json=[{"cron": wrong}])
        assert refused == (400, 10100, f"Invalid cron expression: {wrong}")
    for right in ("59 23 LW * *", "0 0 15W JAN,feb 6L", "0-30/5 */2 L 1-6 mon#1"):
        assert is_valid(right)
    settings = client.workers.account_settings
    settings.update(account_id=account, green_compute=True)
    assert settings.get(account_id=account).green_compute is True
    tail = client.workers.scripts.tail
    made_tail = tail.create("app", account_id=account)
    assert tail.get("app", account_id=account).id == made_tail.id
    raw.control("POST", "/clock", json={"advance": 7 * 3600})
    with pytest.raises(NotFoundError):
        tail.get("app", account_id=account)
    tail.delete(made_tail.id, account_id=account, script_name="app")


def test_assets_session(uploads: Uploads, raw: Any):
    base = uploads.base
    manifest = {"/a.html": {"hash": "a" * 32, "size": 1}, "/b.html": {"hash": "b" * 32, "size": 1}}
    path = f"{base}/scripts/app/assets-upload-session"
    session = raw.api("POST", path, json={"manifest": manifest}).json()["result"]
    assert session["buckets"] == [["a" * 32, "b" * 32]]

    def send(token: str, *names: str) -> Any:
        files = [(name, (name, "eA==", "text/html")) for name in names]
        return raw.api(
            "POST", f"{base}/assets/upload?base64=true", files=files, headers={"authorization": f"Bearer {token}"}
        )

    assert send("wrong", "a" * 32).status_code == 401
    assert send(session["jwt"], "c" * 32).status_code == 400
    assert send(session["jwt"], "a" * 32).status_code == 202
    assert uploads.refused("app", assets={"jwt": session["jwt"]})[1] == "The assets upload session is not complete"
    done = send(session["jwt"], "b" * 32)
    assert done.status_code == 201
    uploads.put("app", assets={"jwt": done.json()["result"]["jwt"], "config": {"not_found_handling": "404-page"}})
    assert uploads.get("services/app")["default_environment"]["script"]["has_assets"] is True
    assert raw.api("POST", path, json={"manifest": manifest}).json()["result"]["buckets"] == []
    uploads.put("app", keep_assets=True)
    assert uploads.get("workers/app/versions")[0]["assets"]["config"] == {"not_found_handling": "404-page"}
    uploads.put("app")
    assert "assets" not in uploads.get("workers/app/versions")[0]


def test_services_view(uploads: Uploads, raw: Any):
    base = uploads.base
    assert raw.refusal("GET", f"{base}/services/missing")[:2] == (404, 10090)
    assert raw.refusal("GET", f"{base}/services/app/environments/staging")[:2] == (404, 10092)
    for part in ("", "/bindings", "/settings", "/routes", "/subdomain"):
        assert raw.api("GET", f"{base}/services/app/environments/production{part}").status_code == 200
    uploads.put("producer", tail_consumers=[{"service": "app"}])
    assert uploads.get("tails/by-consumer/app")[0]["producer"]["service"] == "producer"
