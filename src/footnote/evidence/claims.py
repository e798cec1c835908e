"""The statements of a markdown text, with the footnotes and links that belong to each.

A marker is `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, or one in the wide brackets of Chinese. After a full stop it belongs to
the sentence before it, at the beginning of a paragraph to the sentence after it, and in a paragraph of its own to the
last sentence before that. Brackets in code, in the text of a link, behind a backslash, or after a name as an index
(`a[1]`) are not a marker. Links, addresses and DOIs belong to sentences in the same way, and so do notes with a name
(`[^smith]`).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct

from footnote.evidence.inline_links import (
    ADDRESS,
    BRACKET_PAIRS,
    INLINE_LINK,
    LINK_TARGET,
    REFERENCE_LINK,
    first_address,
    is_web_address,
    source_labels,
    trim_address,
)
from footnote.evidence.statement_blocks import StatementBlock, StatementPlace, statement_blocks
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
_TAG = re.compile(
    r"</?[A-Za-z][^<>\n]{0,300}>|<https?://[^<>\s]{1,2000}>|<!--(?:[^-\n]|-(?!->)){0,1000}-->"
    r"|\*+|~~|(?<!\w)_+|_+(?!\w)"
)
_NAMED_NOTE = re.compile(r"\[\^([^\s\[\]]{1,40})\](?!:)")
_NOTE_DEFINITION = re.compile(r"^[ \t]{0,3}\[(\^?[^\[\]\n]{1,60})\]:[ \t]*+(?P<body>[^\n]{0,2000})", re.MULTILINE)
_FORMULA = re.compile(r"(?<![\\$\w])\$(?=[^\s$])[^$\n]{1,300}?(?<=[^\s\\$])\$(?![\d$])")
_IS_FORMULA = re.compile(r"[\\^_={}]")
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


class CitedLink(Struct, frozen=True):
    """A link of a statement: `marker` is its address as the text has it, or the note that leads to it; `url` is where
    it leads, empty for a note without an address."""

    marker: str
    url: str
    position: int


class Claim(Struct, frozen=True):
    """`start` and `end` are the offsets of the sentence, without markers before or after it; those within it, also
    before its full stop, stay. `text` is the sentence as a reader sees it: without markers and markup.

    `is_reference`: an entry of a list of sources, which states nothing. `place` is where in the text it stands, and
    `covered` are the numbers of the footnote of the header, the line with a colon or the line of sources that it
    belongs to.
    """

    start: int
    end: int
    text: str
    cites: tuple[CitedNumber, ...]
    is_reference: bool = False
    links: tuple[CitedLink, ...] = ()
    place: StatementPlace = "text"
    covered: tuple[int, ...] = ()


class _FootnoteMark(Struct, frozen=True):
    """A marker with its numbers, or a link with its address: `link` is None for a marker."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...] = ()
    link: str | None = None


class _ClaimDraft:
    """A sentence while its markers are collected."""

    def __init__(self, start: int, end: int, parts: Sequence[tuple[int, str]], block: StatementBlock | None) -> None:
        self.start = start
        self.end = end
        self.parts = parts
        self.block = block
        self.marks: list[_FootnoteMark] = []
        self.covered: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        text = " ".join("".join(part for _, part in self.parts).split())
        return _SPACE_BEFORE_PUNCTUATION.sub(r"\1", text)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for mark in self.marks for number in mark.numbers))

    def claim(self) -> Claim:
        return Claim(
            self.start,
            self.end,
            self.text,
            tuple(
                CitedNumber(mark.text, number, mark.start, self._part(mark))
                for mark in self.marks
                for number in dict.fromkeys(mark.numbers)
            ),
            is_reference=self.block is not None and self.block.kind == "reference",
            links=tuple(CitedLink(mark.text, mark.link, mark.start) for mark in self.marks if mark.link is not None),
            place=self.block.place if self.block else "text",
            covered=self.covered,
        )

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
    return tuple(claim for claim in extract_statements(text) if claim.cites)


