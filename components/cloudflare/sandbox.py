"""The resources of our plugin for programs, and what its function returns.

Made from `components/provider/*/declaration.py`; `make docs` brings it up to date.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from pulumi import Input, Output

from ..provider.container_application.declaration import DECLARATION as CONTAINER_APPLICATION
from ..provider.registry_image.declaration import DECLARATION as REGISTRY_IMAGE
from ..provider.worker_script.declaration import DECLARATION as WORKER_SCRIPT
from .plugin_resource import PluginResource


class ClassContainerArgs(TypedDict):
    """Makes the objects of a class run containers."""

    images: NotRequired[Input[Mapping[str, Input[str]]]]
    """Images by name, for applications managed by their Durable Objects; prepared before upload."""


class ClassSourceArgs(TypedDict):
    """A class of another script."""

    script_name: Input[str]
    """Script that has the objects now."""
    class_name: NotRequired[Input[str]]
    """Class there; the same name if left out."""


class ContainerLogsArgs(TypedDict):
    """Logs of instances."""

    enabled: Input[bool]
    """Whether logs are kept."""


class ContainerObservabilityArgs(TypedDict):
    """What Cloudflare records of instances."""

    logs: Input[ContainerLogsArgs]
    """Logs."""


class DurableObjectClassArgs(TypedDict):
    """A Durable Object class of a script."""

    storage: NotRequired[Input[str]]
    """Storage; `sqlite` if left out."""
    container: NotRequired[Input[ClassContainerArgs]]
    """Present when the objects run containers; `{}` will do."""
    renamed_from: NotRequired[Input[str]]
    """Former name. May stay: it has no effect once the class has been renamed."""
    transferred_from: NotRequired[Input[ClassSourceArgs]]
    """Class of another script whose objects move here. May stay as well."""


class InstanceSizeArgs(TypedDict):
    """A size of one's own instead of an instance type."""

    vcpu: Input[float]
    """Virtual CPUs, 1 to 4."""
    memory_mib: Input[int]
    """Memory in MiB, at least 3072 per vCPU."""
    disk_mb: Input[int]
    """Disk in MB, at most 20000."""


class PlacementAffinitiesArgs(TypedDict):
    """What the scheduler prefers."""

    colocation: NotRequired[Input[str]]
    """Keep instances together."""
    hardware_generation: NotRequired[Input[str]]
    """Hardware to prefer."""


class PlacementConstraintsArgs(TypedDict):
    """Where instances may run."""

    regions: NotRequired[Input[Sequence[Input[str]]]]
    """Regions where instances may run."""
    cities: NotRequired[Input[Sequence[Input[str]]]]
    """Cities."""
    tiers: NotRequired[Input[Sequence[Input[int]]]]
    """Tiers of locations; `[1, 2]` once they are left out again."""
    jurisdiction: NotRequired[Input[str]]
    """Legal area that instances do not leave."""


class RolloutSettingsArgs(TypedDict):
    """How a change of image or size reaches instances.

    Its deadline is `customTimeouts.update`, 15 minutes if left out.
    """

    kind: NotRequired[Input[str]]
    """`gradual` (if left out) or `immediate`."""
    steps: NotRequired[Input[Sequence[Input[int]]]]
    """Percentages of a gradual rollout, rising, the last one 100; `[10, 100]` if left out, or `[100]` where
    `max_instances` is below 2."""
    grace_period_seconds: NotRequired[Input[int]]
    """How long an instance in use is spared; 0 if left out."""
    on_failure: NotRequired[Input[str]]
    """`fail` (if left out): stop and say why.

    `revert`: take the application, and the Worker with it, back to what ran before, then fail; needs
    `worker_version_id`.
    """


class SshAccessArgs(TypedDict):
    """SSH into instances through wrangler."""

    enabled: Input[bool]
    """Whether instances can be reached."""
    port: NotRequired[Input[int]]
    """Port in the container; 22 if left out."""


class SshKeyArgs(TypedDict):
    """A public SSH key."""

    name: Input[str]
    """Whose key it is."""
    public_key: Input[str]
    """The key."""


class TailConsumerArgs(TypedDict):
    """A Worker that receives the records of another."""

    service: Input[str]
    """Worker that receives the records."""


class WorkerLimitsArgs(TypedDict):
    """Limits of an invocation."""

    cpu_ms: NotRequired[Input[int]]
    """CPU time of an invocation in milliseconds."""
    subrequests: NotRequired[Input[int]]
    """Subrequests of an invocation."""


class WorkerLogsArgs(TypedDict):
    """Logs of a Worker."""

    enabled: NotRequired[Input[bool]]
    """Whether it is on."""
    head_sampling_rate: NotRequired[Input[float]]
    """Share of requests that are recorded, 0 to 1."""
    persist: NotRequired[Input[bool]]
    """Whether records are kept."""
    destinations: NotRequired[Input[Sequence[Input[str]]]]
    """Where records go as well."""
    invocation_logs: NotRequired[Input[bool]]
    """Whether each invocation is logged."""


