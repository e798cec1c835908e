"""What the file tools share: the workspace of a call, and the artifact that stands for a file."""

from typing import Any

from footnote.protocol.errors import ToolFailed
from footnote.protocol.files import FileRecord
from footnote.tools.base import Abilities, ToolContext
from footnote.workspace.files import Workspace


def is_on(abilities: Abilities) -> bool:
    return abilities.workspace is not None


def workspace_of(context: ToolContext) -> Workspace:
    if context.abilities.workspace is None:
        raise ToolFailed("This agent has no workspace, so there are no files.")
    return context.abilities.workspace


def artifact_of(record: FileRecord) -> dict[str, Any]:
    return {
        "path": record.path,
        "filename": record.filename,
        "icon_type": record.icon_type,
        "source": record.source,
    }
