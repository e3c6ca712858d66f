"""What a user says about a sandbox stack: parsed and validated as a whole, then frozen.

All mistakes are reported in one message; each line has the path, the rule and the remedy.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}[a-z0-9]|[a-z]")


class SettingsError(ValueError):
    """Every mistake in a settings document, one line each."""

    def __init__(self, problems: list[str]) -> None:
        noun = "mistake" if len(problems) == 1 else "mistakes"
        super().__init__(
            f"{len(problems)} {noun} in the sandbox settings:\n" + "\n".join(f"  {line}" for line in problems)
        )
        self.problems = problems


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            "use 1 to 32 lower-case letters, digits and hyphens, starting with a letter, ending without a hyphen"
        )
    return value


class SandboxSettings(BaseModel):
    """One sandbox stack."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, AfterValidator(_name)] = Field(
        default="sandbox", description="Begins the name of everything made."
    )
    environment: Literal["throw-away", "lasting"] = Field(
        default="lasting",
        description="`lasting` protects what holds data; `throw-away` lets destroy remove everything.",
    )

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Self:
        """Validate a document as read from configuration; raise SettingsError with everything that is wrong."""
        try:
            return cls.model_validate(dict(document))
        except ValidationError as error:
            raise SettingsError([_line(problem, cls) for problem in error.errors(include_url=False)]) from None


def _line(problem: Any, model: type[BaseModel]) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"{path}: no such setting; known are {', '.join(sorted(model.model_fields))}"
    if problem["type"] == "value_error":
        return f"{path}: {problem['ctx']['error']}"
    return f"{path}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
