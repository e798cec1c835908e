"""A session as it is shown after a reload: the same as what was streamed, block for block."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.protocol.events import ErrorBody, PlanBlock, ThinkingBlock, TurnStopReason, TurnUsage
from footnote.protocol.files import FileRecord, ToolImage
from footnote.protocol.plans import Budget, Spent
from footnote.protocol.sources import Citation, SourceGroup


class SessionHead(Struct, frozen=True):
    id: str
    title: str
    agent_id: str
    created_at: str


class PastToolUse(Struct, frozen=True, tag="tool_use", omit_defaults=True):
    """A tool call. Its result follows the message, as a message with the role `tool`."""

    id: str
    name: str
    input: dict[str, Any]
    tool_content_message: str | None = None


class PastText(Struct, frozen=True, tag="text", omit_defaults=True):
    """`citations`: those of the `citations_delta` event of this text."""

    text: str
    citations: tuple[Citation, ...] = ()


PastBlock: TypeAlias = PastText | ThinkingBlock | PastToolUse | PlanBlock


class PastUserMessage(Struct, frozen=True, tag_field="role", tag="user"):
    """`turn_id` is the id of the run that answers the question, the same for all messages of a turn. `timestamp` is
    ISO 8601 in UTC. Both are in every history of a session, and in no bundle of version 1."""

    id: str
    content: tuple[PastText, ...]
    attachments: tuple[FileRecord, ...] = ()
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class PastAssistantMessage(Struct, frozen=True, tag_field="role", tag="assistant"):
    """One response of a model. The last one of a turn has the id of the turn's `message_start` and its `attachments`;
    earlier ones have that id with a number. `parent`: the item of the plan that it belongs to."""

    id: str
    content: tuple[PastBlock, ...]
    attachments: tuple[FileRecord, ...] = ()
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET


Artifact: TypeAlias = Annotated[Any, Meta(extra_json_schema={"type": ["object", "null"]})]
"""A JSON object, or null. The server puts stored JSON into a history as it is, without decoding it."""


class PastToolMessage(Struct, frozen=True, tag_field="role", tag="tool"):
    """`content` is what the model read, without the marks around text from the web."""

    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]
    artifact: Artifact = None
    turn_id: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET
    images: tuple[ToolImage, ...] | UnsetType = UNSET
    parent: str | UnsetType = UNSET


PastMessage: TypeAlias = PastUserMessage | PastAssistantMessage | PastToolMessage


class WorkspaceView(Struct, frozen=True):
    """One group of sources per search, in order, never merged; and the files of the session."""

    sources: tuple[SourceGroup, ...] = ()
    workspace_files: tuple[FileRecord, ...] = ()


class ActiveRun(Struct, frozen=True):
    """The turn in progress: follow its events to see the rest."""

    run_id: str


class PastTurn(Struct, frozen=True, kw_only=True):
    """A turn of the shown branch. `questions` and `answers` are the ids of the messages that may be shown in its place,
    its own included, oldest first: more than one if the question was edited or retried. `timestamp` is the start of
    its run, `ended_at` its end; null: it has not ended. `unsourced` is that of its `message_delta`; `budget` and
    `spent` are those of its last `budget_update`."""

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
    unsourced: bool | UnsetType = UNSET
    budget: Budget | UnsetType = UNSET
    spent: Spent | UnsetType = UNSET


class History(Struct, frozen=True):
    """The answer of an active run is in its events, not in `messages`. `turns` are included on request: one for each
    question of the shown branch."""

    session: SessionHead
    messages: tuple[PastMessage, ...]
    workspace: WorkspaceView
    active_run: ActiveRun | None = None
    turns: tuple[PastTurn, ...] | UnsetType = UNSET