class WorkerModuleArgs(TypedDict):
    """A module of a Worker. State holds its hash, never its content."""

    file: NotRequired[Input[str]]
    """Path of the file, relative to the program's folder. It is read when it is uploaded."""
    content_type: NotRequired[Input[str]]
    """Content type; follows from the module's name if left out."""
    sha256: NotRequired[Input[str]]
    """Hash of the content: computed from the file, or given to have it verified."""


class WorkerTracesArgs(TypedDict):
    """Traces of a Worker."""

    enabled: NotRequired[Input[bool]]
    """Whether it is on."""
    head_sampling_rate: NotRequired[Input[float]]
    """Share of requests that are recorded, 0 to 1."""
    persist: NotRequired[Input[bool]]
    """Whether records are kept."""
    destinations: NotRequired[Input[Sequence[Input[str]]]]
    """Where records go as well."""


class WorkerObservabilityArgs(TypedDict):
    """What Cloudflare records of a Worker."""

    enabled: Input[bool]
    """Whether it is on."""
    head_sampling_rate: NotRequired[Input[float]]
    """Share of requests that are recorded, 0 to 1."""
    logs: NotRequired[Input[WorkerLogsArgs]]
    """Logs."""
    traces: NotRequired[Input[WorkerTracesArgs]]
    """Traces."""


class WorkerPlacementArgs(TypedDict):
    """Where a Worker runs."""

    mode: NotRequired[Input[str]]
    """How the place is chosen."""
    region: NotRequired[Input[str]]
    """Cloud region to be near to."""
    host: NotRequired[Input[str]]
    """Host and port to be near to."""
    hostname: NotRequired[Input[str]]
    """Web host to be near to."""


class ContainerApplicationArgs(TypedDict):
    """Arguments of a ContainerApplication."""

    account_id: Input[str]
    """Account. Another one needs a replacement."""
    script_name: Input[str]
    """Script that has the class. Another one needs a replacement."""
    class_name: Input[str]
    """Durable Object class. Another one needs a replacement."""
    name: NotRequired[Input[str]]
    """Name; script and class if left out. Another one needs a replacement."""
    scheduling_policy: NotRequired[Input[str]]
    """`default` (if left out): the scheduler places instances of one image.

    `durable_object`: the Durable Objects manage instances of the images in the Worker's `classes`. Another one needs a
    replacement, and a new class.
    """
    image: NotRequired[Input[str]]
    """Image by digest; required with the policy `default`. Changes by a rollout."""
    instance_type: NotRequired[Input[str]]
    """Size by name; `lite` if left out. Changes by a rollout."""
    size: NotRequired[Input[InstanceSizeArgs]]
    """Size in numbers instead of `instance_type`. Changes by a rollout."""
    max_instances: NotRequired[Input[int]]
    """Most instances at a time; required with the policy `default`. Changes at once: fewer of them end running ones."""
    command: NotRequired[Input[Sequence[Input[str]]]]
    """Command instead of the image's. Changes by a rollout."""
    entrypoint: NotRequired[Input[Sequence[Input[str]]]]
    """Entry point instead of the image's. Changes by a rollout."""
    environment: NotRequired[Input[Mapping[str, Input[str]]]]
    """Environment variables. Changes by a rollout."""
    constraints: NotRequired[Input[PlacementConstraintsArgs]]
    """Where instances may run. Changes at once."""
    affinities: NotRequired[Input[PlacementAffinitiesArgs]]
    """What the scheduler prefers. Changes at once."""
    observability: NotRequired[Input[ContainerObservabilityArgs]]
    """What is recorded; nothing if left out. Changes at once."""
    authorized_keys: NotRequired[Input[Sequence[Input[SshKeyArgs]]]]
    """Keys that may log in. Changes at once."""
    trusted_user_ca_keys: NotRequired[Input[Sequence[Input[SshKeyArgs]]]]
    """Authorities whose keys may log in. Changes by a rollout."""
    ssh: NotRequired[Input[SshAccessArgs]]
    """SSH into instances; Cloudflare's default if left out. Changes at once."""
    rollout: NotRequired[Input[RolloutSettingsArgs]]
    """How changes reach instances."""
    worker_version_id: NotRequired[Input[str]]
    """Version of the Worker that belongs to this image; where a failed rollout is to take the Worker back."""
    adopt: NotRequired[Input[bool]]
    """Take over the application that the class already has."""


class ContainerApplication(PluginResource[ContainerApplicationArgs]):
    """The container application of a Durable Object class."""

    declaration = CONTAINER_APPLICATION

    account_id: Output[str]
    """Account. Another one needs a replacement."""
    script_name: Output[str]
    """Script that has the class. Another one needs a replacement."""
    class_name: Output[str]
    """Durable Object class. Another one needs a replacement."""
    application_id: Output[str]
    """Id of the application."""
    namespace_id: Output[str]
    """Id of the Durable Object namespace."""
    version: Output[int | None]
    """Number of the configuration that instances run."""


