"""Events in, output out: how a run is shown in a terminal, and how it is printed as JSON."""

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from footnote.cli.terminal.answer import AnswerWriter
from footnote.cli.terminal.clean import Cleaner, escape_json
from footnote.cli.terminal.disagreements import FoundDisagreements
from footnote.cli.terminal.file_proofs import WrittenFileProofs
from footnote.cli.terminal.footnotes import Footnotes, Layout
from footnote.cli.terminal.lines import Line, StyledText, Symbols, Tone, symbols_for
from footnote.cli.terminal.receipt import deviations
from footnote.cli.terminal.screen import OutputSink, Screen
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CallStatus,
    ContentBlock,
    Event,
    MessageDelta,
    MessageStart,
    Ping,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.sources import Receipt, Source
from footnote.protocol.sse import encode
from footnote.protocol.tools import Locale

MIN_SHOWN_SECONDS = 3
"""A shorter wait for the model is not counted."""


class Renderer(Protocol):
    """Follows one run."""

    def feed(self, event: Event) -> None: ...

    def add_earlier_sources(self, sources: Iterable[Source]) -> None:
        """Sources of earlier turns, which this one may cite."""
        ...

    def tick(self) -> None:
        """Called some fifteen times a second: time to redraw what changed."""
        ...

    def close(self) -> None:
        """No events follow: finishes the output."""
        ...


class JsonRenderer:
    """Every event as one line of JSON; `on_terminal`: with control characters escaped."""

    def __init__(self, out: OutputSink, *, on_terminal: bool) -> None:
        self._out = out
        self._on_terminal = on_terminal

    def feed(self, event: Event) -> None:
        line = encode(event)
        self._out.write_bytes((escape_json(line) if self._on_terminal else line) + b"\n")

    def add_earlier_sources(self, sources: Iterable[Source]) -> None:
        pass

    def tick(self) -> None:
        pass

    def close(self) -> None:
        pass


