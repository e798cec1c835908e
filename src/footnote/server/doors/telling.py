"""What a client of another API is told of a run: the agent's words and thoughts, and at the end its sources.

Calls of tools are left out: such a client would try to run them. Pure.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.language.quotation import inline
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageStart,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolResultBlock,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.sources import Source, sources_in

Kind: TypeAlias = Literal["text", "thinking"]
RESTARTED = ErrorBody("restarted", "The server had to begin the answer anew. Ask again.", retryable=True)
STOPPED = ErrorBody("aborted", "The run was stopped before its end.", retryable=False)
BROKE_OFF = ErrorBody("broke_off", "The run broke off before its end. Ask again.", retryable=True)
GAVE_UP = ErrorBody("upstream_error", "The model gave up without saying why.", retryable=True)
NO_USAGE = TurnUsage(0, 0, 0, 0, 0)


class Began(Struct, frozen=True):
    message_id: str


class Opened(Struct, frozen=True):
    """`index` counts what is told, without gaps."""

    index: int
    kind: Kind


class Grew(Struct, frozen=True):
    index: int
    kind: Kind
    text: str


class Closed(Struct, frozen=True):
    index: int
    kind: Kind


class Ended(Struct, frozen=True):
    stop_reason: TurnStopReason
    usage: TurnUsage


class Failed(Struct, frozen=True):
    error: ErrorBody


Told: TypeAlias = Began | Opened | Grew | Closed | Ended | Failed


class Teller:
    """Fed every event of a run, tells it piece by piece. Nothing is told after `Ended` or `Failed`."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, Kind]] = {}
        self._told = 0
        self._last = -1
        self._sources: dict[int, Source] = {}
        self._cited: set[int] = set()
        self.over = False
        self._ended = False

    @property
    def leaves_it_running(self) -> bool:
        """Nothing more is told, or nobody listens, and the run itself has not said that it ends."""
        return not self._ended

    def feed(self, event: Event) -> list[Told]:
        told: list[Told] = []
        if self.over:
            return told
        match event:
            case MessageStart(message):
                told = [Began(message.id)]
            case BlockStart(index, TextBlock(text)):
                told = self._begin(index, "text", text)
            case BlockStart(index, ThinkingBlock(text)):
                told = self._begin(index, "thinking", text)
            case BlockStart(content_block=ToolResultBlock(artifact=dict(artifact))):
                self._note(artifact)
            case BlockDelta(index, TextGrowth(text) | ThinkingGrowth(text)):
                told = self._grow(index, text)
            case BlockDelta(delta=CitationsGrowth(citations)):
                self._cited |= {citation.number for citation in citations}
            case BlockStop(index):
                told = self._end(index)
            case RoundRestart(from_index) if from_index <= self._last:
                told = self._fail(RESTARTED)
            case ErrorEvent(error):
                self._ended = True
                told = self._fail(error)
            case MessageDelta(delta, usage):
                self._ended = True
                told = self._close(delta.stop_reason, usage)
            case _:
                pass
        return told

    def _begin(self, index: int, kind: Kind, text: str) -> list[Told]:
        number, self._told = self._told, self._told + 1
        self._open[index] = (number, kind)
        self._last = index
        return [Opened(number, kind), *self._grow(index, text)]

    def _grow(self, index: int, text: str) -> list[Told]:
        found = self._open.get(index)
        return [Grew(*found, text)] if found is not None and text else []

    def _end(self, index: int) -> list[Told]:
        found = self._open.pop(index, None)
        return [] if found is None else [Closed(*found)]

    def _note(self, artifact: dict[str, Any]) -> None:
        for source in sources_in(artifact):
            if source.number is not None:
                self._sources.setdefault(source.number, source)

    def _fail(self, error: ErrorBody) -> list[Told]:
        self.over = True
        return [Failed(error)]

    def _close(self, reason: TurnStopReason, usage: TurnUsage) -> list[Told]:
        if reason in ("error", "aborted"):
            return self._fail(STOPPED if reason == "aborted" else GAVE_UP)
        told: list[Told] = []
        if sources := self._cited_sources():
            told = [Opened(self._told, "text"), Grew(self._told, "text", sources), Closed(self._told, "text")]
        self.over = True
        return [*told, Ended(reason, usage)]

    def _cited_sources(self) -> str:
        """The list below the answer, in markdown that no title can break out of."""
        cited = [(number, self._sources[number]) for number in sorted(self._cited) if number in self._sources]
        lines = [f"- [{number}] {inline(source.title or source.domain)}: {source.url}" for number, source in cited]
        return "\n".join(["Sources:", *lines]) if lines else ""


class Whole:
    """A run told at once, for a client that does not stream: fed what is told."""

    def __init__(self) -> None:
        self.message_id = ""
        self.blocks: list[tuple[Kind, list[str]]] = []
        self.stop_reason: TurnStopReason = "stop"
        self.usage = NO_USAGE
        self.error: ErrorBody | None = None

    def feed(self, told: Told) -> None:
        match told:
            case Began(message_id):
                self.message_id = message_id
            case Opened(kind=kind):
                self.blocks.append((kind, []))
            case Grew(index=index, text=text):
                self.blocks[index][1].append(text)
            case Ended(reason, usage):
                self.stop_reason, self.usage = reason, usage
            case Failed(error):
                self.error = error
            case Closed():
                pass

    def texts(self, kind: Kind) -> list[str]:
        """The blocks of this kind that say something."""
        return [text for one, parts in self.blocks if one == kind and (text := "".join(parts))]
