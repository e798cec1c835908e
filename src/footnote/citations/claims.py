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

from footnote.citations.blocks import Block, blocks
from footnote.language.sentences import Span, sentences
from footnote.language.terms import terms

_NUMBER = r"\^?[0-9０-９]{1,15}"
_ITEM = rf"{_NUMBER}(?:\s?[-–—~～]\s?{_NUMBER})?"
_BODY = rf"\s?{_ITEM}(?:\s?[,;、，；]\s?{_ITEM})*\s?"
_MARKER = re.compile(rf"\[({_BODY})\](?!\()|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_MAY_CITE = re.compile(r"[\[［【]\s?\^?[0-9０-９]")
_RANGE = re.compile(r"\s?[-–—~～]\s?")
_LONGEST_RANGE = 20
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
_LOOSE = " ,;:.，；：。\n"
_LOOSENED = re.compile(r"(?<=\w) ([,;:.])(?= |$)")
"""Where a marker stood between a word and a comma."""
_SAYS_ENOUGH = 3
_GLANCE = 40
_ENDS = '.!?…。！？”’"»」』)）]】］'


MAX_CHARACTERS = 300_000
"""Characters of a text in which footnotes are looked for: those of a book."""


class Cite(Struct, frozen=True):
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
    cites: tuple[Cite, ...]
    listed: bool = False


class _Mark(Struct, frozen=True):
    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


class _Draft:
    """A sentence, and the markers that turn out to be its own."""

    def __init__(self, start: int, end: int, parts: Sequence[tuple[int, str]], *, listed: bool) -> None:
        self.start = start
        self.end = end
        self.parts = parts
        self.listed = listed
        self.marks: list[_Mark] = []

    def claim(self) -> Claim:
        cites = [
            Cite(mark.text, number, self._part(mark)) for mark in self.marks for number in dict.fromkeys(mark.numbers)
        ]
        text = " ".join("".join(part for _, part in self.parts).split())
        return Claim(self.start, self.end, _LOOSENED.sub(r"\1", text), tuple(cites), self.listed)

    def _part(self, mark: _Mark) -> str:
        """What stands between a marker, or a row of markers, and the row before it, if that says enough."""
        if len(self.parts) < 2:
            return ""
        before = bisect_right(self.parts, mark.start, key=itemgetter(0))
        own = " ".join(self.parts[before - 1][1].strip(_LOOSE).split()) if before else ""
        return own if sum(1 for _ in terms(own)) >= _SAYS_ENOUGH else ""


def may_cite(text: str) -> bool:
    """Whether it is worth to look for claims."""
    return _MAY_CITE.search(text, 0, MAX_CHARACTERS) is not None


def claims(text: str) -> tuple[Claim, ...]:
    """The statements of a text that have a marker, in order."""
    text = text[:MAX_CHARACTERS]
    drafts: list[_Draft] = []
    waiting: list[_Mark] = []
    for block in blocks(text):
        body = _Body(text, block)
        own = body.drafts()
        if own:
            own[0].marks += waiting
            waiting = []
            body.assign(own)
            drafts += own
        elif drafts:
            drafts[-1].marks += body.marks
        else:
            waiting += body.marks
    if waiting:
        # Nothing is said at all: the markers stand for themselves, so that none goes unjudged.
        drafts.append(_Draft(waiting[0].start, waiting[-1].end, (), listed=False))
        drafts[-1].marks += waiting
    return tuple(draft.claim() for draft in drafts if draft.marks)


class _Body:
    """A block with its markers and markup taken out."""

    def __init__(self, text: str, block: Block) -> None:
        self._block = block
        self._offset = block.lines[0].start
        self._raw = text[self._offset : block.lines[-1].end]
        self._kept = bytearray(len(self._raw))
        self._markup = bytearray(len(self._raw))
        for line in block.lines:
            self._keep(line.start - self._offset, line.end - self._offset)
        self._not_cited = self._without_markup()
        self.marks = tuple(self._marks())
        self._cited = {mark.end - self._offset for mark in self.marks}
        self._shown = self._masked()

    def _keep(self, start: int, end: int) -> None:
        self._kept[start:end] = b"\1" * (end - start)

    def _drop(self, start: int, end: int, *, markup: bool = True) -> None:
        self._kept[start:end] = bytes(end - start)
        self._markup[start:end] = bytes((markup,)) * (end - start)

    def _without_markup(self) -> bytearray:
        """Drops what is not read, and returns where no marker can be."""
        closed = bytearray(1 if not kept else 0 for kept in self._kept)
        for code in _CODE.finditer(self._raw):
            self._drop(code.start(), code.end(1))
            self._drop(code.end(2), code.end())
            closed[code.start() : code.end()] = b"\1" * (code.end() - code.start())
        for link in _LINK.finditer(self._raw):
            if any(closed[link.start() : link.end()]):
                continue
            self._drop(link.start(), link.end() if link[1] else link.start(2))
            self._drop(link.end(2), link.end())
            closed[link.start() : link.end()] = b"\1" * (link.end() - link.start())
        for tag in _TAG.finditer(self._raw):
            if not closed[tag.start()] and self._raw[tag.start() - 1 : tag.start()] != "\\":
                self._drop(tag.start(), tag.end())
        for escape in _ESCAPE.finditer(self._raw):
            if not closed[escape.start()]:
                self._drop(escape.start(), escape.end())
                closed[escape.start() : escape.end() + 1] = b"\1\1"
        return closed

    def _marks(self) -> Iterator[_Mark]:
        for found in _MARKER.finditer(self._raw):
            if any(self._not_cited[found.start() : found.end()]) or self._is_index(found):
                continue
            numbers = _numbers(next(body for body in found.groups() if body))
            if numbers:
                self._drop(found.start(), found.end(), markup=False)
                yield _Mark(self._offset + found.start(), self._offset + found.end(), found.group(), numbers)

    def _is_index(self, found: re.Match[str]) -> bool:
        before = re.search(r"[A-Za-z0-9_]{1,40}$", self._raw[max(0, found.start() - 40) : found.start()])
        if not before or not found.group().startswith("["):
            return False
        return bool(_CODE_NAME.match(before.group()) or _CODE_AFTER.match(self._raw, found.end()))

    def _masked(self) -> str:
        """The text with a space for all that is dropped, so that offsets stay; a line break only where it parts."""
        shown = "".join(letter if kept else " " for letter, kept in zip(self._raw, self._kept, strict=True))
        pieces: list[str] = []
        for line, following in zip(self._block.lines, [*self._block.lines[1:], None], strict=True):
            start, end = line.start - self._offset, line.end - self._offset
            pieces.append(shown[start:end])
            if following is not None:
                gap = following.start - line.end
                pieces.append(("\n" if self._is_broken(shown[start:end], end, following) else " ") + " " * (gap - 1))
        return "".join(pieces)

    def _is_broken(self, shown: str, end: int, following: Span) -> bool:
        """Two lines of a paragraph are mostly one text that was wrapped."""
        raw = self._raw[following.start - self._offset : following.end - self._offset].lstrip()
        raw_end = self._raw[max(0, end - 2) : end]
        done = end in self._cited or shown.rstrip().endswith(tuple(_ENDS))
        return raw_end == "  " or raw_end.endswith("\\") or (done and bool(raw) and not raw[0].islower())

    def drafts(self) -> list[_Draft]:
        if self._block.kind == "attribution":
            return []
        drafts: list[_Draft] = []
        last = 0
        for span in self._sentences():
            start, last = self._extent(span, last)
            place = self._offset + start, self._offset + last
            drafts.append(_Draft(*place, self._parts(span), listed=self._block.kind == "reference"))
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
            stripped = self._shown.strip()
            if any(map(str.isalnum, stripped)):
                start = self._shown.index(stripped)
                yield Span(start, start + len(stripped))
            return
        quoted = [found.span() for found in _QUOTATION.finditer(self._shown)]
        following_quotation = 0
        begun: int | None = None
        for span in sentences(self._shown):
            start = span.start if begun is None else begun
            begun = start
            following = self._shown[span.end : span.end + _GLANCE].lstrip()
            while following_quotation < len(quoted) and quoted[following_quotation][1] < span.end:
                following_quotation += 1
            first, last = quoted[following_quotation] if following_quotation < len(quoted) else (span.end, span.end + 1)
            inside = first < span.end < last
            goes_on = last == span.end and following[:1].islower()
            if not inside and not goes_on:
                begun = None
                if any(map(str.isalnum, self._shown[start : span.end])):
                    yield Span(start, span.end)
        if begun is not None:
            yield Span(begun, len(self._shown.rstrip()))

    def _parts(self, span: Span) -> list[tuple[int, str]]:
        """The sentence, cut where markers stand in it: each part with the offset of its end."""
        parts: list[tuple[int, str]] = []
        start = span.start
        first = bisect_right(self.marks, self._offset + span.start, key=lambda mark: mark.start)
        last = bisect_left(self.marks, self._offset + span.end, key=lambda mark: mark.end)
        for mark in self.marks[first:last]:
            at = mark.start - self._offset
            if read := self._read(start, at):
                parts.append((mark.start, read))
            start = mark.end - self._offset
        rest = self._read(start, span.end)
        if parts and not any(map(str.isalnum, rest)):
            parts[-1] = parts[-1][0], parts[-1][1].rstrip() + rest.lstrip()
        else:
            parts.append((self._offset + span.end, rest))
        return parts

    def _read(self, start: int, end: int) -> str:
        shown = zip(self._shown[start:end], self._kept[start:end], self._raw[start:end], strict=True)
        read = "".join(letter for letter, kept, raw in shown if kept or raw == "\n")
        return read if read.strip() else ""

    def assign(self, drafts: Sequence[_Draft]) -> None:
        """Each marker to the sentence that it stands in, or else to the last one before it."""
        at = 0
        for mark in self.marks:
            while at + 1 < len(drafts) and drafts[at + 1].start <= mark.start:
                at += 1
            drafts[at].marks.append(mark)


def _numbers(body: str) -> tuple[int, ...]:
    found: list[int] = []
    for item in re.split("[,;、，；]", body):
        ends = [int(number.strip().lstrip("^")) for number in _RANGE.split(item.strip())]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _LONGEST_RANGE:
            found += range(ends[0], ends[1] + 1)
        else:
            found += ends
    # `[0, 1]` is an interval.
    return () if 0 in found and len(found) > 1 else tuple(found)
