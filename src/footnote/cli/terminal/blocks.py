"""Cuts growing markdown into finished blocks, which never change again, and an unfinished tail.

A block ends at a blank line or at the end of a fence; a list also holds the blank lines between its items, so it
ends only where a line shows that it is over. Decisions are made on whole lines, therefore the cuts do not depend
on how the text arrived.
"""

import re

_opens_fence = re.compile(r" {0,3}(`{3,})[^`]*$| {0,3}(~{3,})")
_opens_fence_in_item = re.compile(r"\s*+(?:(?:[-*+]|\d{1,9}[.)])\s++)?(?:(`{3,}+)[^`]*+$|(~{3,}+))")
_item = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_top_item = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_indented = re.compile(r"(?: {2,}|\t)\S")
_table_rule = re.compile(r" {0,3}\|?\s*+:?-++:?\s*+(?:\|\s*+:?-*+:?\s*+)++$")
_only_marks = re.compile(r"[-=*+#|`~>_\s]*$|\s*\d{1,9}[.)]\s*$")


class BlockSplitter:
    """Text in, finished blocks out. All blocks and the tail, joined, are the text."""

    __slots__ = ("_after_blank", "_fence", "_fence_line", "_has_content", "_in_list", "_lines", "_rest")

    def __init__(self) -> None:
        self._rest: list[str] = []
        self._reset()

    def _reset(self) -> None:
        self._lines: list[str] = []
        self._fence = ""
        self._fence_line = 0
        self._in_list = False
        self._after_blank = False
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
        """The tail, now that nothing follows: a block too."""
        tail = self.tail
        self._rest = []
        self._reset()
        return tail

    @property
    def tail(self) -> str:
        return "".join(f"{line}\n" for line in self._lines) + "".join(self._rest)

    def _push_line(self, line: str, blocks: list[str]) -> None:
        if self._fence:
            self._lines.append(line)
            if self._closes_fence(line):
                self._fence = ""
                if not self._in_list:
                    blocks.append(self._cut())
        elif not line.strip():
            self._lines.append(line)
            self._after_blank = True
            if self._has_content and not self._in_list:
                blocks.append(self._cut())
        else:
            is_item = _item.match(line) is not None
            if self._in_list and self._after_blank and not is_item and not _indented.match(line):
                blocks.append(self._cut())
            self._in_list = self._in_list or is_item
            self._after_blank = False
            self._has_content = True
            self._open_fence(line)
            self._lines.append(line)

    def _open_fence(self, line: str) -> None:
        opening = (_opens_fence_in_item if self._in_list else _opens_fence).match(line)
        if opening:
            self._fence = opening.group(1) or opening.group(2)
            self._fence_line = len(self._lines)

    def _closes_fence(self, line: str) -> bool:
        marks = line.strip()
        return marks.startswith(self._fence) and not marks.strip(self._fence[0])

    def _cut(self) -> str:
        block = "".join(f"{line}\n" for line in self._lines)
        self._reset()
        return block

    def preview(self, columns: int, rows: int) -> str:
        """The end of the tail: markdown enough to fill the given part of a screen, whatever the tail's length.

        A last line of nothing but marks waits until it says more: a lone dash would make a heading of the
        paragraph above it for the moment in which a list begins.
        """
        rest = "".join(self._rest)
        shown = [rest[-columns * rows :]] if self._fence or not _only_marks.match(rest) else []
        room = rows - sum(len(line) // columns + 1 for line in shown)
        first = len(self._lines)
        while first and room > 0:
            first -= 1
            line = self._lines[first][-columns * room :]
            room -= len(line) // columns + 1
            shown.append(line)
        shown.reverse()
        if first and self._in_list and not self._fence:
            shown = _from_item(shown)
        return "\n".join([*self._context_lines(first), *shown])

    def _context_lines(self, first: int) -> list[str]:
        """The lines that give their meaning to those shown, if they stand before the first of them."""
        if self._fence:
            return [self._lines[self._fence_line].lstrip()] if self._fence_line < first else []
        is_table = first >= 2 and _table_rule.match(self._lines[1])
        return self._lines[:2] if is_table else []


def _from_item(lines: list[str]) -> list[str]:
    """Of a list that was cut, the lines from an outermost item on: nested ones alone would be read as code."""
    start = next((at for at, line in enumerate(lines) if _top_item.match(line)), 0)
    return lines[start:]
