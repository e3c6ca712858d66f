"""The plugin's resources and its function for programs.

Arguments are written in snake case, as everywhere in Python; names that are the user's own (bindings, classes, modules,
environment variables) stay as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NotRequired, TypedDict

import pulumi
from pulumi import Input

from ..lookup import Question
from . import properties
from .lifecycle.names import camel
from .properties import Properties
from .shapes import Record


class WorkerModuleArgs(TypedDict, total=False):
    """A module of a Worker."""

    file: Input[str]
    """Path of the file, relative to the program's folder."""
    content_type: Input[str]
    """Content type; follows from the module's name if left out."""
    sha256: Input[str]
    """Hash of the content, to have it verified."""


class ClassSourceArgs(TypedDict):
    """A class of another script."""

    script_name: Input[str]
    """Script that has the objects now."""
    class_name: NotRequired[Input[str]]
    """Class there; the same name if left out."""


class ClassContainerArgs(TypedDict, total=False):
    """Makes the objects of a class run containers."""

    images: Input[Mapping[str, Input[str]]]
    """Images by name, for applications managed by their Durable Objects."""


class DurableObjectClassArgs(TypedDict, total=False):
    """A Durable Object class of a script."""

    storage: Input[str]
    """`sqlite` (if left out) or `legacy-kv`."""
    container: Input[ClassContainerArgs]
    """Present when the objects run containers; `{}` will do."""
    renamed_from: Input[str]
    """Former name. May stay: it has no effect once the class has been renamed."""
    transferred_from: Input[ClassSourceArgs]
    """Class of another script whose objects move here. May stay as well."""


class WorkerScriptArgs(TypedDict):
    """Arguments of a WorkerScript."""

    account_id: Input[str]
    """Account of the script."""
    script_name: Input[str]
    """Name of the script."""
    main_module: Input[str]
    """Name of the module that the Worker starts with."""
    modules: Input[Mapping[str, Input[WorkerModuleArgs]]]
    """Modules by name."""
    compatibility_date: Input[str]
    """Behaviour as of this date."""
    compatibility_flags: NotRequired[Input[Sequence[Input[str]]]]
    """Switches beside the date."""
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
    """`migrations` (if left out) or `exports`, from which there is no way back."""
    observability: NotRequired[Input[Mapping[str, Any]]]
    """What Cloudflare records of the Worker."""
    placement: NotRequired[Input[Mapping[str, Any]]]
    """Where the Worker runs."""
    limits: NotRequired[Input[Mapping[str, Any]]]
    """Limits of an invocation."""
    logpush: NotRequired[Input[bool]]
    """Whether records go to Logpush."""
    tail_consumers: NotRequired[Input[Sequence[Input[Mapping[str, Any]]]]]
    """Workers that receive this one's records."""
    tags: NotRequired[Input[Sequence[Input[str]]]]
    """Tags of the script."""
    workers_dev: NotRequired[Input[bool]]
    """Whether it answers on workers.dev; not if left out."""
    preview_urls: NotRequired[Input[bool]]
    """Whether versions answer on URLs of their own; not if left out."""
    force_delete: NotRequired[Input[bool]]
    """Delete the script even while other Workers need it."""
    adopt: NotRequired[Input[bool]]
    """Take over a script of this name that somebody else made."""


class InstanceSizeArgs(TypedDict):
    """A size of one's own instead of an instance type."""

    vcpu: Input[float]
    """Virtual CPUs, 1 to 4."""
    memory_mib: Input[int]
    """Memory in MiB, at least 3072 per vCPU."""
    disk_mb: Input[int]
    """Disk in MB, at most 20000."""


class PlacementConstraintsArgs(TypedDict, total=False):
    """Where instances may run."""

    regions: Input[Sequence[Input[str]]]
    """Regions, in capitals."""
    cities: Input[Sequence[Input[str]]]
    """Cities, in lower case."""
    tiers: Input[Sequence[Input[int]]]
    """Tiers of locations."""
    jurisdiction: Input[str]
    """`eu`, `fedramp` or `us`."""


class SshKeyArgs(TypedDict):
    """A public SSH key."""

    name: Input[str]
    """Whose key it is."""
    public_key: Input[str]
    """The key, of type ssh-ed25519."""


class RolloutSettingsArgs(TypedDict, total=False):
    """How a change of image or size reaches instances."""

    kind: Input[str]
    """`gradual` (if left out) or `immediate`."""
    steps: Input[Sequence[Input[int]]]
    """Percentages of a gradual rollout, rising, the last one 100."""
    grace_period_seconds: Input[int]
    """How long an instance in use is spared."""
    on_failure: Input[str]
    """`fail` (if left out), or `revert`: take application and Worker back together."""


