"""A text that somebody else wrote, with footnotes of Footnote in the place of its own links and footnotes.

A link in the words of a sentence cites that sentence. What stands there as a citation already keeps its place: a
footnote, a bracket with links only, a bare address. A list of references is taken apart, and written anew at the end.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from urllib.parse import quote

from msgspec import Struct

from footnote.evidence.author_years import entry_key, find_author_years
from footnote.evidence.claims import extract_claims
from footnote.evidence.inline_links import LABELS
from footnote.evidence.links import TextLink, find_links
from footnote.evidence.statement_blocks import is_source_heading
from footnote.text.markdown import MarkdownLine, markdown_to_text, read_lines

UNADDRESSED = "urn:reference:"
"""Begins the address of a reference that has none, such as a book."""

_LABEL_ONLY = re.compile(rf"[\W_]*(?:(?:{LABELS})[\W_]*){{0,3}}", re.IGNORECASE)
"""What is left of a line, or of the text of a link, that says where something is and nothing else."""
_LABEL_LINE = re.compile(rf"[\W_]*(?:{LABELS})\b", re.IGNORECASE)
_LABEL_BEFORE = re.compile(rf"[(（\[]\s{{0,9}}(?:(?:{LABELS})\s{{0,3}}[:：]?\s{{0,3}})?\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"\s{0,9}[,;、，；/|&·]?\s{0,9}(?:and|và|和|及)?\s{0,9}")
_AFTER = re.compile(r"\s{0,9}[)）\]]")
_POINTING_BEFORE = re.compile(
    rf"(?:\A|(?<=[.!?。！？…\])）]))\s{{0,9}}(?:{LABELS})\s{{0,3}}[:：]?\s{{0,3}}\Z", re.IGNORECASE
)
_TRAILING_BEFORE = re.compile(rf"\s{{0,9}}[,;，；–—]\s{{0,9}}(?:{LABELS})\s{{0,3}}[:：]?\s{{0,3}}\Z", re.IGNORECASE)
_TRAILING_AFTER = re.compile(r"\s{0,3}(?=[.。!?！？]|\Z)")
_POINTING_AFTER = re.compile(r"\s{0,3}(?:[.。]|\Z)")
_MAX_LABEL = 120
"""A link with a longer text is a part of its sentence, also in brackets of its own."""
_MAX_BEFORE = 60
_MAX_GROUP = 20
"""The most links in one bracket."""

_RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_NUMBERS = r"\s?\d{1,4}(?:\s?[-–—,;、，；]\s?\d{1,4}){0,20}\s?"
_MARKER = re.compile(
    rf"(?:<sup>\s?)?(?:\\?\[(?P<numbers>{_NUMBERS})\\?\](?!\()|\[\^(?P<name>[^\]\s]{{1,80}}+)\]|［(?P<wide>{_NUMBERS})］"
    rf"|【(?P<black>{_NUMBERS})(?:†[^】\n]{{0,80}}+)?】)(?:\s?</sup>)?|<sup>(?P<raised>{_NUMBERS})</sup>"
    rf"|(?P<superscript>[{_RAISED_DIGITS}](?:[{_RAISED_DIGITS},⁻–-]{{0,20}}[{_RAISED_DIGITS}])?)"
)
_UNIT_BEFORE = re.compile(r"\b[kcdm]?m\Z|\bft\Z|\bin\Z|\bs\Z|\d\Z")
_DASH = re.compile(r"\s?[-–—]\s?")
_MAX_RANGE = 30

_FOOTNOTE_DEFINITION = re.compile(r"[ ]{0,3}+\[\^([^\]\s]{1,80}+)\]:[ \t]*+")
_LINK_DEFINITION = re.compile(r"[ ]{0,3}+\[[^\]\n]{1,80}+\]:[ \t]{0,9}+<?https?://", re.IGNORECASE)
_ENTRY = re.compile(
    r"[\s>]*+(?:\\?\[\^?(\d{1,4})\\?\]:?|(\d{1,4})[.)、:]|(?:<sup>)?([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}|(?<=<sup>)\d{1,4})(?:</sup>)?|[-*+•‣◦]"
    r"|(?=<?https?://))[ \t]*+",
    re.IGNORECASE,
)
_LOOSE_ENTRY = re.compile(r"\s{0,3}\[(\d{1,4})\]:?[ \t]")


class Reference(Struct, frozen=True):
    """An entry of a list of references, or a footnote, of the text. `title` is the entry without its addresses."""

    label: str
    title: str
    urls: tuple[str, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        return self.urls or (UNADDRESSED + quote(self.label),)


class _Edit(Struct, frozen=True):
    """What stands from `start` to `end` becomes `text`, followed by footnotes to the `targets`; if `moves`, these come
    at the end of the sentence."""

    start: int
    end: int
    text: str
    targets: tuple[str, ...]
    moves: bool = False


class FootnotedText(Struct, frozen=True):
    """`citing` are the addresses that statements cite, in the order of the text, and `listed` the others; each once.
    `titles` are those of references without an address. `heading` is the text's own above its list of references."""

    text: str
    edits: tuple[_Edit, ...]
    citing: tuple[str, ...]
    listed: tuple[str, ...]
    titles: Mapping[str, str]
    heading: str = ""

    def with_footnotes(self, numbers: Mapping[str, int]) -> str:
        """The text with footnotes. `numbers` are those of the sources, by address."""
        pieces: list[str] = []
        marks: list[tuple[int, str, bool]] = []
        length = at = 0
        for edit in self.edits:
            footnotes = dict.fromkeys(f"[{numbers[target]}]" for target in edit.targets if target in numbers)
            pieces += [self.text[at : edit.start], edit.text]
            length += edit.start - at + len(edit.text)
            for footnote in footnotes:
                marks.append((length, footnote, edit.moves))
                pieces.append(footnote)
                length += len(footnote)
            at = edit.end
        pieces.append(self.text[at:])
        return _move_marks("".join(pieces), marks).rstrip() + "\n"


