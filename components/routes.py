"""Routes that lead requests to a Worker; one that exists already is taken over by its id."""

from collections.abc import Mapping, Sequence

import pulumi

from . import cloudflare
from .lookup import Question
from .settings.worker import RouteSettings


def with_zones(
    routes: Sequence[RouteSettings], known: Mapping[str, str], parent: pulumi.Resource | None
) -> list[RouteSettings]:
    """Return the routes with the ids of their zones; the account is asked once for each zone that is not known."""
    wanted = dict.fromkeys(str(route.zone) for route in routes if not route.zone_id)
    ids = {zone: known.get(zone) or _zone_id(zone, parent) for zone in wanted}
    return [route if route.zone_id else route.model_copy(update={"zone_id": ids[str(route.zone)]}) for route in routes]


def make_routes(
    name: str,
    routes: Sequence[RouteSettings],
    script_name: pulumi.Input[str],
    after: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions,
) -> None:
    """Make routes whose zones are known, once the Worker has all that it needs to answer."""
    for route in routes:
        own = pulumi.ResourceOptions(depends_on=[*after], import_=f"{route.zone_id}/{route.id}" if route.id else None)
        cloudflare.WorkersRoute(
            f"{name}-{route.pattern}",
            {
                "zone_id": str(route.zone_id),
                "pattern": route.pattern,
                "script": script_name,
            },
            pulumi.ResourceOptions.merge(opts, own),
        )


def _zone_id(name: str, parent: pulumi.Resource | None) -> str:
    question = Question(
        what=f"the zone {name} (worker.routes)",
        permission="Zone Read",
        setting="set zone_id of the route instead of zone",
        not_one=f"worker.routes: {{count}} zones called {name} can be seen with this API token, and one is needed",
    )
    return question.answered(lambda: cloudflare.get_zone(name, parent)).zone_id
