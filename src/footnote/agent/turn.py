"""The input of a turn, and the checkpoints that it yields beside the events for clients."""

from collections.abc import Mapping
from typing import Self, TypeAlias

from msgspec import Struct, field

from footnote.protocol.events import Event
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage, Usage
from footnote.protocol.tools import Locale, ToolResult


class HistorySummary(Struct, frozen=True):
    """A summary of the first `upto` messages of a session, for a model whose context window is too small for them."""

    upto: int
    text: str


class Resumed(Struct, frozen=True):
    """Where a turn resumes after a crash. `blocks`: how many of its blocks are stored.

    `results` are those of finished calls. Calls in `started_calls` without a result may or may not have had their
    effect. `files` and `usage` are what finished calls wrote and used.
    """

    blocks: int
    results: Mapping[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    started_calls: frozenset[str] = frozenset()
    files: tuple[FileRecord, ...] = ()
    usage: Usage = Usage()


class Turn(Struct, frozen=True):
    """One question and everything that its answer depends on.

    `messages` is the session so far, the question last. After a crash, the finished messages of this turn follow
    the question, and the loop resumes with them and `resumed`.
    """

    session_id: str
    run_id: str
    message_id: str
    system: str
    messages: tuple[Message, ...]
    locale: Locale = "en"
    max_tool_rounds: int = 5
    thinking_budget: int | None = None
    repairs_files: bool = False
    """Whether the model is asked to correct statements of its files that do not hold."""
    summary: HistorySummary | None = None
    resumed: Resumed | None = None


class MessageCompleted(Struct, frozen=True):
    """A complete message, to be stored now. `blocks`: how many blocks the turn has with it."""

    message: AssistantMessage | ToolResultMessage
    blocks: int


class CallBegun(Struct, frozen=True):
    """A call that is not idempotent starts as soon as this is stored, so that a crash does not start it twice."""

    call_id: str


class CallEnded(Struct, frozen=True):
    """A call has its result, which becomes a message when all calls of the round have theirs."""

    call_id: str
    result: ToolResult


class HistorySummarised(Struct, frozen=True):
    """Old turns were summarised, to be stored for the next turns."""

    summary: HistorySummary


class PlanChanged(Struct, frozen=True):
    """The message of the plan, the first of its run, to be stored in place of its last state."""

    message: AssistantMessage


class ProgressMade(Struct, frozen=True):
    """How far a run has come that does more than one turn of the loop, as JSON, for the process that may adopt it."""

    progress: bytes


class Indexes:
    """Numbers the blocks of a turn, through all its rounds."""

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        index = self.count
        self.count += 1
        return index


Checkpoint: TypeAlias = MessageCompleted | CallBegun | CallEnded | HistorySummarised | PlanChanged | ProgressMade
"""What a turn yields to be stored, before the next step is requested."""
Step: TypeAlias = Event | Checkpoint