class TerminalRenderer:
    """The answer with its footnotes on stdout, everything else on stderr; `quiet` leaves everything else out.

    `feed` only takes in the event; `tick` redraws the live region once, however many events came.
    """

    def __init__(
        self,
        screen: Screen,
        answer: AnswerWriter,
        *,
        quiet: bool = False,
        show_thinking: bool = False,
        locale: Locale = "en",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen = screen
        self._answer = answer
        self._quiet = quiet
        self._thinking = ThinkingLine(screen, show_text=show_thinking)
        self._calls = CallLines(screen.symbols, clock)
        self._footnotes = Footnotes()
        self._disagreements = FoundDisagreements()
        self._file_proofs = WrittenFileProofs()
        self._locale: Locale = locale
        self._open: dict[int, ContentBlock] = {}
        self._clock = clock
        self._awaited_model = ""
        self._last_event = 0.0
        self._needs_redraw = False

    def feed(self, event: Event) -> None:
        self._needs_redraw = True
        if not isinstance(event, Ping):
            self._last_event = self._clock()
        self._footnotes.feed(event)
        self._disagreements.feed(event)
        self._file_proofs.feed(event)
        match event:
            case BlockDelta(delta=TextGrowth(text)):
                self._push(text)
            case BlockDelta(delta=ThinkingGrowth(text)):
                if not self._quiet:
                    self._thinking.push(text)
            case BlockStart(index, block):
                self._open[index] = block
                self._begin(block)
            case BlockStop(index):
                self._end(self._open.pop(index, None))
            case ToolStatus():
                self._note_progress(self._calls.status(event))
            case ToolProgress():
                self._note_progress(self._calls.progress(event))
            case MessageStart(message):
                self._awaited_model = message.model
            case MessageDelta():
                self._awaited_model = ""
            case RoundRestart():
                self._restart()
            case _:
                pass

    def add_earlier_sources(self, sources: Iterable[Source]) -> None:
        self._footnotes.add_earlier_sources(sources)

    def _restart(self) -> None:
        """What was printed stays, because a terminal cannot take it back; the repeated round prints it again."""
        self._end_all()
        self._calls.clear()
        if not self._quiet:
            self._screen.note((StyledText("The server was interrupted. This part of the answer starts again:"),))

    def _push(self, text: str) -> None:
        if self._answer.push(text):
            self.tick()

    def _begin(self, block: ContentBlock) -> None:
        match block:
            case TextBlock(text):
                self._answer.begin()
                self._push(text)
            case ThinkingBlock(text) if not self._quiet:
                self._thinking.begin()
                self._thinking.push(text)
            case ToolUseBlock():
                self._calls.begin(block)
            case ToolResultBlock():
                line = self._calls.finish(block)
                if not self._quiet:
                    self._screen.note(line, cut=True)
            case _:
                pass

    def _end(self, block: ContentBlock | None) -> None:
        if isinstance(block, TextBlock):
            self._answer.end()
        elif isinstance(block, ThinkingBlock) and not self._quiet:
            self._thinking.end()

    def _end_all(self) -> None:
        for block in self._open.values():
            self._end(block)
        self._open.clear()

    def _note_progress(self, line: Line | None) -> None:
        """Prints a step of a call where it is not shown live."""
        if line is not None and not self._screen.live_notes and not self._quiet:
            self._screen.note(line)

    def tick(self) -> None:
        if self._screen.region is None or not (self._needs_redraw or self._calls or self._is_awaiting_model):
            return
        self._needs_redraw = False
        columns, rows = self._screen.size
        status = self._status(columns) if self._screen.live_notes and not self._quiet else []
        tail = self._answer.tail(columns, rows)
        gap = [""] if status and (tail or self._screen.has_gap_before_note) else []
        self._screen.show(tail, [*gap, *status])

    def _status(self, columns: int) -> list[str]:
        paint = self._screen.region.paint if self._screen.region else None
        lines = [*self._thinking.lines(), *self._calls.lines()]
        if self._is_awaiting_model:
            # Whole seconds, as for calls. A model on a slow machine may need minutes before its first word.
            seconds = int(self._clock() - self._last_event)
            waited = f"{self._screen.symbols.dot}{seconds}s" if seconds >= MIN_SHOWN_SECONDS else ""
            lines = [(StyledText(f"waiting for {self._awaited_model}{self._screen.symbols.ellipsis}{waited}", "dim"),)]
        return [paint.line(line, columns) for line in lines] if paint else []

    @property
    def _is_awaiting_model(self) -> bool:
        return bool(self._awaited_model) and not (self._open or self._calls)

    def close(self) -> None:
        self._end_all()
        layout = Layout(self._screen.answer_columns, symbols_for(self._screen.out.encoding), self._locale)
        self._answer.add(self._disagreements.lines(layout))
        self._answer.add(self._file_proofs.lines(layout))
        self._answer.add(self._footnotes.lines(layout))
        self._screen.show([], [])


# Status lines --------------------------------------------------------------------------------------------


_DETAIL_LENGTH = 60
_RESULT_LENGTH = 120


class _CallLine:
    """A call that has no result yet."""

    def __init__(self, title: str, detail: str = "") -> None:
        self.title = title
        self.detail = detail
        self.status: CallStatus = "pending"
        self.stage = ""
        self.progress = ""
        self.started: float | None = None
        self.ended: float | None = None


class CallLines:
    """Fed the events about calls. Where lines cannot be redrawn, the line that a method returns is printed."""

    def __init__(self, symbols: Symbols, clock: Callable[[], float] = time.monotonic) -> None:
        self._symbols = symbols
        self._clock = clock
        self._open: dict[str, _CallLine] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, block: ToolUseBlock) -> None:
        detail = _detail(block.input)
        title = block.tool_content_message or block.name
        shown = _truncate(detail, _DETAIL_LENGTH, self._symbols.ellipsis)
        self._open[block.id] = _CallLine(self._join(title, shown), detail)

    def status(self, event: ToolStatus) -> Line | None:
        call = self._open.get(event.tool_use_id)
        if call is None or call.status == event.status:
            return None
        call.status = event.status
        if event.status == "running":
            call.started = self._clock()
            return self._line(call)
        if event.status in ("done", "error"):
            call.ended = self._clock()
        return None

    def progress(self, event: ToolProgress) -> Line | None:
        """A line only when a new stage begins, not for each of a hundred pages."""
        call = self._open.get(event.tool_use_id)
        if call is None:
            return None
        counted = f"{event.done}/{event.total}" if event.total is not None else ""
        label = "" if event.label == call.detail else event.label
        call.progress = " ".join(part for part in (event.stage, counted, label) if part)
        is_new = event.stage != call.stage
        call.stage = event.stage
        return self._line(call) if is_new else None

    def clear(self) -> None:
        """The round restarts: the model will make the running calls again."""
        self._open.clear()

    def finish(self, block: ToolResultBlock) -> Line:
        """The last line about a call."""
        call = self._open.pop(block.tool_use_id, None) or _CallLine(block.name)
        call.ended = call.ended or self._clock()
        failed = block.status == "error"
        results = [_truncate(part, _RESULT_LENGTH, self._symbols.ellipsis) for part in _result_parts(block)]
        rest = self._join("", self._duration(call), *results)
        return (
            self._symbol("error" if failed else "done"),
            StyledText(f" {call.title}"),
            StyledText(rest, "bad" if failed else "dim"),
        )

    def lines(self) -> list[Line]:
        """The running calls, in the order in which the model made them."""
        return [self._line(call, self._duration(call)) for call in self._open.values()]

    def _line(self, call: _CallLine, duration: str = "") -> Line:
        tone: Tone = "normal" if call.status == "running" else "dim"
        rest = self._join("", call.progress, duration)
        return (self._symbol(call.status), StyledText(f" {call.title}", tone), StyledText(rest, "dim"))

    def _symbol(self, status: CallStatus) -> StyledText:
        match status:
            case "done":
                return StyledText(self._symbols.done, "good")
            case "error":
                return StyledText(self._symbols.failed, "bad")
            case _:
                return StyledText(self._symbols.waiting)

    def _duration(self, call: _CallLine) -> str:
        if call.started is None:
            return ""
        if call.ended is None:
            # Whole seconds: a line that changes less often is redrawn less often.
            return f"{int(self._clock() - call.started)}s"
        return f"{call.ended - call.started:.1f}s"

    def _join(self, first: str, *rest: str) -> str:
        return self._symbols.dot.join([first, *(part for part in rest if part)])


