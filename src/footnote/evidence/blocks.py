"""The blocks of a markdown text in which statements stand: paragraphs, list items, headings, quotations, table rows.

Code is left out. Offsets count code points of the whole text.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.text.sentences import Span

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
_MIN_CELL_LENGTH = 40
"""A cell of fewer characters says nothing without its row."""


class TextBlockSpan(Struct, frozen=True):
    """`lines` are its parts, line by line, without the marks of list, quotation and heading."""

    kind: Kind
    lines: tuple[Span, ...]


def parse_blocks(text: str) -> Iterator[TextBlockSpan]:
    """The blocks in order. No two overlap."""
    reader = _BlockParser(text)
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield from reader.feed_line(start, end)
        start = end + 1
    yield from reader.flush()


class _BlockParser:
    """Takes a text line by line; what is open goes on with the next line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[Span] = []
        self._kind: Kind = "text"
        self._in_quote = False
        self._fence = ""
        self._in_list = False
        self._after_blank = True
        self._in_source_list = False

    def flush(self) -> Iterator[TextBlockSpan]:
        if self._open:
            yield TextBlockSpan(self._kind, tuple(self._open))
        self._open = []

    def feed_line(self, start: int, end: int) -> Iterator[TextBlockSpan]:
        quote = _QUOTE.match(self._text, start, end)
        inner = quote.end() if quote else start
        line = self._text[inner:end]
        if self._is_code(line):
            yield from self.flush()
        elif not line.strip():
            if quote is None or not self._in_quote or self._is_cited():
                yield from self.flush()
            self._after_blank = True
        else:
            if (quote is not None) != self._in_quote:
                yield from self.flush()
                self._in_quote = quote is not None
            yield from self._read_line(line, Span(inner, end))
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

    def _read_line(self, line: str, span: Span) -> Iterator[TextBlockSpan]:
        if _RULE.match(line):
            yield from self.flush()
        elif _SOURCES.match(line):
            yield from self.flush()
            self._in_source_list = True
        elif self._in_source_list and self._is_source_entry(line):
            yield from self._begin("reference", span)
        elif _DEFINITION.match(line) or _SOURCES_IN_LINE.match(line):
            yield from self._begin("reference", span)
            yield from self.flush()
        else:
            self._in_source_list = False
            yield from self._read_statement(line, span)

    def _is_source_entry(self, line: str) -> bool:
        return not _HEADING.match(line) and bool(_ENTRY.match(line) or not self._after_blank)

    def _read_statement(self, line: str, span: Span) -> Iterator[TextBlockSpan]:
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            yield from self._begin("text", Span(span.start + heading.end(), span.end))
            yield from self.flush()
            self._in_list = False
        elif _ROW.match(line):
            yield from self.flush()
            yield from self._read_row(span)
        elif item:
            yield from self._begin("whole" if self._in_quote else "text", Span(span.start + item.end(), span.end))
            self._in_list = True
        elif self._in_quote and _DASH.match(line):
            yield from self._begin("attribution", span)
        elif self._open:
            self._open.append(span)
        else:
            yield from self._begin("whole" if self._in_quote else "text", span)
            self._in_list = self._in_list and bool(_INDENTED.match(line) or line.startswith("  "))

    def _begin(self, kind: Kind, span: Span) -> Iterator[TextBlockSpan]:
        yield from self.flush()
        self._kind = kind
        self._open.append(span)

    def _read_row(self, span: Span) -> Iterator[TextBlockSpan]:
        """Long cells stand for themselves; short ones say something only together."""
        cells = [Span(*cell.span()) for cell in _CELL.finditer(self._text, span.start, span.end)]
        cited = [cell for cell in cells if re.search(r"[\[［【]\^?\d", self._text[cell.start : cell.end])]
        if all(cell.end - cell.start >= _MIN_CELL_LENGTH for cell in cited):
            yield from (TextBlockSpan("text", (cell,)) for cell in cells)
        else:
            yield TextBlockSpan("whole", tuple(cells))
