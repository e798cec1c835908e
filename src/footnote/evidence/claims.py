"""Footnoted statements of a markdown text.

A marker is `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, or one in the wide brackets of Chinese. After a full stop it belongs to
the sentence before it, at the beginning of a paragraph to the sentence after it, and in a paragraph of its own to the
last sentence before that. What stands in code, in the text of a link, behind a backslash, or after a name as an index
(`a[1]`) is none.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from msgspec import Struct

from footnote.evidence.blocks import TextBlockSpan, parse_blocks
from footnote.text.sentences import Span, sentences
from footnote.text.terms import terms

_NUMBER = r"\^?[0-9０-９]{1,15}"
_ITEM = rf"{_NUMBER}(?:\s?[-–—~～]\s?{_NUMBER})?"
_BODY = rf"\s?{_ITEM}(?:\s?[,;、，；]\s?{_ITEM})*\s?"
_MARKER = re.compile(rf"\[({_BODY})\](?!\()|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_MAY_CITE = re.compile(r"[\[［【]\s?\^?[0-9０-９]")
_RANGE = re.compile(r"\s?[-–—~～]\s?")
_MAX_RANGE = 20
"""A longer one, as in `[1990-2020]`, hardly means every number in it: its ends are taken."""

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
"""Where a marker stood between a word and a comma."""
_MIN_PART_TERMS = 3
_LOOKAHEAD = 40
_SENTENCE_ENDS = '.!?…。！？”’"»」』)）]】］'


MAX_CHARACTERS = 300_000
"""Characters of a text in which footnotes are looked for: those of a book."""


class CitedNumber(Struct, frozen=True):
    """One number of a marker. `part` is the part of the statement that it stands after, where markers part it."""

    marker: str
    number: int
    part: str = ""


class Claim(Struct, frozen=True):
    """`start` and `end` are the offsets of the sentence, without markers before or after it; those within it, also
    before its full stop, stay. `text` is the sentence as it is read: without markers and markup.

    `listed`: an entry of a list of sources, which states nothing.
    """

    start: int
    end: int
    text: str
    cites: tuple[CitedNumber, ...]
    is_reference: bool = False


class _FootnoteMark(Struct, frozen=True):
    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


class _ClaimDraft:
    """A sentence, and the markers that turn out to be its own."""

    def __init__(self, start: int, end: int, parts: Sequence[tuple[int, str]], *, listed: bool) -> None:
        self.start = start
        self.end = end
        self.parts = parts
        self.listed = listed
        self.marks: list[_FootnoteMark] = []

    def claim(self) -> Claim:
        cites = [
            CitedNumber(mark.text, number, self._part(mark))
            for mark in self.marks
            for number in dict.fromkeys(mark.numbers)
        ]
        text = " ".join("".join(part for _, part in self.parts).split())
        return Claim(self.start, self.end, _SPACE_BEFORE_PUNCTUATION.sub(r"\1", text), tuple(cites), self.listed)

    def _part(self, mark: _FootnoteMark) -> str:
        """What stands between a marker, or a row of markers, and the row before it, if that says enough."""
        if len(self.parts) < 2:
            return ""
        before = bisect_right(self.parts, mark.start, key=itemgetter(0))
        own = " ".join(self.parts[before - 1][1].strip(_LOOSE_PUNCTUATION).split()) if before else ""
        return own if sum(1 for _ in terms(own)) >= _MIN_PART_TERMS else ""


def may_cite(text: str) -> bool:
    """Whether it is worth to look for claims."""
    return _MAY_CITE.search(text, 0, MAX_CHARACTERS) is not None


def extract_claims(text: str) -> tuple[Claim, ...]:
    """The statements of a text that have a marker, in order."""
    text = text[:MAX_CHARACTERS]
    drafts: list[_ClaimDraft] = []
    waiting: list[_FootnoteMark] = []
    for block in parse_blocks(text):
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
        # Nothing is said at all: the markers stand for themselves, so that none goes unjudged.
        drafts.append(_ClaimDraft(waiting[0].start, waiting[-1].end, (), listed=False))
        drafts[-1].marks += waiting
    return tuple(draft.claim() for draft in drafts if draft.marks)


class _ClaimText:
    """A block with its markers and markup taken out."""

    def __init__(self, text: str, block: TextBlockSpan) -> None:
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
        """Drops what is not read, and returns where no marker can be."""
        closed = bytearray(1 if not kept else 0 for kept in self._visible)
        for code in _CODE.finditer(self._raw):
            self._hide(code.start(), code.end(1))
            self._hide(code.end(2), code.end())
            closed[code.start() : code.end()] = b"\1" * (code.end() - code.start())
        for link in _LINK.finditer(self._raw):
            if any(closed[link.start() : link.end()]):
                continue
            self._hide(link.start(), link.end() if link[1] else link.start(2))
            self._hide(link.end(2), link.end())
            closed[link.start() : link.end()] = b"\1" * (link.end() - link.start())
        for tag in _TAG.finditer(self._raw):
            if not closed[tag.start()] and self._raw[tag.start() - 1 : tag.start()] != "\\":
                self._hide(tag.start(), tag.end())
        for escape in _ESCAPE.finditer(self._raw):
            if not closed[escape.start()]:
                self._hide(escape.start(), escape.end())
                closed[escape.start() : escape.end() + 1] = b"\1\1"
        return closed

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
        """The text with a space for all that is dropped, so that offsets stay; a line break only where it parts."""
        shown = "".join(letter if kept else " " for letter, kept in zip(self._raw, self._visible, strict=True))
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
        """Two lines of a paragraph are mostly one text that was wrapped."""
        raw = self._raw[following.start - self._offset : following.end - self._offset].lstrip()
        raw_end = self._raw[max(0, end - 2) : end]
        done = end in self._marker_ends or shown.rstrip().endswith(tuple(_SENTENCE_ENDS))
        return raw_end == "  " or raw_end.endswith("\\") or (done and bool(raw) and not raw[0].islower())

    def drafts(self) -> list[_ClaimDraft]:
        if self._block.kind == "attribution":
            return []
        drafts: list[_ClaimDraft] = []
        last = 0
        for span in self._sentences():
            start, last = self._extent(span, last)
            place = self._offset + start, self._offset + last
            drafts.append(_ClaimDraft(*place, self._split_parts(span), listed=self._block.kind == "reference"))
        return drafts

    def _extent(self, span: Span, last: int) -> tuple[int, int]:
        """Where a sentence stands, with the markup around it (`**Yes.**`) that is not of the one before."""
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
        begun: int | None = None
        for span in sentences(self._masked_text):
            start = span.start if begun is None else begun
            begun = start
            following = self._masked_text[span.end : span.end + _LOOKAHEAD].lstrip()
            while following_quotation < len(quoted) and quoted[following_quotation][1] < span.end:
                following_quotation += 1
            first, last = quoted[following_quotation] if following_quotation < len(quoted) else (span.end, span.end + 1)
            inside = first < span.end < last
            goes_on = last == span.end and following[:1].islower()
            if not inside and not goes_on:
                begun = None
                if any(map(str.isalnum, self._masked_text[start : span.end])):
                    yield Span(start, span.end)
        if begun is not None:
            yield Span(begun, len(self._masked_text.rstrip()))

    def _split_parts(self, span: Span) -> list[tuple[int, str]]:
        """The sentence, cut where markers stand in it: each part with the offset of its end."""
        parts: list[tuple[int, str]] = []
        start = span.start
        first = bisect_right(self.marks, self._offset + span.start, key=lambda mark: mark.start)
        last = bisect_left(self.marks, self._offset + span.end, key=lambda mark: mark.end)
        for mark in self.marks[first:last]:
            at = mark.start - self._offset
            if read := self._visible_text(start, at):
                parts.append((mark.start, read))
            start = mark.end - self._offset
        rest = self._visible_text(start, span.end)
        if parts and not any(map(str.isalnum, rest)):
            parts[-1] = parts[-1][0], parts[-1][1].rstrip() + rest.lstrip()
        else:
            parts.append((self._offset + span.end, rest))
        return parts

    def _visible_text(self, start: int, end: int) -> str:
        shown = zip(self._masked_text[start:end], self._visible[start:end], self._raw[start:end], strict=True)
        read = "".join(letter for letter, kept, raw in shown if kept or raw == "\n")
        return read if read.strip() else ""

    def assign_marks(self, drafts: Sequence[_ClaimDraft]) -> None:
        """Each marker to the sentence that it stands in, or else to the last one before it."""
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