def _move_marks(text: str, marks: Sequence[tuple[int, str, bool]]) -> str:
    """Moves the marks of links within a sentence to its end. A cell of a table keeps them."""
    moving = {start: mark for start, mark, moves in marks if moves and not _is_in_row(text, start)}
    if not moving:
        return text
    ends = {cite.position: claim.end for claim in extract_claims(text) for cite in claim.cites}
    edits: list[tuple[int, int, str]] = []
    added: dict[int, list[str]] = {}
    for start, mark in moving.items():
        end = ends.get(start, 0)
        if end > start + len(mark):
            edits.append((start, start + len(mark), ""))
            added.setdefault(end, []).append(mark)
    for end, added_marks in added.items():
        space = " " if text[end - 1 : end].isascii() and not text[end - 1 : end].isspace() else ""
        edits.append((end, end, space + "".join(dict.fromkeys(added_marks))))
    pieces: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits):
        pieces += [text[at:start], replacement]
        at = end
    return "".join([*pieces, text[at:]])


def _is_in_row(text: str, offset: int) -> bool:
    line = text.rfind("\n", 0, offset) + 1
    return text[line:offset].lstrip(" >\t").startswith("|")


def read_citations(text: str) -> FootnotedText:
    """Finds what a text cites, and where."""
    lines = tuple(read_lines(text, indented_code=True))
    links = find_links(text, lines)
    references = _References(text, lines, links)
    edits = list(_edits(text, lines, [link for link in links if not references.covers(link.start)], references))
    removed = [_Edit(start, end, "", ()) for start, end in references.spans]
    edits = sorted([*edits, *removed], key=lambda edit: edit.start)
    citing = dict.fromkeys(target for edit in edits for target in edit.targets)
    listed = dict.fromkeys(
        chain(
            (target for reference in references.entries.values() for target in reference.targets),
            (link.url for link in links if not references.covers(link.start)),
        )
    )
    return FootnotedText(
        text=text,
        edits=tuple(edits),
        citing=tuple(citing),
        listed=tuple(url for url in listed if url not in citing and not url.startswith(UNADDRESSED)),
        titles={one.targets[0]: one.title for one in references.entries.values() if not one.urls},
        heading=references.heading,
    )


# The text's own references -------------------------------------------------------------------------------------------


