"""Footnoted statements of a markdown text.

A marker is `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, or one in the wide brackets of Chinese. After a full stop it belongs to
the sentence before it, at the beginning of a paragraph to the sentence after it, and in a paragraph of its own to the
last sentence before that. Brackets in code, in the text of a link, behind a backslash, or after a name as an index
(`a[1]`) are not a marker.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.text.markdown import MarkdownLine, read_lines
from footnote.text.sentences import Span, sentences
from footnote.text.terms import terms

_NUMBER = r"\^?[0-9０-９]{1,15}"
_ITEM = rf"{_NUMBER}(?:\s?[-–—~～]\s?{_NUMBER})?"
_BODY = rf"\s?{_ITEM}(?:\s?[,;、，；]\s?{_ITEM})*\s?"
_MARKER = re.compile(rf"\[({_BODY})\](?!\()|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_MAY_CITE = re.compile(r"[\[［【]\s?\^?[0-9０-９]")
_RANGE = re.compile(r"\s?[-–—~～]\s?")
_MAX_RANGE = 20
"""A longer one, as in `[1990-2020]`, hardly means every number in it: only its ends count."""

_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_CODE = re.compile(r"(?<![`\\])(`{1,8})(?!`)(.{1,1000}?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(
    r"(?<!\\)(!?)\[((?:\\.|[^\[\]\\\n]|\[[^\[\]\n]{0,100}\]){0,500})\]\((?:[^()\n]|\([^()\n]{0,500}\)){0,2000}\)"
)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<https?://[^<>\s]{1,2000}>|\*+|~~|(?<!\w)_+|_+(?!\w)")
_CODE_NAME = re.compile(r"(?:[^\W_]*+_\w*+|[a-z]\d*|arr|argv|args|buf|idx|lst|ptr|str|tmp|vec|xs)$")
_CODE_AFTER = re.compile(r"\s?(?:[+*/%-]?=|\+\+|--|->)|\.[a-z]+\(|\[(?!\^?\d)")
_QUOTATION = re.compile('“[^“”]{1,2000}”|«[^«»]{1,2000}»|「[^「」]{1,2000}」|『[^『』]{1,2000}』|"[^"]{1,2000}"')
_LOOSE_PUNCTUATION = " ,;:.，；：。\n"
_SPACE_BEFORE_PUNCTUATION = re.compile(r"(?<=\w) ([,;:.])(?= |$)")
"""Left behind by a marker between a word and a comma."""
_MIN_PART_TERMS = 3
_LOOKAHEAD = 40
_SENTENCE_ENDS = '.!?…。！？”’"»」』)）]】］'


MAX_CHARACTERS = 300_000
"""Limit for the text in which footnotes are looked for: the length of a book."""


class CitedNumber(Struct, frozen=True):
    """One number of the marker at `position`. `part` is the part of the statement before the marker, if markers divide
    the statement."""

    marker: str
    number: int
    position: int
    part: str = ""


class Claim(Struct, frozen=True):
    """`start` and `end` are the offsets of the sentence, without markers before or after it; those within it, also
    before its full stop, stay. `text` is the sentence as a reader sees it: without markers and markup.

    `is_reference`: an entry of a list of sources, which states nothing.
    """

    start: int
    end: int
    text: str
    cites: tuple[CitedNumber, ...]
    is_reference: bool = False


StatementKind: TypeAlias = Literal["text", "whole", "attribution", "reference"]
"""`whole`: one statement, however many sentences it has. `attribution`: a line that names the author of the quotation
before it. `reference`: an entry of a list of sources, which states nothing."""

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


class StatementBlock(Struct, frozen=True):
    """A markdown block with statements. `lines` are the offsets of its lines, without the marks of list, quotation and
    heading."""

    kind: StatementKind
    lines: tuple[Span, ...]


def _statement_blocks(text: str) -> Iterator[StatementBlock]:
    """The blocks of a text in order, without code. No two overlap."""
    parser = _StatementParser(text)
    for line in read_lines(text, indented_code=True):
        yield from parser.feed(line)
    yield from parser.flush()


class _StatementParser:
    """Groups markdown lines into blocks, with three rules of its own: a quotation of several paragraphs is one
    statement, a list of sources states nothing, and a table row is one statement unless its cells are long."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[Span] = []
        self._kind: StatementKind = "text"
        self._in_quote = False
        self._after_blank = True
        self._in_source_list = False

    def flush(self) -> Iterator[StatementBlock]:
        if self._open:
            yield StatementBlock(self._kind, tuple(self._open))
        self._open = []

    def feed(self, line: MarkdownLine) -> Iterator[StatementBlock]:
        if line.kind in ("code", "fence"):
            yield from self.flush()
        elif line.kind == "blank":
            # A quotation of several paragraphs may have a single marker, at its end.
            if not line.is_quoted or not self._in_quote or self._ends_with_marker():
                yield from self.flush()
            self._after_blank = True
        else:
            if line.is_quoted != self._in_quote:
                yield from self.flush()
                self._in_quote = line.is_quoted
            yield from self._feed_content(line)
            self._after_blank = False

    def _ends_with_marker(self) -> bool:
        last = self._open[-1] if self._open else None
        return last is None or bool(_ENDS_WITH_MARKER.search(self._text[last.start : last.end]))

    def _feed_content(self, line: MarkdownLine) -> Iterator[StatementBlock]:
        body = self._text[line.body : line.end]
        if line.kind == "rule":
            yield from self.flush()
        elif _SOURCE_HEADING.match(body):
            yield from self.flush()
            self._in_source_list = True
        elif self._in_source_list and line.kind != "heading" and (_SOURCE_ENTRY.match(body) or not self._after_blank):
            yield from self._begin("reference", Span(line.body, line.end))
        elif _DEFINITION.match(self._text, line.content) or _SOURCE_LINE.match(body):
            yield from self._begin("reference", Span(line.body, line.end))
            yield from self.flush()
        else:
            self._in_source_list = False
            yield from self._feed_statement(line)

    def _feed_statement(self, line: MarkdownLine) -> Iterator[StatementBlock]:
        span = Span(line.content, line.end)
        if line.kind == "row":
            yield from self.flush()
            yield from self._split_row(span)
        elif line.is_quoted and _ATTRIBUTION.match(self._text, line.body):
            yield from self._begin("attribution", span)
        elif line.kind == "text" and self._open:
            self._open.append(span)
        else:
            is_heading = line.kind == "heading"
            yield from self._begin("whole" if line.is_quoted and not is_heading else "text", span)
            if is_heading:
                yield from self.flush()

    def _begin(self, kind: StatementKind, span: Span) -> Iterator[StatementBlock]:
        yield from self.flush()
        self._kind = kind
        self._open.append(span)

    def _split_row(self, span: Span) -> Iterator[StatementBlock]:
        """Long cells are statements by themselves; short ones are a statement only together."""
        cells = [Span(*cell.span()) for cell in _CELL.finditer(self._text, span.start, span.end)]
        cited = [cell for cell in cells if _CITED_CELL.search(self._text[cell.start : cell.end])]
        if all(cell.end - cell.start >= _MIN_CELL_LENGTH for cell in cited):
            yield from (StatementBlock("text", (cell,)) for cell in cells)
        else:
            yield StatementBlock("whole", tuple(cells))


