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
