"""Refusals of the Durable Object lifecycle."""

from emulator.errors import Failure, Source, catalogued, inferred

_THREADS = "answers of the API quoted in public issue threads (workers-sdk 705, 4943, 8203, 10034, iterate 1796), 2026"
_threads = Source(_THREADS)
_docs = Source("Durable Object class exports, Cloudflare's documentation, 2026-09")

NO_CLASS = _threads(
    400,
    10061,
    "Cannot create binding for class '{name}' because it is not currently configured to implement Durable Objects."
    " Ensure a --new-class migration has been applied to it.",
)
STILL_BOUND = _threads(
    400,
    10061,
    "Cannot apply --delete-class migration to class '{name}' without also removing the binding that references it.",
)
NOT_EXPORTED = _threads(
    403,
    10064,
    "New version of script does not export class '{name}' which is depended on by existing Durable Objects."
    " If you want to delete them, try a delete-class migration.",
)
MIGRATION_NOT_EXPORTED = _threads(
    400, 10070, "Cannot apply {kind} migration to class '{name}' that is not exported by script."
)
CLASS_EXISTS = catalogued(
    400,
    10074,
    "Cannot apply {kind} migration to class '{name}' that is already depended on by existing Durable Objects.",
)
CLASS_MISSING = inferred(
    400, 10074, "Cannot apply {kind} migration to class '{name}': no Durable Objects depend on it{where}."
)
TARGETED_TWICE = catalogued(400, 10074, "class '{name}' cannot be the target of more than one migration")
NOT_SQLITE = catalogued(400, 10074, "class '{name}' is not a SQLite Durable Object, which containers need.")
WRONG_TAG = Failure(
    412, 10079, "Migration tag precondition failed; current tag is {tag}", f"{_THREADS}; status inferred"
)
FREE_PLAN = Failure(
    400,
    10097,
    "In order to use Durable Objects with a free plan, you must create a namespace using a `new_sqlite_classes`"
    " migration.",
    "cloudflare/templates 459",
)
KEY_VALUE_REFUSED = Failure(
    400,
    10099,
    "This account cannot create namespaces on key-value storage: use `new_sqlite_classes` for class '{name}'.",
    "code from the facts on the deploy tool, 2026-11; text inferred",
)
INVALID_MIGRATION = inferred(400, 10021, "Invalid Durable Object migration: {problem}")
NO_CONTAINER_CLASS = inferred(
    400, 10021, "The container of class '{name}' has no Durable Object class of that name in this Worker."
)
BOTH_FLOWS = Failure(
    400, 100403, "`migrations` and `exports` cannot be used together.", "exclusive by the documentation; code inferred"
)
ONE_WAY = Failure(
    400,
    100403,
    "This Worker declares its Durable Object classes with `exports` and cannot go back to `migrations`.",
    "one-way by the documentation; code from the facts on the deploy tool, 2026-11",
)
RECONCILIATION = _docs(400, 100402, "Durable Object exports reconciliation failed for {classes}.")
BINDING_NEEDS_EXPORT = Failure(
    400,
    100406,
    "The binding to class '{name}' depends on an export that has not been applied: deploy it first.",
    "code from wrangler 4.158.0; text inferred",
)
LIFECYCLE_BETWEEN = Failure(
    400,
    10210,
    "Version {version} cannot be deployed: Durable Object classes have changed since it was live.",
    "refused by the documentation; code inferred",
)
NO_NAMESPACE = catalogued(404, 10066, "Durable Object namespace not found.")
