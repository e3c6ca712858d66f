"""Operations on accounts, memberships and the user."""

from emulator.registry import PARTIAL, Service

from . import rules

api = Service("accounts", source="official Python SDK 5.9.0, calls of wrangler 4", date="2026-11-16")

_ONE_ROLE, _EMPTY = "one role, accepted at once", "name and address are empty"

api.get("/accounts", rules.list_accounts, note="the accounts the token has a permission in")
api.get("/accounts/{account_id}", rules.get_account, "Account Settings Read")
api.get("/memberships", rules.list_memberships, "Memberships Read", PARTIAL, note=_ONE_ROLE)
api.get("/user", rules.get_user, "User Details Read", PARTIAL, note=_EMPTY)
