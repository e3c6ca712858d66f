"""Refusals of R2, with the codes seen in live answers."""

from emulator.errors import Failure

_S3_TEXTS = "R2 error texts as quoted in public issue threads; codes from the error catalogue, 2026-10"

BUCKET_EXISTS = Failure(409, 10004, "The bucket you tried to create already exists, and you own it.", _S3_TEXTS)
BAD_NAME = Failure(400, 10005, "The specified bucket name is not valid.", _S3_TEXTS)
NO_BUCKET = Failure(404, 10006, "The specified bucket does not exist.", _S3_TEXTS)
NOT_EMPTY = Failure(409, 10008, "The bucket you tried to delete is not empty.", _S3_TEXTS)
NO_OBJECT = Failure(404, 10007, "The specified key does not exist.", _S3_TEXTS)
LONG_KEY = Failure(400, 10012, "The specified object name is not valid: it has more than 1024 bytes.", "inferred")
INVALID = Failure(400, 10040, "The JSON you provided was not well formed: {problem}.", "inferred")
BAD_JURISDICTION = Failure(400, 10013, "The jurisdiction {value} is not valid.", "inferred")
BAD_STORAGE_CLASS = Failure(400, 10062, "The storage class {value} is not valid.", "inferred")
NO_CORS = Failure(404, 10059, "The CORS configuration does not exist.")
NO_DOMAIN = Failure(404, 10053, "The specified domain was not found.")
DOMAIN_IN_USE = Failure(409, 10052, "The domain {domain} is already in use.", "inferred: 409 in use")
FOREIGN_ZONE = Failure(400, 10051, "The domain {domain} is not part of the zone.", "inferred")
NO_NOTIFICATIONS = Failure(404, 11015, "No event notification configuration found for the bucket.")
NO_QUEUE_RULES = Failure(404, 11011, "No event notification configuration found for the queue.")
RULES_OVERLAP = Failure(
    400, 11020, "Event notification rules overlap: {action} is already sent for that prefix and suffix."
)
BAD_NOTIFICATION = Failure(400, 11014, "Invalid event notification configuration: {problem}.")
NO_QUEUE = Failure(404, 11000, "Queue not found.")
