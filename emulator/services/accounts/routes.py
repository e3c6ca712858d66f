"""Operations on accounts, memberships and the user."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.registry import Fidelity, Service

from . import rules

api = Service("accounts", source="official Python SDK 5.9.0, calls of wrangler 4", date="2026-11-16")


@api.operation("GET", "/accounts", note="the accounts the token has a permission in")
def list_accounts(call: Call) -> Result:
    """List accounts."""
    wanted = call.query.get("name", "")
    accounts = [rules.account_view(account) for account in rules.visible_accounts(call) if wanted in account["name"]]
    if call.choice("direction", ("asc", "desc"), "asc") == "desc":
        accounts.reverse()
    return page_of(call, accounts, most=50)


@api.operation("GET", "/accounts/{account_id}", needs="Account Settings Read")
def get_account(call: Call) -> Result:
    """Read an account."""
    return Result(rules.account_view(call.store.get("account", "", call.account_id) or {}))


@api.operation(
    "GET", "/memberships", needs="Memberships Read", fidelity=Fidelity.PARTIAL, note="one role, accepted at once"
)
def list_memberships(call: Call) -> Result:
    """List the user's memberships."""
    return page_of(call, rules.memberships(call), most=50)


@api.operation("GET", "/user", needs="User Details Read", fidelity=Fidelity.PARTIAL, note="name and address are empty")
def get_user(call: Call) -> Result:
    """Read the user."""
    return Result(rules.user_view(call))
