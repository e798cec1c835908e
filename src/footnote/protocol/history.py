"""A session as it is shown after a reload: what it shows equals what was streamed, block for block."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.protocol.events import ErrorBody, ThinkingBlock, TurnStopReason, TurnUsage
from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.sources import Citation, SourceGroup


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


class PastText(Struct, frozen=True, tag="text", omit_defaults=True):
    """`citations`: what `citations_delta` said of this text."""

    text: str
    citations: tuple[Citation, ...] = ()


PastBlock: TypeAlias = PastText | ThinkingBlock | PastToolUse


class PastUserMessage(Struct, frozen=True, tag_field="role", tag="user"):
    """`turn_id` is the same for all messages of a turn, the question among them: the id of the run that answers it.
    `timestamp` is ISO 8601 in UTC. Both are in every history of a session, and in no bundle of version 1."""

    id: str
    content: tuple[PastText, ...]
    attachments: tuple[FileRecord, ...] = ()
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class PastAssistantMessage(Struct, frozen=True, tag_field="role", tag="assistant"):
    """One response of a model. The last one of a turn has the id of the turn's `message_start` and its `attachments`;
    those before it have that id with a number."""

    id: str
    content: tuple[PastBlock, ...]
    attachments: tuple[FileRecord, ...] = ()
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


Artifact: TypeAlias = Annotated[Any, Meta(extra_json_schema={"type": ["object", "null"]})]
"""A JSON object, or null. Where a history is made it is the text of one, which is not read to be written again."""


class PastToolMessage(Struct, frozen=True, tag_field="role", tag="tool"):
    """`content` is what the model was told, without the marks between which it reads text from the web."""

    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]
    artifact: Artifact = None
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET
    images: tuple[ToolImage, ...] | UnsetType = UNSET


PastMessage: TypeAlias = PastUserMessage | PastAssistantMessage | PastToolMessage


class WorkspaceView(Struct, frozen=True):
    """One group of sources per search, in order, never merged; and the files of the session."""

    sources: tuple[SourceGroup, ...] = ()
    workspace_files: tuple[FileRecord, ...] = ()


class ActiveRun(Struct, frozen=True):
    """The turn in progress: follow its events to see the rest."""

    run_id: str


class PastTurn(Struct, frozen=True, kw_only=True):
    """How a turn of the shown branch came about and ended. `questions` and `answers` are the ids of the messages that
    may be shown in its place, itself included, oldest first: more than one where a question was edited or retried.
    `timestamp` is when its run was begun, `ended_at` when that ended; null: it has not."""

    run_id: str
    question_id: str
    message_id: str
    state: str
    model: str
    stop_reason: TurnStopReason | None = None
    usage: TurnUsage | None = None
    error: ErrorBody | None = None
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    timestamp: str | UnsetType = UNSET
    ended_at: str | None = None


class History(Struct, frozen=True):
    """The answer of an active run stands in its events, not in `messages`. `turns` come for who asks for them: one for
    each question of the shown branch."""

    session: SessionHead
    messages: tuple[PastMessage, ...]
    workspace: WorkspaceView
    active_run: ActiveRun | None = None
    turns: tuple[PastTurn, ...] | UnsetType = UNSET