class _FootnoteMark(Struct, frozen=True):
    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


class _ClaimDraft:
    """A sentence while its markers are collected."""

    def __init__(self, start: int, end: int, parts: Sequence[tuple[int, str]], *, is_reference: bool) -> None:
        self.start = start
        self.end = end
        self.parts = parts
        self.is_reference = is_reference
        self.marks: list[_FootnoteMark] = []

    def claim(self) -> Claim:
        cites = [
            CitedNumber(mark.text, number, mark.start, self._part(mark))
            for mark in self.marks
            for number in dict.fromkeys(mark.numbers)
        ]
        text = " ".join("".join(part for _, part in self.parts).split())
        return Claim(self.start, self.end, _SPACE_BEFORE_PUNCTUATION.sub(r"\1", text), tuple(cites), self.is_reference)

    def _part(self, mark: _FootnoteMark) -> str:
        """The text between a marker, or a row of markers, and the row before it, if it is long enough."""
        if len(self.parts) < 2:
            return ""
        before = bisect_right(self.parts, mark.start, key=itemgetter(0))
        own = " ".join(self.parts[before - 1][1].strip(_LOOSE_PUNCTUATION).split()) if before else ""
        return own if sum(1 for _ in terms(own)) >= _MIN_PART_TERMS else ""


def may_cite(text: str) -> bool:
    """Whether a text may have markers, by a fast search."""
    return _MAY_CITE.search(text, 0, MAX_CHARACTERS) is not None


