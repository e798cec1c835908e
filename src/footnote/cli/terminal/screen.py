"""Where output goes: permanent text on stdout and stderr, and a live region below it that is redrawn in place.

The region stands on stdout where that is a terminal. It takes one write to erase it, print what is permanent and
draw it again, so nothing flickers. It is always lower than the screen, because what has scrolled away cannot be
erased any more.
"""

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, TextIO, TypeAlias

from footnote.cli.terminal.lines import UNICODE, Line, StyledText, Symbols, as_text, symbols_for

Size: TypeAlias = Callable[[], tuple[int, int]]
_DEFAULT_SIZE = (80, 24)
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"


class OutputSink:
    """A stream that may fail, because its reader left or the disk is full: after that, writes are dropped.

    The command that follows the run checks `failure` and stops the run in order.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    @property
    def encoding(self) -> str:
        return self._stream.encoding or "ascii"

    @property
    def columns(self) -> int | None:
        """The width of the terminal behind the stream; None: it is not a terminal."""
        return size_of(self._stream)()[0] if self._stream.isatty() else None

    def write(self, text: str) -> None:
        self._write(lambda: self._stream.write(text))

    def write_bytes(self, data: bytes) -> None:
        self._write(lambda: self._stream.buffer.write(data))

    def _write(self, write: Callable[[], object]) -> None:
        if self.failure is not None:
            return
        try:
            write()
            self._stream.flush()
        except OSError as error:
            self.failure = error

    def close(self) -> None:
        """Drops what could not be written; Python would otherwise try and fail again at exit."""
        if self.failure is None:
            return
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, not a path
            os.dup2(nowhere.fileno(), self._stream.fileno())


class Painting(Protocol):
    """The methods of a painter that the screen uses."""

    def line(self, line: Line, columns: int | None = None) -> str: ...

    def rows(self, painted: str, columns: int) -> int: ...


class LiveRegion:
    """The lines at the bottom of a terminal that are redrawn."""

    def __init__(self, sink: OutputSink, paint: Painting, size: Size) -> None:
        self.sink = sink
        self.paint = paint
        self._size = size
        self._drawn: list[str] = []

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal at this moment: it may have been resized."""
        return self._size()

    def draw(self, lines: list[str], *, above: str = "") -> None:
        """Replaces the region by `lines`, with permanent text above it. The lines must not be wider than the screen."""
        if lines == self._drawn and not above:
            return
        # If the terminal draws a character wider than expected, the line is clipped and does not wrap.
        drawing = f"{_NO_WRAP}{chr(10).join(lines)}{_WRAP}\n" if lines else ""
        self.sink.write(self._erase_sequence() + above + drawing)
        self._drawn = lines

    def _erase_sequence(self) -> str:
        if not self._drawn:
            return ""
        # A terminal that became narrower has wrapped the drawn lines again.
        columns, _ = self.size
        rows = sum(self.paint.rows(line, columns) for line in self._drawn)
        return f"\r\x1b[{rows}A\x1b[J"


class Screen:
    """The output of one command.

    `region` None: nothing is redrawn. `live_notes`: stderr is the terminal of the region.
    """

    def __init__(
        self, out: OutputSink, err: OutputSink, *, region: LiveRegion | None = None, live_notes: bool = False
    ) -> None:
        self.out = out
        self.err = err
        self.region = region
        self.live_notes = live_notes and region is not None
        self.symbols: Symbols = UNICODE if self.live_notes else symbols_for(err.encoding)
        self._tail: list[str] = []
        self._status: list[str] = []
        self._has_answer = False
        self._last_was_answer: bool | None = None
        self._deferred: list[Callable[[], None]] | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.region.size if self.region else _DEFAULT_SIZE

    @property
    def answer_columns(self) -> int | None:
        """How wide a line on stdout can be; None: stdout is not a terminal."""
        is_drawn_on = self.region is not None and self.region.sink is self.out
        return self.size[0] if is_drawn_on else self.out.columns

    def write_text(self, text: str) -> None:
        """Permanent text on stdout, as it is."""
        if self._defer(lambda: self.write_text(text)):
            return
        self.out.write(text)

    def write_block(self, lines: list[str]) -> None:
        """A permanent painted block on stdout, after an empty line if there is output above it.

        It replaces the tail in the live region.
        """
        if self._defer(lambda: self.write_block(lines)) or self.region is None:
            return
        above = "".join(f"{line}\n" for line in ([""] if self.has_gap_before_answer else []) + lines)
        self._has_answer = self._last_was_answer = True
        self._tail = []
        self.region.draw(self._live_lines, above=above)

    def note(self, line: Line, *, cut: bool = False) -> None:
        """A permanent line on stderr. `cut`: on a terminal it takes one row, whatever its length."""
        if self._defer(lambda: self.note(line, cut=cut)):
            return
        if self.region is None or not self.live_notes:
            self.err.write(f"{as_text(line)}\n")
            return
        gap = "\n" if self.has_gap_before_note else ""
        text = f"{gap}{self.region.paint.line(line, self.size[0] if cut else None)}\n"
        self._last_was_answer = False
        if self.region.sink is self.err:
            self.region.draw(self._live_lines, above=text)
        else:
            self.region.draw([])
            self.err.write(text)
            self.region.draw(self._live_lines)

    @property
    def has_gap_before_answer(self) -> bool:
        notes_above = self._last_was_answer is False and self._is_shared
        return self._has_answer or notes_above

    @property
    def has_gap_before_note(self) -> bool:
        return self._last_was_answer is True and self._is_shared

    @property
    def _is_shared(self) -> bool:
        """Answer and notes share one terminal."""
        return self.live_notes and self.region is not None and self.region.sink is self.out

    def show(self, tail: list[str], status: list[str]) -> None:
        """Sets the live region: the unfinished part of the answer, and the status lines."""
        self._tail, self._status = tail, status
        if self.region is not None and self._deferred is None:
            self.region.draw(self._live_lines)

    @property
    def _live_lines(self) -> list[str]:
        _, rows = self.size
        lines = [*self._tail, *self._status]
        return lines[max(len(lines) - rows + 1, 0) :]

    def hold(self) -> None:
        """Hides the region and defers all output while the user answers a question."""
        if self.region is not None:
            self.region.draw([])
        self._deferred = []

    def release(self) -> None:
        deferred, self._deferred = self._deferred or [], None
        for write in deferred:
            write()
        self.show(self._tail, self._status)

    def _defer(self, write: Callable[[], None]) -> bool:
        if self._deferred is None:
            return False
        self._deferred.append(write)
        return True


def size_of(stream: TextIO) -> Size:
    """A function that returns the current size of the terminal behind a stream."""
    descriptor = stream.fileno()

    def size() -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(descriptor)
        except OSError:
            return _DEFAULT_SIZE
        # A terminal without a size reports 0.
        return columns or _DEFAULT_SIZE[0], rows or _DEFAULT_SIZE[1]

    return size


class _LogLines(logging.Handler):
    """Log records as notes on the screen, so that they do not run into what is being drawn."""

    def __init__(self, screen: Screen, level: int) -> None:
        super().__init__(level)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._screen.note((StyledText(f"{record.levelname.capitalize()}: {record.getMessage()}", "dim"),))
        except Exception:  # noqa: BLE001 - the caller that logs must not fail because of the terminal
            self.handleError(record)


@contextmanager
def show_warnings(screen: Screen, *, quiet: bool) -> Generator[None, None, None]:
    """Warnings and errors become notes; with `quiet` only errors do."""
    notes = _LogLines(screen, logging.ERROR if quiet else logging.WARNING)
    logging.getLogger().addHandler(notes)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(notes)
