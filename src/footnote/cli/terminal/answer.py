"""The answer, as it streams: painted block by block in a terminal, or as plain text.

`BlockSplitter` cuts growing markdown into finished blocks, which never change again, and an unfinished tail. A block
ends at a blank line or at the end of a fence; a list also holds the blank lines between its items, so it ends only at a
line that is no part of it. The lines are classified by `text.markdown`, as in stored answers. Decisions are made on
whole lines, therefore the cuts do not depend on how the text arrived.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from footnote.cli.terminal.clean import Cleaner
from footnote.cli.terminal.lines import Line, as_text
from footnote.cli.terminal.screen import Screen
from footnote.text.markdown import LineReader

_TOP_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_TABLE_RULE = re.compile(r" {0,3}\|?\s*+:?-++:?\s*+(?:\|\s*+:?-*+:?\s*+)++$")
_ONLY_MARKS = re.compile(r"[-=*+#|`~>_\s]*$|\s*\d{1,9}[.)]\s*$")


class AnswerWriter(Protocol):
    """Writes the text blocks of a turn, one after the other."""

    def begin(self) -> None: ...

    def push(self, text: str) -> bool:
        """True if part of the tail became permanent, so that the live region must follow."""
        ...

    def end(self) -> None: ...

    def add(self, lines: Sequence[Line]) -> None:
        """The footnotes, below the answer."""
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

    def tail(self, columns: int, rows: int) -> list[str]:  # noqa: ARG002 - there is no unfinished part here
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


class BlockSplitter:
    """Takes text and returns finished blocks. All blocks and the tail, joined, are the text."""

    __slots__ = ("_fence_line", "_has_content", "_lines", "_reader", "_rest")

    def __init__(self) -> None:
        self._rest: list[str] = []
        self._reset()

    def _reset(self) -> None:
        self._reader = LineReader(indented_code=True)
        self._lines: list[str] = []
        self._fence_line = 0
        self._has_content = False

    def push(self, text: str) -> list[str]:
        """The blocks that `text` finishes."""
        if "\n" not in text:
            self._rest.append(text)
            return []
        *lines, rest = ("".join(self._rest) + text).split("\n")
        self._rest = [rest]
        blocks: list[str] = []
        for line in lines:
            self._push_line(line, blocks)
        return blocks

    def flush(self) -> str:
        """The tail as the last block, at the end of the stream."""
        tail = self.tail
        self._rest = []
        self._reset()
        return tail

    @property
    def tail(self) -> str:
        return "".join(f"{line}\n" for line in self._lines) + "".join(self._rest)

    def _push_line(self, line: str, blocks: list[str]) -> None:
        was_in_list = self._reader.in_list
        kind = self._reader.read(line).kind
        if was_in_list and not self._reader.in_list and not self._lines[-1].strip():
            # The list is complete; a heading right below an item, without a blank line, stays in its block.
            blocks.append(self._cut())
            kind = self._reader.read(line).kind
        if kind == "fence" and self._reader.fence:
            self._fence_line = len(self._lines)
        self._lines.append(line)
        self._has_content = self._has_content or kind != "blank"
        is_complete = kind == "blank" or (kind == "fence" and not self._reader.fence)
        if is_complete and self._has_content and not self._reader.in_list:
            blocks.append(self._cut())

    def _cut(self) -> str:
        block = "".join(f"{line}\n" for line in self._lines)
        self._reset()
        return block

    def preview(self, columns: int, rows: int) -> str:
        """The end of the tail: as much markdown as fills the given part of a screen, whatever the length of the tail.

        A last line of nothing but marks is held back until more of it arrives: a lone dash would turn the paragraph
        above it into a heading for the moment in which a list begins.
        """
        rest = "".join(self._rest)
        shown = [rest[-columns * rows :]] if self._reader.fence or not _ONLY_MARKS.match(rest) else []
        room = rows - sum(len(line) // columns + 1 for line in shown)
        first = len(self._lines)
        while first and room > 0:
            first -= 1
            line = self._lines[first][-columns * room :]
            room -= len(line) // columns + 1
            shown.append(line)
        shown.reverse()
        if first and self._reader.in_list and not self._reader.fence:
            shown = _from_item(shown)
        return "\n".join([*self._context_lines(first), *shown])

    def _context_lines(self, first: int) -> list[str]:
        """The opening of the fence, or the header of the table, if it is above the first line that is shown."""
        if self._reader.fence:
            return [self._lines[self._fence_line].lstrip()] if self._fence_line < first else []
        is_table = first >= 2 and _TABLE_RULE.match(self._lines[1])
        return self._lines[:2] if is_table else []


def _from_item(lines: list[str]) -> list[str]:
    """The lines of a cut list from an outermost item on: nested items alone would be rendered as code."""
    start = next((at for at, line in enumerate(lines) if _TOP_ITEM.match(line)), 0)
    return lines[start:]