class ContainerApplicationArgs(TypedDict):
    """Arguments of a ContainerApplication."""

    account_id: Input[str]
    """Account."""
    script_name: Input[str]
    """Script that has the class."""
    class_name: Input[str]
    """Durable Object class."""
    name: NotRequired[Input[str]]
    """Name; script and class if left out."""
    scheduling_policy: NotRequired[Input[str]]
    """`default` (if left out) or `durable_object`."""
    image: NotRequired[Input[str]]
    """Image by digest; required with the policy `default`."""
    instance_type: NotRequired[Input[str]]
    """Size by name; `lite` if left out."""
    size: NotRequired[Input[InstanceSizeArgs]]
    """Size in numbers instead of `instance_type`."""
    max_instances: NotRequired[Input[int]]
    """Most instances at a time; required with the policy `default`."""
    command: NotRequired[Input[Sequence[Input[str]]]]
    """Command instead of the image's."""
    entrypoint: NotRequired[Input[Sequence[Input[str]]]]
    """Entry point instead of the image's."""
    environment: NotRequired[Input[Mapping[str, Input[str]]]]
    """Environment variables."""
    constraints: NotRequired[Input[PlacementConstraintsArgs]]
    """Where instances may run."""
    affinities: NotRequired[Input[Mapping[str, Any]]]
    """What the scheduler prefers."""
    observability: NotRequired[Input[Mapping[str, Any]]]
    """What is recorded: `{"logs": {"enabled": True}}`."""
    authorized_keys: NotRequired[Input[Sequence[Input[SshKeyArgs]]]]
    """Keys that may log in."""
    trusted_user_ca_keys: NotRequired[Input[Sequence[Input[SshKeyArgs]]]]
    """Authorities whose keys may log in."""
    ssh: NotRequired[Input[Mapping[str, Any]]]
    """SSH into instances: `enabled` and `port`."""
    rollout: NotRequired[Input[RolloutSettingsArgs]]
    """How changes reach instances."""
    worker_version_id: NotRequired[Input[str]]
    """Version of the Worker that belongs to this image."""
    adopt: NotRequired[Input[bool]]
    """Take over the application that the class already has."""


class RegistryImageArgs(TypedDict):
    """Arguments of a RegistryImage."""

    account_id: Input[str]
    """Account of the registry."""
    repository: Input[str]
    """Repository in the account's registry."""
    digest: Input[str]
    """Digest of the image."""


class _PluginResource(pulumi.CustomResource):
    """Translates names between Python and the plugin."""

    token: ClassVar[str]
    inputs: ClassVar[Properties]
    outputs: ClassVar[Properties]

    def __init__(self, name: str, args: Mapping[str, Any], opts: pulumi.ResourceOptions | None) -> None:
        sent = Record(self.token, self.inputs).wire(dict(args))
        super().__init__(self.token, name, {**dict.fromkeys([*self.inputs, *self.outputs]), **sent}, opts)

    def __getattr__(self, name: str) -> Any:
        """Give an input or output by its Python name."""
        try:
            return self.__dict__[camel(name)]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no property {name!r}") from None


class WorkerScript(_PluginResource):
    """A Worker script with its bindings and Durable Object classes, uploaded in one request."""

    token = "cloudflare-sandbox:index:WorkerScript"  # noqa: S105 - a type token
    inputs, outputs = properties.WORKER_SCRIPT, properties.WORKER_SCRIPT_OUTPUTS

    script_name: pulumi.Output[str]
    """Name of the script."""
    version_id: pulumi.Output[str]
    """Id of the live version."""
    etag: pulumi.Output[str]
    """Hash of the live code as Cloudflare computes it."""
    migration_tag: pulumi.Output[str | None]
    """Tag of the last migration, if there was one."""
    namespace_ids: pulumi.Output[Mapping[str, str]]
    """Ids of the Durable Object namespaces by class."""
    url: pulumi.Output[str | None]
    """URL on workers.dev, if it answers there."""

    def __init__(self, name: str, args: WorkerScriptArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)


class ContainerApplication(_PluginResource):
    """The container application of a Durable Object class."""

    token = "cloudflare-sandbox:index:ContainerApplication"  # noqa: S105 - a type token
    inputs, outputs = properties.CONTAINER_APPLICATION, properties.CONTAINER_APPLICATION_OUTPUTS

    application_id: pulumi.Output[str]
    """Id of the application."""
    namespace_id: pulumi.Output[str]
    """Id of the Durable Object namespace."""
    version: pulumi.Output[int | None]
    """Number of the configuration that instances run."""

    def __init__(self, name: str, args: ContainerApplicationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)


class RegistryImage(_PluginResource):
    """An image in the account's registry: verified when it comes, deleted when it goes."""

    token = "cloudflare-sandbox:index:RegistryImage"  # noqa: S105 - a type token
    inputs, outputs = properties.REGISTRY_IMAGE, properties.REGISTRY_IMAGE_OUTPUTS

    reference: pulumi.Output[str]
    """The image with its registry and digest, as applications name it."""
    size: pulumi.Output[int]
    """Bytes of its layers as the registry keeps them, compressed."""

    def __init__(self, name: str, args: RegistryImageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)


class RegistryCredentials(TypedDict):
    """Short-lived credentials for an image registry."""

    host: str
    """Host to log in to."""
    username: str
    """User name."""
    password: str
    """Password; empty in previews."""


def get_registry_credentials(
    account_id: Input[str],
    *,
    permissions: Input[Sequence[str]] | None = None,
    expiration_minutes: Input[int] | None = None,
    registry: Input[str] | None = None,
    opts: pulumi.InvokeOutputOptions | None = None,
) -> pulumi.Output[RegistryCredentials]:
    """Mint credentials for the account's image registry; the result is secret, its password empty in previews."""
    arguments = {
        "accountId": account_id,
        "permissions": permissions,
        "expirationMinutes": expiration_minutes,
        "registry": registry,
    }
    found: pulumi.Output[Any] = pulumi.runtime.invoke_output(
        "cloudflare-sandbox:index:getRegistryCredentials", arguments, opts or pulumi.InvokeOutputOptions()
    )
    return pulumi.Output.secret(Question("registry credentials").told(found))
