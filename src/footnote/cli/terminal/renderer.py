"""Events in, output out: the one way in which a run is shown, and the one in which it is handed on as JSON."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from footnote.cli.terminal.answer import AnswerWriter
from footnote.cli.terminal.calls import CallLines
from footnote.cli.terminal.clean import escape_json
from footnote.cli.terminal.footnotes import Footnotes
from footnote.cli.terminal.layout import Layout
from footnote.cli.terminal.lines import Line, StyledText, symbols_for
from footnote.cli.terminal.screen import OutputSink, Screen
from footnote.cli.terminal.thinking import ThinkingLine
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    ContentBlock,
    Event,
    MessageDelta,
    MessageStart,
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
from footnote.protocol.sources import Source
from footnote.protocol.sse import encode
from footnote.protocol.tools import Locale


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
        """Nothing follows; leave the output whole."""
        ...


class JsonRenderer:
    """Every event as one line of JSON; `on_terminal`: also its strings steer nothing."""

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

    Feeding costs what the event brings. What can be redrawn is redrawn by `tick`, however many events came.
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
        self._locale: Locale = locale
        self._open: dict[int, ContentBlock] = {}
        self._awaited_model = ""
        self._needs_redraw = False

    def feed(self, event: Event) -> None:
        self._needs_redraw = True
        self._footnotes.feed(event)
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
        """What was printed stays, since a terminal takes nothing back; what follows says it again."""
        self._end_all()
        self._calls.clear()
        if not self._quiet:
            self._screen.note((StyledText("The server was interrupted. This part of the answer begins again:"),))

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
        """A step on the way, where it is not shown live."""
        if line is not None and not self._screen.live_notes and not self._quiet:
            self._screen.note(line)

    def tick(self) -> None:
        if self._screen.region is None or not (self._needs_redraw or self._calls):
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
        if not lines and not self._open and self._awaited_model:
            lines = [(StyledText(f"waiting for {self._awaited_model}{self._screen.symbols.ellipsis}", "dim"),)]
        return [paint.line(line, columns) for line in lines] if paint else []

    def close(self) -> None:
        self._end_all()
        layout = Layout(self._screen.answer_columns, symbols_for(self._screen.out.encoding), self._locale)
        self._answer.add(self._footnotes.lines(layout))
        self._screen.show([], [])