def extract_claims(text: str) -> tuple[Claim, ...]:
    """The statements of a text that have a marker, in order."""
    text = text[:MAX_CHARACTERS]
    drafts: list[_ClaimDraft] = []
    waiting: list[_FootnoteMark] = []
    for block in _statement_blocks(text):
        body = _ClaimText(text, block)
        own = body.drafts()
        if own:
            own[0].marks += waiting
            waiting = []
            body.assign_marks(own)
            drafts += own
        elif drafts:
            drafts[-1].marks += body.marks
        else:
            waiting += body.marks
    if waiting:
        # Without any sentence the markers are a claim by themselves, so that none of them is left unjudged.
        drafts.append(_ClaimDraft(waiting[0].start, waiting[-1].end, (), is_reference=False))
        drafts[-1].marks += waiting
    return tuple(draft.claim() for draft in drafts if draft.marks)


class _ClaimText:
    """A block without its markers and markup."""

    def __init__(self, text: str, block: StatementBlock) -> None:
        self._block = block
        self._offset = block.lines[0].start
        self._raw = text[self._offset : block.lines[-1].end]
        self._visible = bytearray(len(self._raw))
        self._markup = bytearray(len(self._raw))
        for line in block.lines:
            self._show(line.start - self._offset, line.end - self._offset)
        self._no_marker = self._hide_markup()
        self.marks = tuple(self._find_marks())
        self._marker_ends = {mark.end - self._offset for mark in self.marks}
        self._masked_text = self._mask_text()

    def _show(self, start: int, end: int) -> None:
        self._visible[start:end] = b"\1" * (end - start)

    def _hide(self, start: int, end: int, *, markup: bool = True) -> None:
        self._visible[start:end] = bytes(end - start)
        self._markup[start:end] = bytes((markup,)) * (end - start)

    def _hide_markup(self) -> bytearray:
        """Hides the markup, and returns the places at which no marker can be."""
        blocked = bytearray(1 if not visible else 0 for visible in self._visible)
        for code in _CODE.finditer(self._raw):
            self._hide(code.start(), code.end(1))
            self._hide(code.end(2), code.end())
            blocked[code.start() : code.end()] = b"\1" * (code.end() - code.start())
        for link in _LINK.finditer(self._raw):
            if any(blocked[link.start() : link.end()]):
                continue
            self._hide(link.start(), link.end() if link[1] else link.start(2))
            self._hide(link.end(2), link.end())
            blocked[link.start() : link.end()] = b"\1" * (link.end() - link.start())
        for tag in _TAG.finditer(self._raw):
            if not blocked[tag.start()] and self._raw[tag.start() - 1 : tag.start()] != "\\":
                self._hide(tag.start(), tag.end())
        for escape in _ESCAPE.finditer(self._raw):
            if not blocked[escape.start()]:
                self._hide(escape.start(), escape.end())
                blocked[escape.start() : escape.end() + 1] = b"\1\1"
        return blocked

    def _find_marks(self) -> Iterator[_FootnoteMark]:
        for found in _MARKER.finditer(self._raw):
            if any(self._no_marker[found.start() : found.end()]) or self._is_index(found):
                continue
            numbers = _parse_numbers(next(body for body in found.groups() if body))
            if numbers:
                self._hide(found.start(), found.end(), markup=False)
                yield _FootnoteMark(self._offset + found.start(), self._offset + found.end(), found.group(), numbers)

    def _is_index(self, found: re.Match[str]) -> bool:
        before = re.search(r"[A-Za-z0-9_]{1,40}$", self._raw[max(0, found.start() - 40) : found.start()])
        if not before or not found.group().startswith("["):
            return False
        return bool(_CODE_NAME.match(before.group()) or _CODE_AFTER.match(self._raw, found.end()))

    def _mask_text(self) -> str:
        """The text with a space for each hidden character, so that offsets stay the same; only the line breaks that end
        a sentence stay."""
        shown = "".join(letter if visible else " " for letter, visible in zip(self._raw, self._visible, strict=True))
        pieces: list[str] = []
        for line, following in zip(self._block.lines, [*self._block.lines[1:], None], strict=True):
            start, end = line.start - self._offset, line.end - self._offset
            pieces.append(shown[start:end])
            if following is not None:
                gap = following.start - line.end
                pieces.append(
                    ("\n" if self._is_line_break(shown[start:end], end, following) else " ") + " " * (gap - 1)
                )
        return "".join(pieces)

    def _is_line_break(self, shown: str, end: int, following: Span) -> bool:
        """Whether a line break ends a sentence. Two lines of a paragraph are mostly one text that was wrapped."""
        raw = self._raw[following.start - self._offset : following.end - self._offset].lstrip()
        raw_end = self._raw[max(0, end - 2) : end]
        is_ended = end in self._marker_ends or shown.rstrip().endswith(tuple(_SENTENCE_ENDS))
        return raw_end == "  " or raw_end.endswith("\\") or (is_ended and bool(raw) and not raw[0].islower())

    def drafts(self) -> list[_ClaimDraft]:
        if self._block.kind == "attribution":
            return []
        drafts: list[_ClaimDraft] = []
        last = 0
        for span in self._sentences():
            start, last = self._extent(span, last)
            offsets = self._offset + start, self._offset + last
            drafts.append(_ClaimDraft(*offsets, self._split_parts(span), is_reference=self._block.kind == "reference"))
        return drafts

    def _extent(self, span: Span, last: int) -> tuple[int, int]:
        """The offsets of a sentence with the markup around it (`**Yes.**`), unless that belongs to the one before."""
        start, end = span.start, span.end
        while start > last and self._markup[start - 1]:
            start -= 1
        while end < len(self._markup) and self._markup[end]:
            end += 1
        return start, end

    def _sentences(self) -> Iterator[Span]:
        if self._block.kind in ("whole", "reference"):
            stripped = self._masked_text.strip()
            if any(map(str.isalnum, stripped)):
                start = self._masked_text.index(stripped)
                yield Span(start, start + len(stripped))
            return
        quoted = [found.span() for found in _QUOTATION.finditer(self._masked_text)]
        following_quotation = 0
        pending: int | None = None
        for span in sentences(self._masked_text):
            start = span.start if pending is None else pending
            pending = start
            following = self._masked_text[span.end : span.end + _LOOKAHEAD].lstrip()
            while following_quotation < len(quoted) and quoted[following_quotation][1] < span.end:
                following_quotation += 1
            first, last = quoted[following_quotation] if following_quotation < len(quoted) else (span.end, span.end + 1)
            is_inside = first < span.end < last
            is_continued = last == span.end and following[:1].islower()
            if not is_inside and not is_continued:
                pending = None
                if any(map(str.isalnum, self._masked_text[start : span.end])):
                    yield Span(start, span.end)
        if pending is not None:
            yield Span(pending, len(self._masked_text.rstrip()))

    def _split_parts(self, span: Span) -> list[tuple[int, str]]:
        """The sentence, cut at the markers in it: each part with the offset of its end."""
        parts: list[tuple[int, str]] = []
        start = span.start
        first = bisect_right(self.marks, self._offset + span.start, key=lambda mark: mark.start)
        last = bisect_left(self.marks, self._offset + span.end, key=lambda mark: mark.end)
        for mark in self.marks[first:last]:
            at = mark.start - self._offset
            if part := self._visible_text(start, at):
                parts.append((mark.start, part))
            start = mark.end - self._offset
        rest = self._visible_text(start, span.end)
        if parts and not any(map(str.isalnum, rest)):
            parts[-1] = parts[-1][0], parts[-1][1].rstrip() + rest.lstrip()
        else:
            parts.append((self._offset + span.end, rest))
        return parts

    def _visible_text(self, start: int, end: int) -> str:
        shown = zip(self._masked_text[start:end], self._visible[start:end], self._raw[start:end], strict=True)
        text = "".join(letter for letter, visible, raw in shown if visible or raw == "\n")
        return text if text.strip() else ""

    def assign_marks(self, drafts: Sequence[_ClaimDraft]) -> None:
        """Adds each marker to the sentence that contains it, or else to the last one before it."""
        at = 0
        for mark in self.marks:
            while at + 1 < len(drafts) and drafts[at + 1].start <= mark.start:
                at += 1
            drafts[at].marks.append(mark)


def _parse_numbers(body: str) -> tuple[int, ...]:
    found: list[int] = []
    for item in re.split("[,;、，；]", body):
        ends = [int(number.strip().lstrip("^")) for number in _RANGE.split(item.strip())]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _MAX_RANGE:
            found += range(ends[0], ends[1] + 1)
        else:
            found += ends
    # `[0, 1]` is an interval.
    return () if 0 in found and len(found) > 1 else tuple(found)
