"""Refusals of DNS records."""

from emulator.errors import Failure

_THREADS = "codes and texts quoted in public issue threads; 81057 and 81058 also in the error catalogue"

NO_RECORD = Failure(404, 81044, "Record does not exist.", _THREADS)
HOST_TAKEN = Failure(400, 81053, "An A, AAAA, or CNAME record with that host already exists.", _THREADS)
CNAME_TAKEN = Failure(400, 81054, "A CNAME record with that host already exists.", _THREADS)
IDENTICAL = Failure(400, 81058, "An identical record already exists.", _THREADS)
BAD_NAME = Failure(400, 9000, "DNS name is invalid.", _THREADS)
NOT_PROXIABLE = Failure(400, 9004, "This record type cannot be proxied.", _THREADS)
BAD_A = Failure(400, 9005, "Content for A record must be a valid IPv4 address.", _THREADS)
BAD_AAAA = Failure(400, 9006, "Content for AAAA record must be a valid IPv6 address.", _THREADS)
BAD_CNAME = Failure(400, 9007, "Content for CNAME record is invalid.", _THREADS)
BAD_HOST = Failure(400, 9009, "Content for {type} record must be a hostname.", _THREADS)
SELF_REFERENCE = Failure(400, 9039, "CNAME content cannot reference itself.", _THREADS)
BAD_TTL = Failure(400, 9021, "Invalid TTL. Must be between 60 and 86,400 seconds, or 1 for Automatic.", _THREADS)
NO_PRIORITY = Failure(400, 9101, "priority is a required field.", _THREADS)
NO_CONTENT = Failure(400, 9102, "{field} is a required field.", "inferred")
FROZEN_TYPE = Failure(400, 9103, "A record's type cannot be changed.", "inferred")
BAD_ZONE_FILE = Failure(400, 9207, "Line {line} of the zone file cannot be read: {problem}.", "inferred")
INVALID = Failure(400, 9207, "Request body is invalid: {problem}.", "inferred")
