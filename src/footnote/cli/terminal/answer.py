"""The answer, as it streams: painted block by block in a terminal, or as plain text."""

from collections.abc import Sequence
from typing import Protocol

from footnote.cli.terminal.blocks import BlockSplitter
from footnote.cli.terminal.clean import Cleaner
from footnote.cli.terminal.lines import Line, as_text
from footnote.cli.terminal.screen import Screen


class AnswerWriter(Protocol):
    """Takes the text blocks of a turn, one after the other."""

    def begin(self) -> None: ...

    def push(self, text: str) -> bool:
        """True if part of the tail became permanent, so that the live region must follow."""
        ...

    def end(self) -> None: ...

    def add(self, lines: Sequence[Line]) -> None:
        """Lines of ours that belong to the answer, below what there is of it: its footnotes."""
        ...

    def tail(self, columns: int, rows: int) -> list[str]:
        """The part that is not permanent yet, as lines for the live region."""
        ...


class MarkdownPaint(Protocol):
    """What painted answers need of a painter."""

    def markdown(self, text: str, columns: int) -> list[str]: ...

    def line(self, line: Line, columns: int | None = None) -> str: ...


class PlainAnswer:
    """The model's own markdown, cleaned; text blocks are kept apart by an empty line."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._cleaner = Cleaner()
        self._last = ""
        self._gap = ""

    def begin(self) -> None:
        self._cleaner = Cleaner()

    def push(self, text: str) -> bool:
        self._write(self._cleaner.push(text))
        return False

    def end(self) -> None:
        self._write(self._cleaner.flush())
        if self._last:
            self._write("" if self._last.endswith("\n") else "\n")
            self._gap = "\n"

    def add(self, lines: Sequence[Line]) -> None:
        if lines:
            self._write("".join(f"{as_text(line)}\n" for line in lines))
            self._gap = "\n"

    def tail(self, columns: int, rows: int) -> list[str]:  # noqa: ARG002 - nothing is ever unfinished here
        return []

    def _write(self, text: str) -> None:
        if text:
            self._screen.write_text(self._gap + text)
            self._last = text
            self._gap = ""


class PaintedAnswer:
    """Finished blocks are painted once and left alone; only the tail is painted again and again."""

    def __init__(self, screen: Screen, paint: MarkdownPaint) -> None:
        self._screen = screen
        self._paint = paint
        self.begin()

    def begin(self) -> None:
        self._cleaner = Cleaner()
        self._splitter = BlockSplitter()

    def push(self, text: str) -> bool:
        blocks = self._splitter.push(self._cleaner.push(text))
        self._finish(blocks)
        return bool(blocks)

    def end(self) -> None:
        blocks = self._splitter.push(self._cleaner.flush())
        self._finish([*blocks, self._splitter.flush()])

    def add(self, lines: Sequence[Line]) -> None:
        if lines:
            self._screen.write_block([self._paint.line(line) for line in lines])

    def tail(self, columns: int, rows: int) -> list[str]:
        lines = self._paint.markdown(self._splitter.preview(columns, rows), columns)[-rows:]
        return ["", *lines] if lines and self._screen.has_gap_before_answer else lines

    def _finish(self, blocks: list[str]) -> None:
        columns, _ = self._screen.size
        for block in blocks:
            if lines := self._paint.markdown(block, columns):
                self._screen.write_block(lines)
