"""Refusals of Workers that several of its services share."""

from emulator.errors import REST_FACTS, Failure, Source, inferred

_wrangler = Source("codes wrangler 4.158.0 acts on; text inferred")
_threads = Source("answers of the API quoted in public issue threads")
_codes = Source(f"{REST_FACTS}; text inferred")

NO_SCRIPT = _threads(404, 10007, "This Worker does not exist on your account.")
NO_SERVICE = _wrangler(404, 10090, "This Worker does not exist on your account.")
NO_ENVIRONMENT = _wrangler(404, 10092, "This environment does not exist.")
BAD_NAME = inferred(400, 10016, "{name} is not a valid name for a Worker.")
NAME_TAKEN = inferred(409, 10040, "A Worker named {name} already exists on your account.")
INVALID = inferred(400, 10021, "{problem}")
NO_MODULE = _codes(400, 10021, 'No such module "{name}".')
BAD_BINDING = Failure(
    400, 10021, "binding {name} of type {type} must have a valid `{field}` specified", "text quoted by wrangler 4.158.0"
)
UNKNOWN_BINDING = inferred(400, 10021, "binding {name} has an unknown type {type}")
FUTURE_DATE = inferred(400, 10021, 'Can\'t set compatibility date in the future: "{date}"')
TOO_BIG = _wrangler(413, 10027, "Your Worker exceeded the size limit of 10 MiB after compression.")
TOO_BIG_UNPACKED = _wrangler(413, 10027, "Your Worker exceeded the size limit of 64 MiB before compression.")
DOES_NOT_START = Failure(400, 10021, "{problem}", "workerd's own words, as the upload's validation gives them")
NO_HANDLERS = _threads(400, 10068, "The uploaded script has no registered event handlers.")
BAD_CONTENT_TYPE = _codes(400, 10001, "The upload must be multipart/form-data with a part named metadata.")
BINDING_TWICE = _threads(400, 10053, "Binding name '{name}' already in use. Please use a different name and try again.")
NO_INHERITED = _wrangler(400, 10057, "The binding {name} cannot be inherited: {source} has no {old}.")
NO_KV = _codes(400, 10041, "KV namespace '{id}' not found.")
NO_D1 = inferred(400, 10181, "D1 binding references database '{id}' which was not found.")
NO_BUCKET = _threads(400, 10085, "R2 bucket '{name}' not found. Please use a different name and try again.")
NO_QUEUE = _codes(400, 11000, "Queue '{name}' not found.")
NO_TARGET = _codes(400, 10144, "Could not resolve service binding '{name}'. Target script '{target}' not found.")
STILL_CALLED = _codes(400, 10142, "This Worker is the target of service bindings of: {scripts}.")
STILL_USED = Failure(
    400,
    10064,
    "This Worker implements Durable Objects that are bound to by: {scripts}.",
    "code as for queues; inferred",
)
STILL_CONSUMING = _codes(400, 10064, "This Worker is still a consumer of queues: {queues}.")
SETTINGS_NOT_LIVE = _wrangler(
    400, 10214, "The latest version of this Worker is not deployed: deploy it before changing settings."
)
SECRET_NOT_LIVE = _wrangler(
    400, 10215, "The latest version of this Worker is not deployed: deploy it before changing secrets."
)
NO_VERSION = _codes(404, 100146, "Version not found.")
SECRETS_CHANGED = Failure(
    400,
    10220,
    "This version cannot be deployed without `force`. The following secrets have changed: {names}",
    "code and the end of the text as wrangler 4.158.0 reads them; that only values count is inferred",
)
VERSION_EXPORTS = _wrangler(400, 100405, "The versions of a deployment must declare the same `exports`.")