class _References:
    """The entries of a text, by their labels, and the spans of the text that they take up."""

    def __init__(self, text: str, lines: Sequence[MarkdownLine], links: Sequence[TextLink]) -> None:
        self.entries: dict[str, Reference] = {}
        self.spans: list[tuple[int, int]] = []
        self.heading = ""
        self._text = text
        self._links = links
        self._next_link = 0
        self._covered = bytearray(len(text) + 1)
        self._open: list[MarkdownLine] = []
        self._open_label = ""
        self._heading_line: MarkdownLine | None = None
        self._in_list = False
        self._is_footnote = False
        self._after_blank = True
        self._read(lines)

    @cached_property
    def by_author(self) -> dict[str, Reference]:
        """The entries by author and year."""
        keys = ((entry_key(one.title), one) for one in self.entries.values())
        return {key: one for key, one in keys if key}

    def covers(self, offset: int) -> bool:
        return self._covered[offset] == 1

    def _read(self, lines: Iterable[MarkdownLine]) -> None:
        for line in lines:
            self._read_line(line)
            self._after_blank = line.kind == "blank"
        self._close()

    def _read_line(self, line: MarkdownLine) -> None:
        text = self._text
        body = text[line.body : line.end]
        if line.kind in ("code", "fence", "rule"):
            self._close()
            self._in_list = False
        elif line.kind == "blank":
            if not self._is_footnote:
                self._close()
        elif is_source_heading(body):
            self._close()
            self._in_list, self._heading_line = True, line
        elif found := _FOOTNOTE_DEFINITION.match(text, line.body, line.end):
            self._begin(f"^{found[1]}", line, is_footnote=True)
        elif _LINK_DEFINITION.match(body) and not _ENTRY.match(body):
            self._close()
            self._cover(line.start, line.end)
        elif self._in_list and line.kind != "heading" and (found := _ENTRY.match(body)):
            label = found[1] or found[2] or (found[3] or "").translate(_LOWERED)
            self._begin(label or str(len(self.entries) + 1), line)
        elif self._in_list and line.kind != "heading" and (entry_key(body) or (self._after_blank and "http" in body)):
            self._begin(str(len(self.entries) + 1), line)
        elif found := self._loose_entry(line):
            self._begin(found, line)
        elif self._open and self._continues(line):
            self._open.append(line)
        else:
            self._close()
            self._in_list = False

    def _continues(self, line: MarkdownLine) -> bool:
        is_indented = self._text[line.start : line.start + 2] == "  " or self._text[line.start : line.start + 1] == "\t"
        return line.kind in ("text", "item") and (is_indented if self._is_footnote else not self._after_blank)

    def _loose_entry(self, line: MarkdownLine) -> str | None:
        """The label of an entry outside of a list of references: it has a link, and the text refers to it above."""
        found = _LOOSE_ENTRY.match(self._text, line.body, line.end)
        has_link = found is not None and any(True for _ in self._links_of(line.start, line.end))
        return found[1] if found and has_link and self._text.find(f"[{found[1]}]", 0, line.start) >= 0 else None

    def _begin(self, label: str, line: MarkdownLine, *, is_footnote: bool = False) -> None:
        self._close()
        self._open, self._open_label, self._is_footnote = [line], label, is_footnote

    def _close(self) -> None:
        if not self._open:
            return
        first, last = self._open[0], self._open[-1]
        links = list(self._links_of(first.start, last.end))
        urls = dict.fromkeys(link.url for link in links)
        # A footnote may name several sources; an entry of a list is one source, which may have an archived copy.
        kept = tuple(urls) if self._is_footnote else tuple(urls)[:1]
        self.entries.setdefault(self._open_label, Reference(self._open_label, self._title(first, last), kept))
        self._cover(first.start, last.end)
        if self._heading_line is not None and self._in_list:
            self.heading = self._text[self._heading_line.start : self._heading_line.end]
            self._cover(self._heading_line.start, self._heading_line.end)
            self._heading_line = None
        self._open, self._is_footnote = [], False

    def _title(self, first: MarkdownLine, last: MarkdownLine) -> str:
        entry = self._text[first.body : last.end]
        head = _FOOTNOTE_DEFINITION.match(entry) or _ENTRY.match(entry)
        plain = markdown_to_text(entry[head.end() if head else 0 :])
        return " ".join(re.sub(r"https?://\S+", "", plain).split())[:300]

    def _links_of(self, start: int, end: int) -> Iterator[TextLink]:
        """The links between two offsets. The lines are read in order, so that each link is passed once."""
        while self._next_link < len(self._links) and self._links[self._next_link].start < start:
            self._next_link += 1
        for position in range(self._next_link, len(self._links)):
            if self._links[position].start >= end:
                return
            yield self._links[position]

    def _cover(self, start: int, end: int) -> None:
        end = min(end + 1, len(self._text))
        self._covered[start:end] = b"\1" * (end - start)
        self.spans.append((start, end))

    def resolve(self, marker: re.Match[str]) -> tuple[str, ...]:
        """The targets of a marker of the text; empty if no entry belongs to it."""
        if marker["name"]:
            label = f"^{marker['name']}"
            found = self.entries.get(label) or self.entries.get(marker["name"])
            return found.targets if found else ()
        body = marker["numbers"] or marker["wide"] or marker["black"] or marker["raised"]
        body = body or marker["superscript"].translate(_LOWERED)
        entries = (self.entries.get(label) or self.entries.get(f"^{label}") for label in _labels(body))
        return tuple(target for entry in entries if entry for target in entry.targets)


