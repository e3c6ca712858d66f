"""Refusals of DNS records."""

from emulator.errors import Source, inferred

_threads = Source("codes and texts quoted in public issue threads; 81057 and 81058 also in the error catalogue")

NO_RECORD = _threads(404, 81044, "Record does not exist.")
HOST_TAKEN = _threads(400, 81053, "An A, AAAA, or CNAME record with that host already exists.")
CNAME_TAKEN = _threads(400, 81054, "A CNAME record with that host already exists.")
IDENTICAL = _threads(400, 81058, "An identical record already exists.")
BAD_NAME = _threads(400, 9000, "DNS name is invalid.")
NOT_PROXIABLE = _threads(400, 9004, "This record type cannot be proxied.")
BAD_A = _threads(400, 9005, "Content for A record must be a valid IPv4 address.")
BAD_AAAA = _threads(400, 9006, "Content for AAAA record must be a valid IPv6 address.")
BAD_CNAME = _threads(400, 9007, "Content for CNAME record is invalid.")
BAD_HOST = _threads(400, 9009, "Content for {type} record must be a hostname.")
SELF_REFERENCE = _threads(400, 9039, "CNAME content cannot reference itself.")
BAD_TTL = _threads(400, 9021, "Invalid TTL. Must be between 60 and 86,400 seconds, or 1 for Automatic.")
NO_PRIORITY = _threads(400, 9101, "priority is a required field.")
NO_CONTENT = inferred(400, 9102, "{field} is a required field.")
FROZEN_TYPE = inferred(400, 9103, "A record's type cannot be changed.")
BAD_ZONE_FILE = inferred(400, 9207, "Line {line} of the zone file cannot be read: {problem}.")
INVALID = inferred(400, 9207, "Request body is invalid: {problem}.")
