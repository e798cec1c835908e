"""The markdown blocks of a text that may hold statements, with what markdown says about them.

Code, formulas, comments and the metadata before a text hold none. Headings, headers of tables and tasks are blocks, so
that a footnote in them is judged, but they state nothing without one.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.text.markdown import MarkdownLine, read_lines
from footnote.text.sentences import Span

StatementKind: TypeAlias = Literal["text", "whole", "attribution", "reference"]
"""`whole`: one statement, however many sentences it has. `attribution`: a line that names the author of the quotation
before it. `reference`: an entry of a list of sources, which states nothing."""
StatementPlace: TypeAlias = Literal["text", "item", "row", "quotation", "label"]
"""`label`: a heading, the header of a table or a task, which states nothing without a footnote."""

_LABEL = (
    r"sources?|references?|citations?|footnotes?|bibliography|works cited|"
    r"nguồn(?: tham khảo| trích dẫn| tin)?|tài liệu tham khảo|tham khảo|chú thích|trích dẫn|"
    r"(?:信息|资料|資料|参考|參考|引用)?(?:来源|來源)|参考(?:资料|文献|链接)?|參考(?:資料|文獻)|引用|注释|脚注|出处"
)
_SOURCE_HEADING = re.compile(rf"[\s#>*_]*+(?:\W{{1,3}}[ ])?(?:{_LABEL})[\s*_]*+(?:[:：][\s*_]*+)?$", re.IGNORECASE)
_SOURCE_LINE = re.compile(rf"[\s>*_]*(?:{_LABEL})[\s*_]*[:：][\s*_]*(?=[\[［【])", re.IGNORECASE)
_SOURCE_ENTRY = re.compile(r"[\s>]*(?:[-*+•‣◦][ \t]|\d{1,4}[.)、:]|[\[［【<]|https?://)")
_DEFINITION = re.compile(r"\[\^?[^\]\n]{1,40}\]:[ \t]")
_ATTRIBUTION = re.compile(r"[ \t]*(?:[—–―]|--)[ \t]*\S")
_CELL = re.compile(r"(?:\\.|[^|\\])+")
_CITED_CELL = re.compile(r"[\[［【]\^?\d")
_ENDS_WITH_MARKER = re.compile(r"[0-9][\]］】][.。]?\s*$")
_MIN_CELL_LENGTH = 40
"""A table cell of fewer characters is no statement without its row."""
_TASK = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\[[ xX]\][ \t]")
_UNDERLINE = re.compile(r"[ \t]*(?:=+|-+)[ \t]*$")
_MAX_UNDERLINED = 100
"""A longer line before `---` is a paragraph before a rule, although CommonMark makes a heading of it."""
_METADATA_FENCES = ("---", "+++")
_MAX_METADATA_LINES = 60
_FORMULA_FENCES = (("$$", "$$"), ("\\[", "\\]"), ("<!--", "-->"))
"""What opens a formula or a comment of several lines, and what ends it."""


class StatementBlock(Struct, frozen=True):
    """A markdown block with statements. `lines` are the offsets of its lines, without the marks of list, quotation and
    heading. `indent` is that of a list item."""

    kind: StatementKind
    lines: tuple[Span, ...]
    place: StatementPlace = "text"
    indent: int = 0


def is_source_heading(line: str) -> bool:
    """Whether a line, with or without the signs of a heading, announces a list of sources."""
    return _SOURCE_HEADING.match(line) is not None


def statement_blocks(text: str) -> Iterator[StatementBlock]:
    """The blocks of a text in order, without code. No two overlap."""
    parser = _StatementParser(text)
    lines = chain(_content_lines(text), [None])
    for line, following in pairwise(lines):
        if line is not None:
            yield from parser.feed(line, following)
    yield from parser.flush()


def _content_lines(text: str) -> Iterator[MarkdownLine]:
    """The lines of a text without metadata at its beginning, formulas and comments, which count as code."""
    end_of_metadata = _metadata_end(text)
    closing = ""
    for line in read_lines(text, indented_code=True):
        content = text[line.content : line.end].strip()
        if line.start < end_of_metadata:
            continue
        if closing:
            closing = "" if closing in content else closing
            yield _as_code(line)
        elif line.kind not in ("code", "fence") and (opened := _opened_fence(content)):
            closing = opened
            yield _as_code(line)
        elif line.kind not in ("code", "fence") and _is_fenced_line(content):
            yield _as_code(line)
        else:
            yield line


def _as_code(line: MarkdownLine) -> MarkdownLine:
    return MarkdownLine("code", line.start, line.body, line.content, line.end, line.is_quoted)


def _opened_fence(content: str) -> str:
    """What ends the formula or comment that a line opens; empty, if it opens none or ends it itself."""
    for opening, closing in _FORMULA_FENCES:
        if content.startswith(opening) and closing not in content[len(opening) :]:
            return closing
    return ""


def _is_fenced_line(content: str) -> bool:
    """Whether a line is nothing but a formula or a comment."""
    return any(
        content.startswith(opening) and content.endswith(closing) and len(content) >= len(opening) + len(closing)
        for opening, closing in _FORMULA_FENCES
    )


def _metadata_end(text: str) -> int:
    """The offset after the metadata with which a text begins (`---`, lines, `---`), 0 if it has none."""
    fence = text[:3]
    if fence not in _METADATA_FENCES or text[3:4] not in ("\n", "\r"):
        return 0
    at = text.find("\n") + 1
    for _ in range(_MAX_METADATA_LINES):
        end = text.find("\n", at)
        line = text[at : end if end >= 0 else len(text)].strip()
        if line in (fence, "..."):
            return end + 1 if end >= 0 else len(text)
        if end < 0 or not line:
            return 0
        at = end + 1
    return 0


class _StatementParser:
    """Groups markdown lines into blocks, with three rules of its own: a quotation of several paragraphs is one
    statement, a list of sources states nothing, and a table row is one statement unless its cells are long."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[Span] = []
        self._kind: StatementKind = "text"
        self._place: StatementPlace = "text"
        self._indent = 0
        self._in_quote = False
        self._after_blank = True
        self._in_source_list = False
        self._in_table = False

    def flush(self) -> Iterator[StatementBlock]:
        if self._open:
            yield StatementBlock(self._kind, tuple(self._open), self._place, self._indent)
        self._open = []

    def feed(self, line: MarkdownLine, following: MarkdownLine | None) -> Iterator[StatementBlock]:
        if line.kind in ("code", "fence"):
            yield from self.flush()
        elif line.kind == "blank":
            # A quotation of several paragraphs may have a single marker, at its end.
            if not line.is_quoted or not self._in_quote or self._ends_with_marker():
                yield from self.flush()
            self._after_blank = True
            self._in_table = False
        else:
            if line.is_quoted != self._in_quote:
                yield from self.flush()
                self._in_quote = line.is_quoted
            yield from self._feed_content(line, following)
            self._after_blank = False

    def _ends_with_marker(self) -> bool:
        last = self._open[-1] if self._open else None
        return last is None or bool(_ENDS_WITH_MARKER.search(self._text[last.start : last.end]))

    def _feed_content(self, line: MarkdownLine, following: MarkdownLine | None) -> Iterator[StatementBlock]:
        body = self._text[line.body : line.end]
        if line.kind == "rule":
            self._in_table = "|" in body
            if self._is_underline(body):
                self._place = "label"
            yield from self.flush()
        elif is_source_heading(body) and not (line.is_quoted and self._open):
            yield from self.flush()
            self._in_source_list = True
        elif self._in_source_list and line.kind != "heading" and (_SOURCE_ENTRY.match(body) or not self._after_blank):
            yield from self._begin("reference", Span(line.body, line.end))
        elif _DEFINITION.match(self._text, line.content) or _SOURCE_LINE.match(body):
            yield from self._begin("reference", Span(line.body, line.end))
            yield from self.flush()
        else:
            self._in_source_list = False
            yield from self._feed_statement(line, following)

    def _is_underline(self, body: str) -> bool:
        """Whether a rule makes a heading of the line before it."""
        if len(self._open) != 1 or self._place != "text" or not _UNDERLINE.match(body):
            return False
        line = self._text[self._open[0].start : self._open[0].end].rstrip()
        return "=" in body or (len(line) <= _MAX_UNDERLINED and line[-1:] not in ".。!！")

    def _feed_statement(self, line: MarkdownLine, following: MarkdownLine | None) -> Iterator[StatementBlock]:
        span = Span(line.content, line.end)
        is_header = self._is_table_header(line, following)
        if line.kind == "row" or is_header or (self._in_table and line.kind == "text" and self._has_cells(span)):
            yield from self.flush()
            yield from self._split_row(span, "label" if is_header else "row")
        elif line.is_quoted and _ATTRIBUTION.match(self._text, line.body):
            yield from self._begin("attribution", span)
        elif line.kind == "text" and self._open:
            self._open.append(span)
        elif line.kind == "heading":
            yield from self._begin("text", span, "label")
            yield from self.flush()
        elif line.is_quoted:
            yield from self._begin("whole", span, "quotation")
        elif line.kind == "item":
            is_task = _TASK.match(self._text, line.body, line.end)
            indent = len(self._text[line.body : line.content]) - len(self._text[line.body : line.content].lstrip())
            yield from self._begin("text", span, "label" if is_task else "item", indent)
        else:
            yield from self._begin("text", span)

    def _is_table_header(self, line: MarkdownLine, following: MarkdownLine | None) -> bool:
        return (
            following is not None
            and following.kind == "rule"
            and "|" in self._text[line.content : line.end]
            and "|" in self._text[following.content : following.end]
        )

    def _has_cells(self, span: Span) -> bool:
        return "|" in self._text[span.start : span.end]

    def _begin(
        self, kind: StatementKind, span: Span, place: StatementPlace = "text", indent: int = 0
    ) -> Iterator[StatementBlock]:
        yield from self.flush()
        self._kind, self._place, self._indent = kind, place, indent
        self._open.append(span)

    def _split_row(self, span: Span, place: StatementPlace) -> Iterator[StatementBlock]:
        """Long cells are statements by themselves; short ones are a statement only together."""
        cells = [Span(*cell.span()) for cell in _CELL.finditer(self._text, span.start, span.end)]
        cited = [cell for cell in cells if _CITED_CELL.search(self._text[cell.start : cell.end])]
        if cited and all(cell.end - cell.start >= _MIN_CELL_LENGTH for cell in cited):
            yield from (StatementBlock("text", (cell,), place) for cell in cells)
        elif cells:
            yield StatementBlock("whole", tuple(cells), place)
