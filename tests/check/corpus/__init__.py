"""Projects, each with the findings that are expected in it: no more and no fewer."""

from tests.check.corpus.commands import COMMANDS
from tests.check.corpus.further import FURTHER
from tests.check.corpus.generation_1 import GENERATION_1_MISTAKES
from tests.check.corpus.images import IMAGES
from tests.check.corpus.known import KNOWN
from tests.check.corpus.lives import LIVES
from tests.check.corpus.routes import ROUTES
from tests.check.corpus.silent import SILENT
from tests.check.corpus.workspaces import WORKSPACES
from tests.check.projects import Project

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
