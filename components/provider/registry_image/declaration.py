"""What a program says about a RegistryImage, and what comes out of it."""

from typing import Final

from ..property_types import (
    ACCOUNT_ID,
    Declaration,
    Number,
    Properties,
    Property,
    Text,
)

_INPUTS: Final[Properties] = {
    "accountId": Property(ACCOUNT_ID, "Account of the registry. Another one needs a replacement.", required=True),
    "repository": Property(
        Text(
            pattern=r"[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*",
            rule="a repository in lower case, without registry and account",
        ),
        "Repository in the account's registry. Another one needs a replacement.",
        required=True,
    ),
    "digest": Property(
        Text(pattern="sha256:[0-9a-f]{64}", rule="a digest (sha256:…)"),
        "Digest of the image. Another one needs a replacement, and deletes the old image once nothing runs it.",
        required=True,
    ),
}
_OUTPUTS: Final[Properties] = {
    "reference": Property(Text(), "The image with its registry and digest, as applications name it.", required=True),
    "size": Property(Number(), "Bytes of its layers as the registry keeps them, compressed.", required=True),
}
DECLARATION: Final = Declaration(
    "RegistryImage",
    "An image in the account's registry: verified when it comes, deleted when it goes.",
    _INPUTS,
    _OUTPUTS,
    "<account id>/<repository>@<digest>",
)