def _labels(body: str) -> Iterator[str]:
    for item in re.split("[,;、，；]", body):
        ends = [int(number) for number in _DASH.split(item.strip()) if number]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _MAX_RANGE:
            yield from map(str, range(ends[0], ends[1] + 1))
        else:
            yield from map(str, ends)


# Links in the text ---------------------------------------------------------------------------------------------------


def _edits(
    text: str, lines: Sequence[MarkdownLine], links: Sequence[TextLink], references: _References
) -> Iterator[_Edit]:
    masked = bytearray(len(text) + 1)
    for link in links:
        masked[link.start : link.end] = b"\1" * (link.end - link.start)
    position = 0
    after_text = False
    for line in lines:
        first = position
        while position < len(links) and links[position].start < line.end:
            position += 1
        if line.kind in ("code", "fence") or references.covers(line.start):
            after_text = False
            continue
        if line.kind != "heading":
            own = links[first:position]
            yield from _line_edits(text, line, own, after_text=after_text)
            yield from _marker_edits(text, line, masked, references)
            yield from _author_year_edits(text, line, masked, references)
        after_text = line.kind in ("text", "item")


def _marker_edits(text: str, line: MarkdownLine, masked: bytearray, references: _References) -> Iterator[_Edit]:
    for found in _MARKER.finditer(text, line.content, line.end):
        if masked[found.start()] or found.group().startswith("\\"):
            continue
        if (found["raised"] or found["superscript"]) and _UNIT_BEFORE.search(
            text, max(line.content, found.start() - 4), found.start()
        ):
            continue
        targets = references.resolve(found)
        if targets:
            yield _Edit(found.start(), found.end(), "", targets)
        elif found["black"]:
            yield _Edit(found.start(), found.end(), "", ())
        elif not (found["raised"] or found["superscript"]):
            # A number that leads nowhere must not lead to a source of ours.
            inside = found["numbers"] or found["wide"] or f"^{found['name']}"
            yield _Edit(found.start(), found.end(), f"\\[{inside}\\]", ())


def _author_year_edits(text: str, line: MarkdownLine, masked: bytearray, references: _References) -> Iterator[_Edit]:
    for found in find_author_years(text, line.content, line.end, references.by_author):
        if masked[found.start]:
            continue
        targets = dict.fromkeys(target for key in found.keys for target in references.by_author[key].targets)
        start = found.start - (text[found.start - 1 : found.start] == " ")
        yield _Edit(start, found.end, "" if found.is_narrative else " ", tuple(targets), moves=found.is_narrative)


