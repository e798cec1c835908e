"""A session as it is shown after a reload: what it shows equals what was streamed, block for block."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.events import TextBlock, ThinkingBlock
from footnote.protocol.files import FileRecord
from footnote.protocol.sources import SourceGroup


class SessionHead(Struct, frozen=True):
    id: str
    title: str
    agent_id: str
    created_at: str


class PastToolUse(Struct, frozen=True, tag="tool_use", omit_defaults=True):
    """A call as history has it; its result follows the message as one of role `tool`."""

    id: str
    name: str
    input: dict[str, Any]
    tool_content_message: str | None = None


PastBlock: TypeAlias = TextBlock | ThinkingBlock | PastToolUse


class PastUserMessage(Struct, frozen=True, tag_field="role", tag="user"):
    id: str
    content: tuple[TextBlock, ...]
    attachments: tuple[FileRecord, ...] = ()


class PastAssistantMessage(Struct, frozen=True, tag_field="role", tag="assistant"):
    """`attachments` are the files of the turn."""

    id: str
    content: tuple[PastBlock, ...]
    attachments: tuple[FileRecord, ...] = ()


class PastToolMessage(Struct, frozen=True, tag_field="role", tag="tool"):
    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]
    artifact: dict[str, Any] | None = None


PastMessage: TypeAlias = PastUserMessage | PastAssistantMessage | PastToolMessage


class WorkspaceView(Struct, frozen=True):
    """One group of sources per search, in order, never merged; and the files of the session."""

    sources: tuple[SourceGroup, ...] = ()
    workspace_files: tuple[FileRecord, ...] = ()


class ActiveRun(Struct, frozen=True):
    """The turn in progress: follow its events to see the rest."""

    run_id: str


class History(Struct, frozen=True):
    session: SessionHead
    messages: tuple[PastMessage, ...]
    workspace: WorkspaceView
    active_run: ActiveRun | None = None
