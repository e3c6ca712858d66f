"""What a user says about a sandbox stack: parsed and validated as a whole, then frozen.

One module per section of the document. All mistakes are reported in one message; each line has the path, the rule and
the remedy.
"""

from .base import SettingsError
from .document import SandboxSettings

__all__ = ["SandboxSettings", "SettingsError"]
