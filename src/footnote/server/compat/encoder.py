"""What a client of another API is told of a run: the agent's words and thoughts, and at the end its sources.

Calls of tools are left out: such a client would try to run them. Pure.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

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
from footnote.text.quotation import escape_inline

Kind: TypeAlias = Literal["text", "thinking"]
RESTARTED = ErrorBody("restarted", "The server had to begin the answer anew. Ask again.", retryable=True)
STOPPED = ErrorBody("aborted", "The run was stopped before its end.", retryable=False)
INTERRUPTED = ErrorBody("broke_off", "The run broke off before its end. Ask again.", retryable=True)
MODEL_FAILED = ErrorBody("upstream_error", "The model gave up without saying why.", retryable=True)
NO_USAGE = TurnUsage(0, 0, 0, 0, 0)


class CompatBegan(Struct, frozen=True):
    message_id: str


class CompatOpened(Struct, frozen=True):
    """`index` counts what is told, without gaps."""

    index: int
    kind: Kind


class CompatDelta(Struct, frozen=True):
    index: int
    kind: Kind
    text: str


class CompatClosed(Struct, frozen=True):
    index: int
    kind: Kind


class CompatEnded(Struct, frozen=True):
    stop_reason: TurnStopReason
    usage: TurnUsage


class CompatFailed(Struct, frozen=True):
    error: ErrorBody


CompatEvent: TypeAlias = CompatBegan | CompatOpened | CompatDelta | CompatClosed | CompatEnded | CompatFailed


class CompatEncoder:
    """Fed every event of a run, tells it piece by piece. Nothing is told after `Ended` or `Failed`."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, Kind]] = {}
        self._block_count = 0
        self._last_index = -1
        self._sources: dict[int, Source] = {}
        self._cited: set[int] = set()
        self.is_done = False
        self._run_ended = False

    @property
    def needs_cancel(self) -> bool:
        """Nothing more is told, or nobody listens, and the run itself has not said that it ends."""
        return not self._run_ended

    def feed(self, event: Event) -> list[CompatEvent]:
        told: list[CompatEvent] = []
        if self.is_done:
            return told
        match event:
            case MessageStart(message):
                told = [CompatBegan(message.id)]
            case BlockStart(index, TextBlock(text)):
                told = self._open_block(index, "text", text)
            case BlockStart(index, ThinkingBlock(text)):
                told = self._open_block(index, "thinking", text)
            case BlockStart(content_block=ToolResultBlock(artifact=dict(artifact))):
                self._add_sources(artifact)
            case BlockDelta(index, TextGrowth(text) | ThinkingGrowth(text)):
                told = self._append_text(index, text)
            case BlockDelta(delta=CitationsGrowth(citations)):
                self._cited |= {citation.number for citation in citations}
            case BlockStop(index):
                told = self._close_block(index)
            case RoundRestart(from_index) if from_index <= self._last_index:
                told = self._fail(RESTARTED)
            case ErrorEvent(error):
                self._run_ended = True
                told = self._fail(error)
            case MessageDelta(delta, usage):
                self._run_ended = True
                told = self._finish(delta.stop_reason, usage)
            case _:
                pass
        return told

    def _open_block(self, index: int, kind: Kind, text: str) -> list[CompatEvent]:
        number, self._block_count = self._block_count, self._block_count + 1
        self._open[index] = (number, kind)
        self._last_index = index
        return [CompatOpened(number, kind), *self._append_text(index, text)]

    def _append_text(self, index: int, text: str) -> list[CompatEvent]:
        found = self._open.get(index)
        return [CompatDelta(*found, text)] if found is not None and text else []

    def _close_block(self, index: int) -> list[CompatEvent]:
        found = self._open.pop(index, None)
        return [] if found is None else [CompatClosed(*found)]

    def _add_sources(self, artifact: dict[str, Any]) -> None:
        for source in sources_in(artifact):
            if source.number is not None:
                self._sources.setdefault(source.number, source)

    def _fail(self, error: ErrorBody) -> list[CompatEvent]:
        self.is_done = True
        return [CompatFailed(error)]

    def _finish(self, reason: TurnStopReason, usage: TurnUsage) -> list[CompatEvent]:
        if reason in ("error", "aborted"):
            return self._fail(STOPPED if reason == "aborted" else MODEL_FAILED)
        told: list[CompatEvent] = []
        if sources := self._cited_sources():
            told = [
                CompatOpened(self._block_count, "text"),
                CompatDelta(self._block_count, "text", sources),
                CompatClosed(self._block_count, "text"),
            ]
        self.is_done = True
        return [*told, CompatEnded(reason, usage)]

    def _cited_sources(self) -> str:
        """The list below the answer, in markdown that no title can break out of."""
        cited = [(number, self._sources[number]) for number in sorted(self._cited) if number in self._sources]
        lines = [
            f"- [{number}] {escape_inline(source.title or source.domain)}: {source.url}" for number, source in cited
        ]
        return "\n".join(["Sources:", *lines]) if lines else ""


class CompatResponse:
    """A run told at once, for a client that does not stream: fed what is told."""

    def __init__(self) -> None:
        self.message_id = ""
        self.blocks: list[tuple[Kind, list[str]]] = []
        self.stop_reason: TurnStopReason = "stop"
        self.usage = NO_USAGE
        self.error: ErrorBody | None = None

    def feed(self, event: CompatEvent) -> None:
        match event:
            case CompatBegan(message_id):
                self.message_id = message_id
            case CompatOpened(kind=kind):
                self.blocks.append((kind, []))
            case CompatDelta(index=index, text=text):
                self.blocks[index][1].append(text)
            case CompatEnded(reason, usage):
                self.stop_reason, self.usage = reason, usage
            case CompatFailed(error):
                self.error = error
            case CompatClosed():
                pass

    def texts(self, kind: Kind) -> list[str]:
        """The blocks of this kind that say something."""
        return [text for one, parts in self.blocks if one == kind and (text := "".join(parts))]
