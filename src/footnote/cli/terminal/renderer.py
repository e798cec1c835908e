"""Events in, output out: how a run is shown in a terminal, and how it is printed as JSON."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from footnote.cli.terminal.answer import AnswerWriter
from footnote.cli.terminal.calls import CallLines
from footnote.cli.terminal.clean import Cleaner, escape_json
from footnote.cli.terminal.disagreements import FoundDisagreements
from footnote.cli.terminal.file_proofs import WrittenFileProofs
from footnote.cli.terminal.footnotes import Footnotes, Layout
from footnote.cli.terminal.lines import Line, StyledText, symbols_for
from footnote.cli.terminal.research import ResearchProgress
from footnote.cli.terminal.screen import OutputSink, Screen
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
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
    item_of,
)
from footnote.protocol.sources import Source
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

    def show_finishing(self) -> None:
        """The user wants the report of a research run now."""
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

    def show_finishing(self) -> None:
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
        self._research = ResearchProgress(screen.symbols, locale, clock)
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
        for line in self._research.feed(event):
            self._note_progress(line)
        if item_of(event) is None:
            self._feed_answer(event)
        elif isinstance(event, BlockStart) and isinstance(event.content_block, ToolResultBlock):
            # Of the work on an item, only what it has found is shown with the answer.
            self._footnotes.feed(event)
            self._disagreements.feed(event)

    def _feed_answer(self, event: Event) -> None:
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

    def show_finishing(self) -> None:
        self._research.is_finishing = True
        self._needs_redraw = True

    def _restart(self) -> None:
        """What was printed stays, because a terminal cannot take it back; the repeated round prints it again."""
        self._end_all()
        self._calls.clear()
        next_step = "The research goes on." if self._research.is_going_on else "This part of the answer starts again:"
        if not self._quiet:
            self._screen.note((StyledText(f"The server was interrupted. {next_step}"),))

    def _print_plan(self) -> None:
        """The plan as it ended. Where nothing is live, its lines were printed one by one."""
        lines = self._research.take_plan(self._screen.size[0])
        if self._screen.live_notes and not self._quiet:
            for line in lines:
                self._screen.note(line, cut=True)

    def _print_totals(self) -> None:
        self._print_plan()
        for line in self._research.take_totals() if not self._quiet else ():
            self._screen.note(line)

    def _push(self, text: str) -> None:
        if self._answer.push(text):
            self.tick()

    def _begin(self, block: ContentBlock) -> None:
        match block:
            case TextBlock(text):
                self._print_totals()
                self._answer.begin()
                self._push(text)
            case ThinkingBlock(text) if not self._quiet:
                self._thinking.begin()
                self._thinking.push(text)
            case ToolUseBlock():
                self._print_plan()
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
        is_moving = self._calls or self._is_awaiting_model or self._research
        if self._screen.region is None or not (self._needs_redraw or is_moving):
            return
        self._needs_redraw = False
        columns, rows = self._screen.size
        status = self._status(columns, rows) if self._screen.live_notes and not self._quiet else []
        tail = self._answer.tail(columns, rows)
        gap = [""] if status and (tail or self._screen.has_gap_before_note) else []
        self._screen.show(tail, [*gap, *status])

    def _status(self, columns: int, rows: int) -> list[str]:
        paint = self._screen.region.paint if self._screen.region else None
        lines = [*self._thinking.lines(), *self._calls.lines()]
        if self._is_awaiting_model and not self._research.is_going_on:
            # Whole seconds, as for calls. A model on a slow machine may need minutes before its first word.
            seconds = int(self._clock() - self._last_event)
            waited = f"{self._screen.symbols.dot}{seconds}s" if seconds >= MIN_SHOWN_SECONDS else ""
            lines = [(StyledText(f"waiting for {self._awaited_model}{self._screen.symbols.ellipsis}{waited}", "dim"),)]
        lines += self._research.lines(columns, rows - len(lines) - 2)
        return [paint.line(line, columns) for line in lines] if paint else []

    @property
    def _is_awaiting_model(self) -> bool:
        return bool(self._awaited_model) and not (self._open or self._calls)

    def close(self) -> None:
        self._end_all()
        self._print_totals()
        layout = Layout(self._screen.answer_columns, symbols_for(self._screen.out.encoding), self._locale)
        self._answer.add(self._disagreements.lines(layout))
        self._answer.add(self._file_proofs.lines(layout))
        self._answer.add(self._footnotes.lines(layout, counts_uncited=not self._research.has_plan))
        self._screen.show([], [])
        for line in self._research.spent_lines() if not self._quiet else ():
            self._screen.note(line)


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
