"""What a turn is given, and what it hands up beside the events that a client follows."""

from collections.abc import Mapping
from typing import Self, TypeAlias

from msgspec import Struct, field

from footnote.protocol.events import Event
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage, Usage
from footnote.protocol.tools import Locale, ToolResult


class HistorySummary(Struct, frozen=True):
    """What the first `upto` messages of a session said, in few words, for a model whose window is too small."""

    upto: int
    text: str


class Resumed(Struct, frozen=True):
    """Where a turn goes on after a crash. `blocks`: how many of its blocks are kept.

    Of the calls of the last response, `finished` have a result and `begun` were started: whether those had their
    effect, nobody knows. `files` and `spent` are what finished calls wrote and used.
    """

    blocks: int
    results: Mapping[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    started_calls: frozenset[str] = frozenset()
    files: tuple[FileRecord, ...] = ()
    usage: Usage = Usage()


class Turn(Struct, frozen=True):
    """One question and everything that its answer is made from.

    `messages` is the session so far, the question last. After a crash, the finished messages of this turn follow
    it, and `resumed` says what else is known of it: the loop goes on from there.
    """

    session_id: str
    run_id: str
    message_id: str
    system: str
    messages: tuple[Message, ...]
    locale: Locale = "en"
    max_tool_rounds: int = 5
    thinking_budget: int | None = None
    summary: HistorySummary | None = None
    resumed: Resumed | None = None


class MessageCompleted(Struct, frozen=True):
    """A message that is whole: to be stored, once, now. `blocks`: how many the turn has with it."""

    message: AssistantMessage | ToolResultMessage
    blocks: int


class CallBegun(Struct, frozen=True):
    """A call that has an effect is about to be carried out, as soon as this is stored: it may not be begun twice."""

    call_id: str


class CallEnded(Struct, frozen=True):
    """A call has its result, which becomes a message when all calls of the round have theirs."""

    call_id: str
    result: ToolResult


class HistorySummarised(Struct, frozen=True):
    """Old turns were summarised: to be stored, so that it need not be done again."""

    summary: HistorySummary


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


Checkpoint: TypeAlias = MessageCompleted | CallBegun | CallEnded | HistorySummarised
"""What a turn hands up to be stored. Before the next step is asked for, it must be."""
Step: TypeAlias = Event | Checkpoint