def _line_edits(text: str, line: MarkdownLine, links: Sequence[TextLink], *, after_text: bool) -> Iterator[_Edit]:
    """The edits for the links of one line."""
    if not links:
        return
    rest = _text_without(text, line, links)
    if _LABEL_ONLY.fullmatch(rest) and not _is_linked_sentence(rest, links[-1]):
        are_addresses = all(link.text is None for link in links)
        says_source = _LABEL_LINE.match(rest) is not None
        cites = says_source or (line.kind == "text" and (are_addresses or after_text))
        if cites and line.kind != "row":
            targets = tuple(dict.fromkeys(link.url for link in links))
            yield _Edit(line.content, line.end, "", targets)
        return
    yield from _sentence_edits(text, line, links)


def _is_linked_sentence(rest: str, last: TextLink) -> bool:
    """Whether the text of a link, with which a line ends, is a sentence and not a title."""
    end = ((last.text or "").rstrip() + rest.rpartition(" ")[2]).rstrip("*_")[-1:]
    return last.text is not None and not _is_label(last) and end in (".", "。", "!", "！", "？")


def _text_without(text: str, line: MarkdownLine, links: Sequence[TextLink]) -> str:
    pieces: list[str] = []
    at = line.content
    for link in links:
        pieces.append(text[at : link.start])
        at = link.end
    return " ".join([*pieces, text[at : line.end]])


def _sentence_edits(text: str, line: MarkdownLine, links: Sequence[TextLink]) -> Iterator[_Edit]:
    position = 0
    while position < len(links):
        count, edit = _bracketed(text, line, links, position)
        if edit is None:
            count, edit = 1, _pointing(text, line, links[position]) or _link_edit(links[position])
        yield edit
        position += count


def _bracketed(text: str, line: MarkdownLine, links: Sequence[TextLink], position: int) -> tuple[int, _Edit | None]:
    """How many links from `position` on stand in a bracket of their own, and the footnotes in its place."""
    first = links[position]
    before = max(line.content, first.start - _MAX_BEFORE, links[position - 1].end if position else 0)
    opening = _LABEL_BEFORE.search(text[before : first.start])
    last = position
    while last + 1 < min(len(links), position + _MAX_GROUP) and _BETWEEN.fullmatch(
        text, links[last].end, links[last + 1].start
    ):
        last += 1
    closing = _AFTER.match(text, links[last].end, line.end)
    group = links[position : last + 1]
    if opening is None or closing is None or any(len(link.text or "") > _MAX_LABEL for link in group):
        return 0, None
    start = before + opening.start()
    while start > line.content and text[start - 1] == " ":
        start -= 1
    targets = tuple(dict.fromkeys(link.url for link in group))
    return len(group), _Edit(start, closing.end(), " ", targets)


def _pointing(text: str, line: MarkdownLine, link: TextLink) -> _Edit | None:
    """The footnote in the place of words that only point to the link: the sentence `See https://…`, or its end in
    `It is heavy, see https://…`."""
    if not _is_label(link):
        return None
    before = max(line.content, link.start - _MAX_BEFORE)
    trailing = _TRAILING_BEFORE.search(text[before : link.start])
    if trailing is not None and (end := _TRAILING_AFTER.match(text, link.end, line.end)):
        return _Edit(before + trailing.start(), end.end(), " ", (link.url,))
    opening = _POINTING_BEFORE.search(text[before : link.start])
    closing = _POINTING_AFTER.match(text, link.end, line.end)
    if opening is None or closing is None or (before > line.content and opening.start() == 0):
        return None
    return _Edit(before + opening.start(), closing.end(), " ", (link.url,))


def _link_edit(link: TextLink) -> _Edit:
    if _is_label(link):
        return _Edit(link.start, link.end, "", (link.url,))
    return _Edit(link.start, link.end, link.text or "", (link.url,), moves=True)


def _is_label(link: TextLink) -> bool:
    """Whether the text of a link is no part of the sentence: a number, its address, `source`."""
    shown = markdown_to_text(link.text).strip() if link.text is not None else ""
    return bool(_LABEL_ONLY.fullmatch(shown)) or shown.isdecimal() or _is_address(shown, link.url)


def _is_address(shown: str, url: str) -> bool:
    """Whether the text of a link is its address, or the name of its host."""
    name = shown.casefold().removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/…")
    return "." in name and " " not in name and name in url.casefold()