def extract_statements(text: str) -> tuple[Claim, ...]:
    """All sentences of a text, list items and rows of tables, in order; not all of them state something."""
    text = text[:MAX_CHARACTERS]
    addresses = {found[1].casefold(): first_address(found["body"]) for found in _NOTE_DEFINITION.finditer(text)}
    drafts: list[_ClaimDraft] = []
    waiting: list[_FootnoteMark] = []
    cover = _Cover()
    for block in statement_blocks(text):
        body = _ClaimText(text, block, addresses)
        own = body.drafts()
        if _is_entry(body, block):
            # `[1] https://…` says where a number leads, and is no footnote of the statement before it.
            entry = StatementBlock("reference", block.lines)
            drafts.append(_ClaimDraft(body.all_marks[0].start, body.all_marks[-1].end, (), entry))
            drafts[-1].marks += body.all_marks
            cover.add_line_of_sources(body.marks, entry)
        elif own:
            own[0].marks += waiting
            waiting = []
            body.assign_marks(own)
            cover.add(own, block)
            drafts += own
        elif drafts:
            drafts[-1].marks += body.all_marks
            cover.add_line_of_sources(body.marks, block)
        else:
            waiting += body.all_marks
    if any(mark.numbers for mark in waiting):
        # Without any sentence the markers are a claim by themselves, so that none of them is left unjudged.
        drafts.append(_ClaimDraft(waiting[0].start, waiting[-1].end, (), None))
        drafts[-1].marks += waiting
    return tuple(draft.claim() for draft in drafts)


def _is_entry(body: "_ClaimText", block: StatementBlock) -> bool:
    """Whether a block is an entry of a list of sources: a number, then its address or link, and no words besides."""
    marks = body.all_marks
    if not marks or body.says_something:
        return False
    return block.kind == "reference" or (bool(marks[0].numbers) and any(mark.link for mark in marks[1:]))


class _Cover:
    """Finds the footnotes that a writer gives once for several statements: in the header of a table, in the line before
    a list that ends with a colon, or in a line of sources below a table."""

    def __init__(self) -> None:
        self._header: _ClaimDraft | None = None
        self._rows: list[_ClaimDraft] = []
        self._leads: list[tuple[int, _ClaimDraft]] = []
        self._last: _ClaimDraft | None = None

    def add(self, own: Sequence[_ClaimDraft], block: StatementBlock) -> None:
        if block.kind == "reference":
            self.add_line_of_sources([mark for draft in own for mark in draft.marks], block)
            return
        if block.place == "row":
            leads = [draft for draft in (self._header, self._lead_of_table()) if draft]
            self._rows += own
        elif block.place == "item":
            self._leads = [lead for lead in self._leads if lead[0] < block.indent]
            leads = [lead for _, lead in self._leads]
            if _is_lead(own[-1]):
                self._leads.append((block.indent, own[-1]))
        else:
            leads = []
            self._leads = [(-1, own[-1])] if _is_lead(own[-1]) else []
        for draft in own:
            draft.covered = tuple(dict.fromkeys(number for lead in leads for number in lead.numbers))
        self._header = own[-1] if block.place == "label" else self._header if block.place == "row" else None
        if block.place != "row":
            self._rows = []
            if block.place != "label":
                self._last = own[-1]

    def _lead_of_table(self) -> _ClaimDraft | None:
        return self._last if self._last and self._leads and self._leads[-1][1] is self._last else None

    def add_line_of_sources(self, marks: Sequence[_FootnoteMark], block: StatementBlock) -> None:
        if block.kind == "reference":
            numbers = [number for mark in marks for number in mark.numbers]
            for row in self._rows:
                row.covered = tuple(dict.fromkeys([*row.covered, *numbers]))
            self._rows = []


def _is_lead(draft: _ClaimDraft) -> bool:
    return draft.text.rstrip("*_ ").endswith((":", "："))


