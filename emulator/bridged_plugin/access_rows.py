"""Rows of the table for Cloudflare Access and API tokens."""

from typing import Any, Final

from .kinds import ACCOUNT, CHOSEN, MOVING, REQUIRED, Input, Kind, Output, Place, Values, chosen, optional
from .spellings import Bag, Items, JsonText, snake

_EITHER: Final = {name: Input(replaces=True, place=Place.PATH) for name in ("accountId", "zoneId")}


def _one_owner(values: Values) -> tuple[str, str] | None:
    if ("accountId" in values) == ("zoneId" in values):
        return "accountId", "exactly one of accountId and zoneId has to be set"
    return None


def _with_precedence(values: Values) -> Values:
    """Number policies from 1 in the order they are listed."""
    listed = values.get("policies")
    if not isinstance(listed, list):
        return values
    return {
        **values,
        "policies": [
            {"precedence": place, **each} if isinstance(each, dict) else each for place, each in enumerate(listed, 1)
        ],
    }


def _untold(_old: Any, new: Any, _state: Values) -> bool:
    """Whether an answer lacks a field; the official description of these answers does not have it."""
    return new is None


_BY_PROVIDER: Final = snake("id", "identityProviderId")
_ACCESS_RULE: Final = snake(
    anyValidServiceToken=snake(),
    authContext=snake("acId", "id", "identityProviderId"),
    authMethod=snake("authMethod"),
    azureAd=_BY_PROVIDER,
    certificate=snake(),
    commonName=snake("commonName"),
    devicePosture=snake("integrationUid"),
    email=snake("email"),
    emailDomain=snake("domain"),
    emailList=snake("id"),
    everyone=snake(),
    externalEvaluation=snake("evaluateUrl", "keysUrl"),
    geo=snake("countryCode"),
    githubOrganization=snake("identityProviderId", "name", "team"),
    group=snake("id"),
    gsuite=snake("email", "identityProviderId"),
    ip=snake("ip"),
    ipList=snake("id"),
    linkedAppToken=snake("appUid"),
    loginMethod=snake("id"),
    oidc=snake("claimName", "claimValue", "identityProviderId"),
    okta=snake("identityProviderId", "name"),
    saml=snake("attributeName", "attributeValue", "identityProviderId"),
    serviceToken=snake("tokenId"),
)
_DESTINATION: Final = snake(
    "cidr", "hostname", "l4Protocol", "mcpServerId", "portRange", "type", "uri", "vnetId", "workerId"
)
_CORS_HEADERS: Final = snake(
    "allowAllHeaders", "allowAllMethods", "allowAllOrigins", "allowCredentials", "maxAge", allowedHeaders=Items(),
    allowedMethods=Items(), allowedOrigins=Items(),
)  # fmt: skip
_LIST: Final = Input(Items())
_ACCESS: Final = (
    Kind(
        name="ZeroTrustAccessPolicy",
        path="/accounts/{accountId}/access/policies",
        inputs={
            "accountId": ACCOUNT,
            "name": REQUIRED,
            "decision": REQUIRED,
            **dict.fromkeys(("includes", "excludes", "requires"), Input(Bag(_ACCESS_RULE))),
            "sessionDuration": Input(default="24h"),
            "approvalGroups": Input(
                Items(snake("approvalsNeeded", "emailListUuid", emailAddresses=Items())),
            ),
            **optional("purposeJustificationPrompt"),
            **chosen("approvalRequired", "isolationRequired", "purposeJustificationRequired"),
        },
        outputs={"appCount": MOVING, "createdAt": Output(), "reusable": Output(), "updatedAt": MOVING},
        imports=("accountId", "id"),
    ),
    Kind(
        name="ZeroTrustAccessApplication",
        path="/{owner}/access/apps",
        inputs={
            **_EITHER,
            **optional("name", "type"),
            "domain": CHOSEN,
            "appLauncherVisible": Input(default=True),
            "httpOnlyCookieAttribute": Input(default=True),
            "sessionDuration": Input(default="24h"),
            "policies": Input(Items(snake("id", "precedence")), computed=True),
            "destinations": Input(Items(_DESTINATION), computed=True, echoed=True, follows="domain"),
            "selfHostedDomains": Input(Items(), computed=True, echoed=True, follows="domain"),
            "corsHeaders": Input(_CORS_HEADERS, computed=True),
            **dict.fromkeys(("allowedIdps", "customPages"), _LIST),
            "tags": Input(Bag()),
            **optional(
                "allowAuthenticateViaWarp", "allowIframe", "appLauncherLogoUrl", "bgColor", "customDenyMessage",
                "customDenyUrl", "customNonIdentityDenyUrl", "headerBgColor", "logoUrl", "optionsPreflightBypass",
                "readServiceTokensFromHeader", "sameSiteCookieAttribute", "serviceAuth401Redirect", "skipInterstitial",
            ),
            **chosen("autoRedirectToIdentity", "enableBindingCookie", "pathCookieAttribute"),
        },
        outputs={"aud": Output()},
        imports=("owner", "id"),
        completed=_with_precedence,
        problem=_one_owner,
    ),
    Kind(
        name="ZeroTrustAccessServiceToken",
        path="/{owner}/access/service_tokens",
        inputs={
            **_EITHER,
            "name": REQUIRED,
            "duration": Input(default="8760h"),
            "clientSecretVersion": Input(default=1, keeps=_untold),
            "previousClientSecretExpiresAt": Input(keeps=_untold),
        },
        outputs={"clientId": Output(), "clientSecret": Output(secret=True), "expiresAt": MOVING},
        imports=("owner", "id"),
        problem=_one_owner,
    ),
)  # fmt: skip

# API tokens

_TOKEN_POLICY: Final = snake("effect", permissionGroups=Items(snake("id")), resources=JsonText())
_TOKENS: Final = (
    Kind(
        name="AccountToken",
        path="/accounts/{accountId}/tokens",
        inputs={
            "accountId": ACCOUNT,
            "name": REQUIRED,
            "policies": Input(Items(_TOKEN_POLICY), required=True, from_writes=True),
            "condition": Input(snake(requestIp=snake(ins=Items(), notIns=Items()))),
            "expiresOn": Input(forgotten=True),
            **optional("notBefore"),
            "status": CHOSEN,
        },
        outputs={
            **dict.fromkeys(("creatorEmailAtCreation", "issuedOn", "provisionerId", "provisionerType"), Output()),
            **dict.fromkeys(("lastUsedOn", "modifiedOn"), MOVING),
            "value": Output(secret=True),
        },
        imports=("accountId", "id"),
        schema_version="501",
    ),
)

ROWS: Final = (*_ACCESS, *_TOKENS)
