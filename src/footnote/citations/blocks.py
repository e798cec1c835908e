"""The blocks of a markdown text in which statements stand: paragraphs, list items, headings, quotations, table rows.

Code is left out. Offsets count code points of the whole text.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.language.sentences import Span

Kind: TypeAlias = Literal["text", "whole", "attribution", "reference"]
"""`whole`: one statement, however many sentences it has. `attribution`: says of whom the quotation before it is.
`reference`: an entry of a list of sources, which states nothing."""

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?(?:[ ]{0,3}>[ ]?)*")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,4}[.)、])[ \t]+(?:\[[ xX]\][ \t]+)?")
_INDENTED = re.compile(r"(?: {4}|\t)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(
    r"[ \t]*+(?:(?:\|[ \t]*+)?:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?"
    r"|={2,}+|[*_-](?:[ \t]*+[*_-]){2,}+)[ \t]*+$"
)
_DASH = re.compile(r"[ \t]*(?:[—–―]|--)[ \t]*\S")
_DEFINITION = re.compile(r"[ ]{0,3}\[\^?[^\]\n]{1,40}\]:[ \t]")
_CELL = re.compile(r"(?:\\.|[^|\\])+")

_LABEL = (
    r"sources?|references?|citations?|footnotes?|bibliography|works cited|"
    r"nguồn(?: tham khảo| trích dẫn| tin)?|tài liệu tham khảo|tham khảo|chú thích|trích dẫn|"
    r"(?:信息|资料|資料|参考|參考|引用)?(?:来源|來源)|参考(?:资料|文献|链接)?|參考(?:資料|文獻)|引用|注释|脚注|出处"
)
_SOURCES = re.compile(rf"[\s#>*_]*+(?:\W{{1,3}}[ ])?(?:{_LABEL})[\s*_]*+(?:[:：][\s*_]*+)?$", re.IGNORECASE)
_SOURCES_IN_LINE = re.compile(rf"[\s>*_]*(?:{_LABEL})[\s*_]*[:：][\s*_]*(?=[\[［【])", re.IGNORECASE)
_ENTRY = re.compile(r"[\s>]*(?:[-*+•‣◦][ \t]|\d{1,4}[.)、:]|[\[［【<]|https?://)")
_CITED = re.compile(r"[0-9][\]］】][.。]?\s*$")
_SHORT_CELL = 40
"""A cell of fewer characters says nothing without its row."""


class Block(Struct, frozen=True):
    """`lines` are its parts, line by line, without the marks of list, quotation and heading."""

    kind: Kind
    lines: tuple[Span, ...]


def blocks(text: str) -> Iterator[Block]:
    """The blocks in order. No two overlap."""
    reader = _Reader(text)
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield from reader.read(start, end)
        start = end + 1
    yield from reader.ended()


class _Reader:
    """Takes a text line by line; what is open goes on with the next line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[Span] = []
        self._kind: Kind = "text"
        self._quoted = False
        self._fence = ""
        self._in_list = False
        self._after_blank = True
        self._listing = False

    def ended(self) -> Iterator[Block]:
        if self._open:
            yield Block(self._kind, tuple(self._open))
        self._open = []

    def read(self, start: int, end: int) -> Iterator[Block]:
        quote = _QUOTE.match(self._text, start, end)
        inner = quote.end() if quote else start
        line = self._text[inner:end]
        if self._is_code(line):
            yield from self.ended()
        elif not line.strip():
            if quote is None or not self._quoted or self._is_cited():
                yield from self.ended()
            self._after_blank = True
        else:
            if (quote is not None) != self._quoted:
                yield from self.ended()
                self._quoted = quote is not None
            yield from self._written(line, Span(inner, end))
            self._after_blank = False

    def _is_cited(self) -> bool:
        """Whether what is open ends with a marker. A quotation of several paragraphs may have only one, at its end."""
        return not self._open or bool(_CITED.search(self._text[self._open[-1].start : self._open[-1].end]))

    def _is_code(self, line: str) -> bool:
        """A fence opens and closes; four spaces after an empty line are code, unless a list goes on there."""
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
                self._fence = ""
            return True
        if fence and "`" not in line[fence.end() :]:
            self._fence = fence[1]
            return True
        return bool(_INDENTED.match(line)) and self._after_blank and not self._in_list and bool(line.strip())

    def _written(self, line: str, span: Span) -> Iterator[Block]:
        if _RULE.match(line):
            yield from self.ended()
        elif _SOURCES.match(line):
            yield from self.ended()
            self._listing = True
        elif self._listing and self._is_listed(line):
            yield from self._begun("reference", span)
        elif _DEFINITION.match(line) or _SOURCES_IN_LINE.match(line):
            yield from self._begun("reference", span)
            yield from self.ended()
        else:
            self._listing = False
            yield from self._stated(line, span)

    def _is_listed(self, line: str) -> bool:
        return not _HEADING.match(line) and bool(_ENTRY.match(line) or not self._after_blank)

    def _stated(self, line: str, span: Span) -> Iterator[Block]:
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            yield from self._begun("text", Span(span.start + heading.end(), span.end))
            yield from self.ended()
            self._in_list = False
        elif _ROW.match(line):
            yield from self.ended()
            yield from self._row(span)
        elif item:
            yield from self._begun("whole" if self._quoted else "text", Span(span.start + item.end(), span.end))
            self._in_list = True
        elif self._quoted and _DASH.match(line):
            yield from self._begun("attribution", span)
        elif self._open:
            self._open.append(span)
        else:
            yield from self._begun("whole" if self._quoted else "text", span)
            self._in_list = self._in_list and bool(_INDENTED.match(line) or line.startswith("  "))

    def _begun(self, kind: Kind, span: Span) -> Iterator[Block]:
        yield from self.ended()
        self._kind = kind
        self._open.append(span)

    def _row(self, span: Span) -> Iterator[Block]:
        """Long cells stand for themselves; short ones say something only together."""
        cells = [Span(*cell.span()) for cell in _CELL.finditer(self._text, span.start, span.end)]
        cited = [cell for cell in cells if re.search(r"[\[［【]\^?\d", self._text[cell.start : cell.end])]
        if all(cell.end - cell.start >= _SHORT_CELL for cell in cited):
            yield from (Block("text", (cell,)) for cell in cells)
        else:
            yield Block("whole", tuple(cells))
