"""Deploys the sandbox stack that this project's configuration describes."""

import pulumi

from components import SandboxSettings, SandboxStack, SettingsError

try:
    settings = SandboxSettings.parse(pulumi.Config().get_object("sandbox") or {})
except SettingsError as error:
    raise pulumi.RunError(str(error)) from None

for output, value in SandboxStack(settings.name, settings).outputs().items():
    pulumi.export(output, value)
