"""The version of this package, of its plugin and of its policy pack; `pyproject.toml` has the same."""

from typing import Final

VERSION: Final = "0.1.0"
