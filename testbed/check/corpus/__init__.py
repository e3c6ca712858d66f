"""Projects, each with the findings that are expected in it: no more and no fewer."""

from testbed.check.corpus.commands import COMMANDS
from testbed.check.corpus.further import FURTHER
from testbed.check.corpus.generation_1 import GENERATION_1_MISTAKES
from testbed.check.corpus.images import IMAGES
from testbed.check.corpus.known import KNOWN
from testbed.check.corpus.lives import LIVES
from testbed.check.corpus.routes import ROUTES
from testbed.check.corpus.silent import SILENT
from testbed.check.corpus.workspaces import WORKSPACES
from testbed.check.projects import Project

GROUPS: tuple[dict[str, Project], ...] = (
    SILENT,
    KNOWN,
    IMAGES,
    GENERATION_1_MISTAKES,
    FURTHER,
    COMMANDS,
    LIVES,
    ROUTES,
    WORKSPACES,
)
PROJECTS: dict[str, Project] = {name: project for group in GROUPS for name, project in group.items()}
