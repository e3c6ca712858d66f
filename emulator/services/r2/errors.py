"""Refusals of R2, with the codes seen in live answers."""

from emulator.errors import Failure, Source, catalogued, inferred

_s3_texts = Source("R2 error texts as quoted in public issue threads; codes from the error catalogue, 2026-10")

BUCKET_EXISTS = _s3_texts(409, 10004, "The bucket you tried to create already exists, and you own it.")
BAD_NAME = _s3_texts(400, 10005, "The specified bucket name is not valid.")
NO_BUCKET = _s3_texts(404, 10006, "The specified bucket does not exist.")
NOT_EMPTY = _s3_texts(409, 10008, "The bucket you tried to delete is not empty.")
NO_OBJECT = _s3_texts(404, 10007, "The specified key does not exist.")
LONG_KEY = inferred(400, 10012, "The specified object name is not valid: it has more than 1024 bytes.")
INVALID = inferred(400, 10040, "The JSON you provided was not well formed: {problem}.")
BAD_JURISDICTION = inferred(400, 10013, "The jurisdiction {value} is not valid.")
BAD_STORAGE_CLASS = inferred(400, 10062, "The storage class {value} is not valid.")
NO_CORS = catalogued(404, 10059, "The CORS configuration does not exist.")
NO_DOMAIN = catalogued(404, 10053, "The specified domain was not found.")
DOMAIN_IN_USE = Failure(409, 10052, "The domain {domain} is already in use.", "inferred: 409 in use")
FOREIGN_ZONE = inferred(400, 10051, "The domain {domain} is not part of the zone.")
NO_NOTIFICATIONS = catalogued(404, 11015, "No event notification configuration found for the bucket.")
NO_QUEUE_RULES = catalogued(404, 11011, "No event notification configuration found for the queue.")
RULES_OVERLAP = catalogued(
    400, 11020, "Event notification rules overlap: {action} is already sent for that prefix and suffix."
)
BAD_NOTIFICATION = catalogued(400, 11014, "Invalid event notification configuration: {problem}.")
NO_QUEUE = catalogued(404, 11000, "Queue not found.")