class RegistryImageArgs(TypedDict):
    """Arguments of a RegistryImage."""

    account_id: Input[str]
    """Account of the registry. Another one needs a replacement."""
    repository: Input[str]
    """Repository in the account's registry. Another one needs a replacement."""
    digest: Input[str]
    """Digest of the image. Another one needs a replacement, and deletes the old image once nothing runs it."""


class RegistryImage(PluginResource[RegistryImageArgs]):
    """An image in the account's registry: verified when it comes, deleted when it goes."""

    declaration = REGISTRY_IMAGE

    account_id: Output[str]
    """Account of the registry. Another one needs a replacement."""
    repository: Output[str]
    """Repository in the account's registry. Another one needs a replacement."""
    digest: Output[str]
    """Digest of the image. Another one needs a replacement, and deletes the old image once nothing runs it."""
    reference: Output[str]
    """The image with its registry and digest, as applications name it."""
    size: Output[int]
    """Bytes of its layers as the registry keeps them, compressed."""


class WorkerScriptArgs(TypedDict):
    """Arguments of a WorkerScript."""

    account_id: Input[str]
    """Account of the script. Another one needs a replacement."""
    script_name: Input[str]
    """Name of the script. Another one needs a replacement."""
    main_module: Input[str]
    """Name of the module that the Worker starts with."""
    modules: Input[Mapping[str, Input[WorkerModuleArgs]]]
    """Modules by name."""
    compatibility_date: Input[str]
    """Behaviour as of this date."""
    compatibility_flags: NotRequired[Input[Sequence[Input[str]]]]
    """Switches beside the date; their order means nothing."""
    bindings: NotRequired[Input[Mapping[str, Input[Mapping[str, Any]]]]]
    """Bindings by name: `type` and the fields of that type, in snake case."""
    keep_bindings: NotRequired[Input[Sequence[Input[str]]]]
    """Kinds of bindings that others own: they are kept, not shown, not removed."""
    classes: NotRequired[Input[Mapping[str, Input[DurableObjectClassArgs]]]]
    """Durable Object classes by name."""
    deleted_classes: NotRequired[Input[Sequence[Input[str]]]]
    """Classes to delete with all their objects. May stay afterwards."""
    transferred_classes: NotRequired[Input[Mapping[str, Input[str]]]]
    """Classes that another script takes over, and that script."""
    lifecycle: NotRequired[Input[str]]
    """How classes are declared to Cloudflare: tagged `migrations` (if left out), or `exports`, from which there is no
    way back."""
    observability: NotRequired[Input[WorkerObservabilityArgs]]
    """What Cloudflare records; nothing if left out."""
    placement: NotRequired[Input[WorkerPlacementArgs]]
    """Where the Worker runs; near its callers if left out."""
    limits: NotRequired[Input[WorkerLimitsArgs]]
    """Limits of an invocation."""
    logpush: NotRequired[Input[bool]]
    """Whether records go to Logpush."""
    tail_consumers: NotRequired[Input[Sequence[Input[TailConsumerArgs]]]]
    """Workers that receive this one's records."""
    tags: NotRequired[Input[Sequence[Input[str]]]]
    """Tags of the script; their order means nothing."""
    workers_dev: NotRequired[Input[bool]]
    """Whether it answers on workers.dev; not if left out."""
    preview_urls: NotRequired[Input[bool]]
    """Whether versions answer on URLs of their own; not if left out."""
    force_delete: NotRequired[Input[bool]]
    """Delete the script even while other Workers need it."""
    adopt: NotRequired[Input[bool]]
    """Take over a script of this name that somebody else made."""


class WorkerScript(PluginResource[WorkerScriptArgs]):
    """A Worker script with its bindings and Durable Object classes, uploaded in one request."""

    declaration = WORKER_SCRIPT

    account_id: Output[str]
    """Account of the script. Another one needs a replacement."""
    script_name: Output[str]
    """Name of the script. Another one needs a replacement."""
    main_module: Output[str]
    """Name of the module that the Worker starts with."""
    compatibility_date: Output[str]
    """Behaviour as of this date."""
    version_id: Output[str]
    """Id of the live version."""
    etag: Output[str]
    """Hash of the live code as Cloudflare computes it."""
    migration_tag: Output[str | None]
    """Tag of the last migration, if there was one."""
    namespace_ids: Output[Mapping[str, str]]
    """Ids of the Durable Object namespaces by class."""
    url: Output[str | None]
    """URL on workers.dev, if it answers there."""


class RegistryCredentials(TypedDict):
    """Short-lived credentials for an image registry."""

    host: str
    """Host to log in to."""
    username: str
    """User name."""
    password: str
    """Password; empty in previews."""
