"""Routes that lead requests to a Worker; one that exists already is taken over by its id."""

from collections.abc import Sequence

import pulumi

from . import bridged
from .lookup import Question
from .settings.worker import RouteSettings


def make_routes(
    name: str,
    routes: Sequence[RouteSettings],
    script_name: pulumi.Input[str],
    after: Sequence[pulumi.Resource],
    opts: pulumi.ResourceOptions,
) -> None:
    """Make the routes once the Worker has all that it needs to answer."""
    for route in routes:
        own = pulumi.ResourceOptions(depends_on=[*after], import_=f"{route.zone_id}/{route.id}" if route.id else None)
        bridged.WorkersRoute(
            f"{name}-{route.pattern}",
            zone_id=route.zone_id or _zone_id(str(route.zone), opts),
            pattern=route.pattern,
            script=script_name,
            opts=pulumi.ResourceOptions.merge(opts, own),
        )


def _zone_id(name: str, opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    found = bridged.get_zone_output(
        filter={"match": "all", "name": name}, opts=pulumi.InvokeOutputOptions(parent=opts.parent)
    )
    question = Question(
        what=f"the zone {name} (worker.routes)",
        permission="Zone Read",
        setting="set zone_id of the route instead of zone",
        not_one=f"worker.routes: {{count}} zones called {name} can be seen with this API token, and one is needed",
    )
    return question.told(found.zone_id)
