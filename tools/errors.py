"""The one way set-up fails: a sentence a person can act on."""


class SetupError(Exception):
    """What failed, why, and what to do about it."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(f"{what}: {why.rstrip('.')}. {remedy}")
        self.what = what
        self.why = why
        self.remedy = remedy


class FinalError(SetupError):
    """A failure after which trying another source would be useless or unsafe."""


class DeployError(SetupError):
    """The engine was asked and has failed; it has said why itself."""


def sentence(error: SetupError | OSError) -> str:
    """Say in one sentence what went wrong."""
    if isinstance(error, SetupError):
        return str(error)
    return f"{error.filename}: {error.strerror or error}" if error.filename else str(error.strerror or error)
