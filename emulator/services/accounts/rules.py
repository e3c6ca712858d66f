"""What the token's owner belongs to."""

from emulator.calls import Call, Result
from emulator.identity import account_resources
from emulator.paging import is_descending, ordered, page_of
from emulator.store import Document


def visible_accounts(call: Call) -> list[Document]:
    """The accounts the token has anything to do with."""
    accounts = call.store.select("account", "")
    return [account for account in accounts if call.identity.touches(account_resources(account["id"]))]


def list_accounts(call: Call) -> Result:
    """List accounts."""
    wanted = call.query.get("name", "")
    accounts = [account_view(account) for account in visible_accounts(call) if wanted in account["name"]]
    return page_of(call, accounts[::-1] if is_descending(call) else accounts, most=50)


def get_account(call: Call) -> Document:
    """Read an account."""
    return account_view(call.store.get("account", "", call.account_id) or {})


def account_view(account: Document) -> Document:
    """An account as the API describes it."""
    return {
        "id": account["id"],
        "name": account["name"],
        "type": "standard",
        "settings": {"enforce_twofactor": False, "abuse_contact_email": None},
        "created_on": account["created_on"],
    }


def list_memberships(call: Call) -> Result:
    """List the user's memberships that fit the filters."""
    wanted = set(call.query.given("name", "account.name").values())
    status = call.choice("status", ("accepted", "pending", "rejected", ""), "")
    found = [membership(account) for account in visible_accounts(call)]
    found = [each for each in found if wanted <= {each["account"]["name"]} and status in ("", each["status"])]
    return page_of(call, ordered(call, found, ("id", "account.name", "status"), "account.name"), most=50)


def membership(account: Document) -> Document:
    """The user's membership in an account; its id follows from the account's."""
    return {
        "id": account["id"][::-1],
        "status": "accepted",
        "account": account_view(account),
        "api_access_enabled": True,
        "roles": ["Super Administrator - All Privileges"],
    }


def get_user(call: Call) -> Document:
    """Read the user."""
    user = call.state.settings.user
    return {
        "id": user.id,
        "email": user.email,
        "first_name": None,
        "last_name": None,
        "two_factor_authentication_enabled": False,
        "suspended": False,
        "organizations": [],
    }
