"""Short constructors for the events of whole runs, an output that records, and a clock."""

import io
from collections.abc import Callable, Iterable
from typing import Any

from footnote.cli.terminal.renderer import Renderer
from footnote.cli.terminal.screen import OutputSink
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    BlockStop,
    ContextReport,
    Delta,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.files import FileRecord

MODEL = "scripted/model"
REPORT = FileRecord(
    id="f1",
    path="/report.md",
    filename="report.md",
    icon_type="md",
    source="generated",
    created_at="2026-10-21T10:00:00Z",
    url="workspace/local/report.md",
    message_id="msg_1",
)


def start() -> list[Event]:
    return [MessageStart(MessageHead("msg_1", "assistant", "run_1", "session_1", MODEL))]


def say(index: int, *pieces: str) -> list[Event]:
    growth = [BlockDelta(index, TextGrowth(piece)) for piece in pieces]
    return [BlockStart(index, TextBlock()), *growth, BlockStop(index)]


def think(index: int, *pieces: str) -> list[Event]:
    growth = [BlockDelta(index, ThinkingGrowth(piece)) for piece in pieces]
    return [BlockStart(index, ThinkingBlock()), *growth, BlockStop(index)]


def call(index: int, call_id: str, name: str, title: str, **arguments: Any) -> list[Event]:
    return [
        BlockStart(index, ToolUseBlock(call_id, name, title, arguments)),
        BlockStop(index),
        ToolStatus(call_id, "pending"),
    ]


def call_running(call_id: str) -> list[Event]:
    return [ToolStatus(call_id, "running")]


def progress(call_id: str, stage: str, done: int = 0, total: int | None = None, label: str = "") -> list[Event]:
    return [ToolProgress(call_id, stage, done, total, label)]


def call_finished(call_id: str, *, ok: bool = True) -> list[Event]:
    return [ToolStatus(call_id, "done" if ok else "error")]


def result(
    index: int, call_id: str, name: str, content: str, *, ok: bool = True, artifact: dict[str, Any] | None = None
) -> list[Event]:
    block = ToolResultBlock(call_id, name, "success" if ok else "error", content, artifact)
    return [BlockStart(index, block), BlockStop(index)]


def attach(index: int, *files: FileRecord) -> list[Event]:
    return [BlockStart(index, AttachmentsBlock(files)), BlockStop(index)]


def end(
    reason: TurnStopReason = "stop",
    *,
    usage: TurnUsage | None = None,
    context: ContextReport | None = None,
    error: ErrorBody | None = None,
) -> list[Event]:
    usage = usage or TurnUsage(10, 5, 0, 0, 0)
    return [
        *([ErrorEvent(error)] if error else []),
        MessageDelta(Delta(reason), usage, context or ContextReport(100, 1000)),
        MessageStop(),
    ]


def research() -> list[Event]:
    """Thinking, a sentence, two parallel calls of which the second ends first, the answer, and a file."""
    return [
        *start(),
        *think(0, "Let me", " think."),
        *say(1, "I will ", "search."),
        *call(2, "c1", "web_search", "Search the web", query="HPG share price"),
        *call(3, "c2", "write_file", "Write a file", file_path="/report.md", content="# HPG\n\n42"),
        *call_running("c1"),
        *call_running("c2"),
        *progress("c1", "searching"),
        *progress("c1", "reading", 1, 5, "simplize.vn"),
        *progress("c1", "reading", 3, 5, "cafef.vn"),
        *call_finished("c2"),
        *call_finished("c1"),
        *result(4, "c1", "web_search", "…", artifact={"query": "…", "sources": [{}, {}]}),
        *result(5, "c2", "write_file", "Wrote /report.md (9 bytes).\nMore."),
        *say(6, "The price\nis **42**.", "\n\nSee the", " report."),
        *attach(7, REPORT),
        *end(),
    ]


class CapturedOutput(io.BytesIO):
    """A binary stream that records what is written, and passes it to an optional follower."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding
        self.follower: Callable[[str], None] | None = None
        self.sink = OutputSink(io.TextIOWrapper(self, encoding, errors="replace", newline=""))

    def write(self, data: Any) -> int:
        if self.follower:
            self.follower(bytes(data).decode(self._encoding))
        return super().write(data)

    @property
    def text(self) -> str:
        return self.getvalue().decode(self._encoding)


class EventClock:
    """Advances by half a second with every event."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def feed(renderer: Renderer, events: Iterable[Event], clock: EventClock | None = None, *, tick: bool = True) -> None:
    for event in events:
        if clock is not None:
            clock.now += 0.5
        renderer.feed(event)
        if tick:
            renderer.tick()
