"""What of a stack is billed, as its settings say. Pure."""

from ..settings import SandboxSettings
from .billed import Billed, Instances, calls_a_month, egress_of


def of_settings(settings: SandboxSettings) -> Billed:
    """Return what of a stack is billed."""
    storage, managed = settings.storage, settings.sdk.generation == "1.x"
    told = () if managed else settings.kinds
    return Billed(
        instances=tuple(
            Instances(
                kind.name,
                kind.container.resources,
                kind.container.max_instances,
                egress_of(kind.container.regions, kind.container.jurisdiction),
            )
            for kind in told
        ),
        buckets=len(storage.buckets) + len(storage.existing.buckets),
        namespaces=storage.conversations.enabled + len(storage.existing.namespaces),
        queues=int(storage.events.enabled),
        certificates=int(bool(settings.domain and settings.domain.certificate_hosts)),
        scheduled_calls=sum(calls_a_month(each) for each in settings.worker.schedules),
        untold=tuple(kind.name for kind in settings.kinds) if managed else (),
    )
