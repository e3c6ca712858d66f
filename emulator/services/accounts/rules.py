"""What the token's owner belongs to."""

from emulator.calls import Call
from emulator.identity import account_resources
from emulator.store import Document


def visible_accounts(call: Call) -> list[Document]:
    """The accounts the token has anything to do with."""
    accounts = call.store.select("account", "")
    return [account for account in accounts if call.identity.touches(account_resources(account["id"]))]


def account_view(account: Document) -> Document:
    """An account as the API describes it."""
    return {
        "id": account["id"],
        "name": account["name"],
        "type": "standard",
        "settings": {"enforce_twofactor": False, "abuse_contact_email": None},
        "created_on": account["created_on"],
    }


def memberships(call: Call) -> list[Document]:
    """The user's memberships that fit the filters."""
    wanted = set(call.query.given("name", "account.name").values())
    status = call.choice("status", ("accepted", "pending", "rejected", ""), "")
    order = call.choice("order", ("id", "account.name", "status"), "account.name")
    descending = call.choice("direction", ("asc", "desc"), "asc") == "desc"
    found = [membership(account) for account in visible_accounts(call)]
    found = [each for each in found if wanted <= {each["account"]["name"]} and status in ("", each["status"])]
    key = (lambda each: each["account"]["name"]) if order == "account.name" else (lambda each: each[order])
    return sorted(found, key=key, reverse=descending)


def membership(account: Document) -> Document:
    """The user's membership in an account; its id follows from the account's."""
    return {
        "id": account["id"][::-1],
        "status": "accepted",
        "account": account_view(account),
        "api_access_enabled": True,
        "roles": ["Super Administrator - All Privileges"],
    }


def user_view(call: Call) -> Document:
    """The user."""
    user = call.world.settings.user
    return {
        "id": user.id,
        "email": user.email,
        "first_name": None,
        "last_name": None,
        "two_factor_authentication_enabled": False,
        "suspended": False,
        "organizations": [],
    }