def _detail(arguments: dict[str, Any]) -> str:
    """The first argument that fits in a line: a query, a path, a URL; not the text of a file."""
    values = (value for value in arguments.values() if isinstance(value, str))
    return next((value.strip() for value in values if value.strip() and "\n" not in value), "")


def _result_parts(block: ToolResultBlock) -> list[str]:
    """The number of sources and what went wrong with them, or the first line of the result."""
    artifact = block.artifact or {}
    sources: Any = artifact.get("sources")
    if isinstance(sources, list) and block.status == "success":
        count = len(sources)  # pyright: ignore[reportUnknownArgumentType] - an artifact is foreign JSON
        return ["1 source" if count == 1 else f"{count} sources", *_deviations(artifact.get("receipt"))]
    return [block.content.strip().partition("\n")[0]]


def _deviations(receipt: Any) -> list[str]:
    try:
        return deviations(msgspec.convert(receipt, Receipt))
    except msgspec.ValidationError:
        return []


def _truncate(text: str, length: int, ellipsis: str) -> str:
    return text if len(text) <= length else text[: length - len(ellipsis)].rstrip() + ellipsis


class ThinkingLine:
    """Fed the thinking of a turn. `show_text`: the text goes to stderr line by line; otherwise one line says that the
    model is thinking."""

    def __init__(self, screen: Screen, *, show_text: bool) -> None:
        self._screen = screen
        self._show_text = show_text
        self._cleaner = Cleaner()
        self._rest: list[str] = []
        self._length: int | None = None

    def begin(self) -> None:
        self._length = 0
        if not self._show_text and not self._screen.live_notes:
            self._screen.note((StyledText(f"thinking{self._screen.symbols.ellipsis}", "dim"),))

    def push(self, text: str) -> None:
        self._length = (self._length or 0) + len(text)
        if not self._show_text:
            return
        text = self._cleaner.push(text)
        if "\n" in text:
            *lines, rest = ("".join(self._rest) + text).split("\n")
            self._rest = [rest]
            for line in lines:
                self._note(line)
        else:
            self._rest.append(text)

    def end(self) -> None:
        self._length = None
        rest = "".join(self._rest) + self._cleaner.flush()
        self._rest = []
        if rest:
            self._note(rest)

    def lines(self) -> list[Line]:
        """For the live region, while the model is thinking."""
        if self._length is None:
            return []
        length = f"{self._length}" if self._length < 1000 else f"{self._length / 1000:.1f}k"
        counted = f" {length} chars" if self._length else ""
        return [(StyledText(f"thinking{self._screen.symbols.ellipsis}{counted}", "dim"),)]

    def _note(self, line: str) -> None:
        self._screen.note((StyledText(f"{self._screen.symbols.bar}{line}", "dim"),))