class _ClaimText:
    """A block without its markers and markup."""

    def __init__(self, text: str, block: StatementBlock, addresses: Mapping[str, str]) -> None:
        self._block = block
        self._addresses = addresses
        self._offset = block.lines[0].start
        self._raw = text[self._offset : block.lines[-1].end]
        self._visible = bytearray(len(self._raw))
        self._markup = bytearray(len(self._raw))
        for line in block.lines:
            self._show(line.start - self._offset, line.end - self._offset)
        self._links: list[_FootnoteMark] = []
        self._no_marker = self._hide_markup()
        for label in source_labels(self._raw, self._shown_text()):
            self._hide(label.start, label.end, markup=False)
        self.marks = tuple(self._find_marks())
        self._links += self._named_notes()
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
        for formula in _FORMULA.finditer(self._raw):
            if _IS_FORMULA.search(formula.group()):
                blocked[formula.start() : formula.end()] = b"\1" * (formula.end() - formula.start())
        for link in INLINE_LINK.finditer(self._raw):
            if any(blocked[link.start() : link.end()]):
                continue
            target = LINK_TARGET.match(self._raw, link.end(2) + 2, link.end())
            if target and not link[1]:
                self._add_link(link, target[1] or target[2])
            if not link[1] and self._are_brackets(link.start(), link.end()):
                self._hide(link.start() - 1, link.end() + 1)  # `(Reuters)`: a source, and no part of the sentence
            self._hide(link.start(), link.end() if link[1] else link.start(2))
            self._hide(link.end(2), link.end())
            blocked[link.start() : link.end()] = b"\1" * (link.end() - link.start())
        self._hide_addresses(blocked)
        for tag in _TAG.finditer(self._raw):
            if not blocked[tag.start()] and self._raw[tag.start() - 1 : tag.start()] != "\\":
                self._hide(tag.start(), tag.end())
        for escape in _ESCAPE.finditer(self._raw):
            if not blocked[escape.start()]:
                self._hide(escape.start(), escape.end())
                blocked[escape.start() : escape.end() + 1] = b"\1\1"
        return blocked

    def _hide_addresses(self, blocked: bytearray) -> None:
        """Hides addresses and DOIs in the text, and takes links by a reference (`[text][name]`) for what they are."""
        for link in REFERENCE_LINK.finditer(self._raw):
            name = (link[2] or link[1]).casefold()
            if name in self._addresses and not name.isdigit() and not any(blocked[link.start() : link.end()]):
                self._add_link(link, self._addresses[name])
                self._hide(link.start(), link.start(1))
                self._hide(link.end(1), link.end())
                blocked[link.start() : link.end()] = b"\1" * (link.end() - link.start())
        for found in ADDRESS.finditer(self._raw):
            written = trim_address(found.group())
            start, end = found.start(), found.start() + len(written)
            if "/" not in written or any(blocked[start:end]):
                continue
            doi = written[written.find("10.") :] if not is_web_address(written) else ""
            url = f"https://doi.org/{doi}" if doi else written if "://" in written else f"https://{written}"
            self._links.append(_FootnoteMark(self._offset + start, self._offset + end, written, link=url))
            start, end = (start - 1, end + 1) if self._are_brackets(start, end) else (start, end)
            self._hide(start, end)
            blocked[start:end] = b"\1" * (end - start)

    def _are_brackets(self, start: int, end: int) -> bool:
        """Whether the text between two offsets stands alone in brackets."""
        return self._raw[max(0, start - 1) : start] + self._raw[end : end + 1] in BRACKET_PAIRS

    def _add_link(self, link: re.Match[str], address: str) -> None:
        if is_web_address(address):
            url = address if "://" in address else f"https://{address}"
            self._links.append(_FootnoteMark(self._offset + link.start(), self._offset + link.end(), address, link=url))

    def _named_notes(self) -> Iterator[_FootnoteMark]:
        """The notes with a name, and where their definitions lead. Notes with a number are footnotes."""
        for found in _NAMED_NOTE.finditer(self._raw):
            if found[1].isdecimal() or any(self._no_marker[found.start() : found.end()]):
                continue
            self._hide(found.start(), found.end(), markup=False)
            address = self._addresses.get(f"^{found[1]}".casefold(), "")
            yield _FootnoteMark(
                self._offset + found.start(), self._offset + found.end(), address or found.group(), link=address
            )

    @property
    def says_something(self) -> bool:
        """Whether there are words beside markers and links."""
        rest = self._masked_text
        for mark in self._links:
            start, end = mark.start - self._offset, mark.end - self._offset
            rest = rest[:start] + " " * (end - start) + rest[end:]
        return any(map(str.isalnum, rest))

    @property
    def all_marks(self) -> list[_FootnoteMark]:
        return sorted([*self.marks, *self._links], key=lambda mark: mark.start)

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

    def _shown_text(self) -> str:
        return "".join(letter if visible else " " for letter, visible in zip(self._raw, self._visible, strict=True))

    def _mask_text(self) -> str:
        """The text with a space for each hidden character, so that offsets stay the same; only the line breaks that end
        a sentence stay."""
        shown = self._shown_text()
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
            drafts.append(_ClaimDraft(*offsets, self._split_parts(span), self._block))
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
        for mark in self.all_marks:
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
