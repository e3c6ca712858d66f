"""Refusals of Workers that several of its services share."""

from emulator.errors import REST_FACTS, Failure

_WRANGLER = "codes wrangler 4.158.0 acts on; text inferred"
_THREADS = "answers of the API quoted in public issue threads"
_CODES = f"{REST_FACTS}; text inferred"

NO_SCRIPT = Failure(404, 10007, "This Worker does not exist on your account.", _THREADS)
NO_SERVICE = Failure(404, 10090, "This Worker does not exist on your account.", _WRANGLER)
NO_ENVIRONMENT = Failure(404, 10092, "This environment does not exist.", _WRANGLER)
BAD_NAME = Failure(400, 10016, "{name} is not a valid name for a Worker.", "inferred")
NAME_TAKEN = Failure(409, 10040, "A Worker named {name} already exists on your account.", "inferred")
INVALID = Failure(400, 10021, "{problem}", "inferred")
NO_MODULE = Failure(400, 10021, 'No such module "{name}".', _CODES)
BAD_BINDING = Failure(
    400, 10021, "binding {name} of type {type} must have a valid `{field}` specified", "text quoted by wrangler 4.158.0"
)
UNKNOWN_BINDING = Failure(400, 10021, "binding {name} has an unknown type {type}", "inferred")
FUTURE_DATE = Failure(400, 10021, 'Can\'t set compatibility date in the future: "{date}"', "inferred")
TOO_BIG = Failure(413, 10027, "Your Worker exceeded the size limit of 10 MiB after compression.", _WRANGLER)
TOO_BIG_UNPACKED = Failure(413, 10027, "Your Worker exceeded the size limit of 64 MiB before compression.", _WRANGLER)
DOES_NOT_START = Failure(400, 10021, "{problem}", "workerd's own words, as the upload's validation gives them")
NO_HANDLERS = Failure(400, 10068, "The uploaded script has no registered event handlers.", _THREADS)
BAD_CONTENT_TYPE = Failure(400, 10001, "The upload must be multipart/form-data with a part named metadata.", _CODES)
BINDING_TWICE = Failure(
    400, 10053, "Binding name '{name}' already in use. Please use a different name and try again.", _THREADS
)
NO_INHERITED = Failure(400, 10057, "The binding {name} cannot be inherited: {source} has no {old}.", _WRANGLER)
NO_KV = Failure(400, 10041, "KV namespace '{id}' not found.", _CODES)
NO_D1 = Failure(400, 10181, "D1 binding references database '{id}' which was not found.", "inferred")
NO_BUCKET = Failure(400, 10085, "R2 bucket '{name}' not found. Please use a different name and try again.", _THREADS)
NO_QUEUE = Failure(400, 11000, "Queue '{name}' not found.", _CODES)
NO_TARGET = Failure(
    400, 10144, "Could not resolve service binding '{name}'. Target script '{target}' not found.", _CODES
)
STILL_CALLED = Failure(400, 10142, "This Worker is the target of service bindings of: {scripts}.", _CODES)
STILL_USED = Failure(
    400,
    10064,
    "This Worker implements Durable Objects that are bound to by: {scripts}.",
    "code as for queues; inferred",
)
STILL_CONSUMING = Failure(400, 10064, "This Worker is still a consumer of queues: {queues}.", _CODES)
SETTINGS_NOT_LIVE = Failure(
    400, 10214, "The latest version of this Worker is not deployed: deploy it before changing settings.", _WRANGLER
)
SECRET_NOT_LIVE = Failure(
    400, 10215, "The latest version of this Worker is not deployed: deploy it before changing secrets.", _WRANGLER
)
NO_VERSION = Failure(404, 100146, "Version not found.", _CODES)
SECRETS_CHANGED = Failure(
    400,
    10220,
    "This version cannot be deployed without `force`. The following secrets have changed: {names}",
    "code and the end of the text as wrangler 4.158.0 reads them; that only values count is inferred",
)
VERSION_EXPORTS = Failure(400, 100405, "The versions of a deployment must declare the same `exports`.", _WRANGLER)
