"""Pointers to passages, in text that a model writes: `[3.2]` is passage 2 of source 3.

A model that was given evidence with ids cites these ids. What leaves the product has the plain footnote `[3]`; the
pointer is kept beside the text, by the offset of its marker. Markers in code and in the text of a link stay as they
are, and so do numbers that are no ids of the session, such as those of an interval.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from footnote.evidence.claims import Claim, extract_claims
from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, Message
from footnote.protocol.sources import Pointer

_DIGITS = "0-9０-９"
_ITEM = rf"\^?[{_DIGITS}]{{1,6}}(?:[.．][{_DIGITS}]{{1,4}})?"
_RANGE_SIGN = r"\s?[-–—~～]\s?"
_BODY = rf"\s?{_ITEM}(?:{_RANGE_SIGN}{_ITEM})?(?:\s?[,;、，；]\s?{_ITEM}(?:{_RANGE_SIGN}{_ITEM})?)*\s?"
_MARKER = re.compile(rf"\[({_BODY})\]|【({_BODY})(?:†[^】\n]{{0,80}})?】|［({_BODY})］")
_OPENING = re.compile(r"[\[【［`\n]")
_CLOSING = {"[": "]", "【": "】", "［": "］"}
_MAX_LENGTH = 160
"""Characters that are held back for one marker."""
_BODY_CHARACTERS = re.compile(rf"[{_DIGITS}.．^\s,;、，；\-–—~～]*(?:†[^】\n]*)?\Z")
_INTERVAL = re.compile(r"(?:\bCI|\binterval|\brange|khoảng|tin cậy|区间|區間|范围|範圍)[\s:=：]*\Z", re.IGNORECASE)
_MAX_RANGE = 10
"""Passages of one range `[3.2-3.6]`; of a longer one only the first counts."""


class PointedText(Struct, frozen=True):
    """A text with plain footnotes, and the pointers that it had."""

    text: str
    pointers: tuple[Pointer, ...] = ()


def plain_footnotes(text: str, sources: Sources) -> PointedText:
    """A whole text with its pointers taken out."""
    if not sources.has_evidence:
        return PointedText(text)
    pointer_filter = PointerFilter(sources)
    plain = pointer_filter.feed(text) + pointer_filter.flush()
    return PointedText(plain, pointer_filter.pointers)


class PointerFilter:
    """Replaces pointers by plain footnotes in a text that arrives in pieces, wherever it is cut."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._held = ""
        self._at = 0
        """How far the held text is decoded."""
        self._length = 0
        """Characters of plain text that were handed out."""
        self._tail = ""
        """The end of these, in which an introduction of an interval can be seen."""
        self._code = _CodeState()
        self._pointers: list[Pointer] = []
        self._last_marker: tuple[int, str] | None = None
        """Where the last marker ended, and how it reads; the same marker right behind it is left out."""

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        return tuple(self._pointers)

    def feed(self, piece: str) -> str:
        """The plain text that is certain with this piece."""
        self._held = self._held[self._at :] + piece
        self._at = 0
        return "".join(self._decode(at_end=False))

    def flush(self) -> str:
        """What was held back, now that nothing can complete it any more."""
        return "".join(self._decode(at_end=True))

    def _decode(self, *, at_end: bool) -> Iterator[str]:
        while self._at < len(self._held):
            found = _OPENING.search(self._held, self._at)
            if found is None:
                yield self._release(len(self._held))
            elif found.start() > self._at or found.group() in "`\n":
                yield self._release(max(found.start(), self._at + 1))
            elif self._code.is_open:
                yield self._release(found.end())
            elif (end := self._marker_end(at_end=at_end)) is None:
                return
            else:
                yield self._decode_marker(end) if end else self._release(found.end())

    def _marker_end(self, *, at_end: bool) -> int | None:
        """Where the marker ends that begins here; 0: there is none. None: more text has to arrive."""
        held, start = self._held, self._at
        closing = held.find(_CLOSING[held[start]], start + 1, start + _MAX_LENGTH)
        if closing < 0:
            can_close = len(held) - start < _MAX_LENGTH and _BODY_CHARACTERS.match(held, start + 1)
            return None if can_close and not at_end else 0
        if closing + 1 == len(held) and not at_end:
            return None  # a parenthesis would make it the text of a link
        if held[closing + 1 : closing + 2] == "(" and held[start] == "[":
            return 0
        return closing + 1

    def _decode_marker(self, end: int) -> str:
        parsed = _MARKER.fullmatch(self._held, self._at, end)
        items = list(_parse_items(next(filter(None, parsed.groups())))) if parsed else []
        if not any(passage for _, passage in items) or not self._is_known(items):
            return self._release(self._at + 1)
        numbers = dict.fromkeys(number for number, _ in items)
        plain = f"[{', '.join(map(str, numbers))}]"
        passages = tuple(dict.fromkeys(f"{number}.{passage}" for number, passage in items if passage))
        known = tuple(passage for passage in passages if self._sources.evidence(passage) is not None)
        self._at = end
        if self._last_marker == (self._length, plain):
            self._add_passages(self._length - len(plain), known)
            return ""
        self._add_passages(self._length, known)
        self._note(plain)
        self._last_marker = (self._length, plain)
        return plain

    def _add_passages(self, offset: int, passages: tuple[str, ...]) -> None:
        if not passages:
            return
        if self._pointers and self._pointers[-1].offset == offset:
            passages = tuple(dict.fromkeys((*self._pointers.pop().passages, *passages)))
        self._pointers.append(Pointer(offset, passages))

    def _is_known(self, items: list[tuple[int, int]]) -> bool:
        """Whether the numbers are ids of this session. A single one may name a passage that its source does not have:
        the model miscounted. Several, like the ends of an interval, must all be there."""
        if len(items) == 1:
            return self._sources.source(items[0][0]) is not None
        if _INTERVAL.search(self._tail):
            return False
        return all(
            self._sources.evidence(f"{number}.{passage}") is not None
            if passage
            else self._sources.source(number) is not None
            for number, passage in items
        )

    def _release(self, end: int) -> str:
        text, self._at = self._held[self._at : end], end
        self._code.feed(text)
        self._note(text)
        return text

    def _note(self, text: str) -> None:
        self._length += len(text)
        self._tail = (self._tail + text)[-24:]


class _CodeState:
    """Whether the text up to here ends within code: a fenced block, or a code span of one paragraph."""

    def __init__(self) -> None:
        self._fence = 0
        self._span = 0
        self._run = 0
        self._is_line_blank = True
        self._is_run_at_line_start = False

    @property
    def is_open(self) -> bool:
        self._end_run()
        return bool(self._fence or self._span)

    def feed(self, text: str) -> None:
        for part in re.split(r"(`+|\n)", text):
            if not part:
                continue
            if part[0] == "`":
                if not self._run:
                    self._is_run_at_line_start = self._is_line_blank
                self._run += len(part)
                continue
            self._end_run()
            if part == "\n":
                if self._is_line_blank:
                    self._span = 0
                self._is_line_blank = True
            elif part.strip():
                self._is_line_blank = False

    def _end_run(self) -> None:
        run, self._run = self._run, 0
        if not run:
            return
        if self._is_run_at_line_start and run >= 3 and not self._span:
            self._fence = 0 if self._fence and run >= self._fence else self._fence or run
        elif not self._fence:
            self._span = 0 if self._span == run else self._span or run
        self._is_line_blank = False


def _parse_items(body: str) -> Iterator[tuple[int, int]]:
    """Source and passage of each number in a marker; passage 0 where only the source is named."""
    for item in re.split("[,;、，；]", body):
        ends = [_parse_item(end) for end in re.split(_RANGE_SIGN, item.strip())]
        first, last = ends[0], ends[-1]
        if first[0] == last[0] and 0 < last[1] - first[1] <= _MAX_RANGE and first[1]:
            yield from ((first[0], passage) for passage in range(first[1], last[1] + 1))
        else:
            yield from ends


def _parse_item(text: str) -> tuple[int, int]:
    number, _, passage = text.strip().lstrip("^").replace("．", ".").partition(".")
    return int(number), int(passage or 0)


# Files ---------------------------------------------------------------------------------------------------------------


StatementPointers: TypeAlias = dict[tuple[str, int], str]
"""The passage that a footnote of a statement points to, by the statement and the number of the footnote."""

_MAX_SURROUNDINGS = 2_000
"""Characters before and after an edit in which the edited statements are looked for, if no paragraph ends there."""


def written_pointers(messages: Iterable[Message]) -> StatementPointers:
    """The passages that calls of a session pointed to when they wrote files.

    A statement keeps its pointer through edits, restored versions and imports, wherever it stands in the file. An edit
    within a statement makes another statement of it, which keeps the pointers as well: the texts of the files are
    followed through the calls that wrote and edited them.
    """
    found: StatementPointers = {}
    files: dict[str, _WrittenText] = {}
    for message in messages:
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            texts = {name: value for name, value in call.arguments.items() if isinstance(value, str)}
            for name, pointers in call.pointers.items():
                found |= _pointers_by_statement(texts.get(name, ""), dict(_by_offset(pointers)))
            path = texts.get("file_path", "").strip().lstrip("/")
            if path and "content" in texts:
                pointers = dict(_by_offset(call.pointers.get("content", ())))
                files[path] = _WrittenText(texts["content"], pointers)
            elif path in files and texts.get("old_string") and "new_string" in texts:
                pointers = dict(_by_offset(call.pointers.get("new_string", ())))
                new = _WrittenText(texts["new_string"], pointers)
                found |= files[path].replace(
                    texts["old_string"], new, replace_all=call.arguments.get("replace_all") is True
                )
    return found


class _WrittenText:
    """The text of a file after a call, with the passages of its markers by their offsets."""

    def __init__(self, text: str, pointers: dict[int, tuple[str, ...]]) -> None:
        self.text = text
        self.pointers = pointers

    def replace(self, old: str, new: "_WrittenText", *, replace_all: bool) -> StatementPointers:
        """Edits the text, and returns the pointers of the statements that the edit touched. An edit that cannot have
        been carried out, or not on this text, changes nothing."""
        count = self.text.count(old)
        if not count or (count > 1 and not replace_all):
            return {}
        pieces = self.text.split(old)
        pointers: dict[int, tuple[str, ...]] = {}
        places: list[int] = []
        start = end = 0  # of a piece: in the text, and in the edited one
        for piece in pieces:
            if piece is not pieces[0]:
                replaced = self._cut(start - len(old), start)
                places.append(end)
                pointers |= {end + offset: found for offset, found in _inherit(new, replaced).items()}
                end += len(new.text)
            pointers |= {end + offset: found for offset, found in self._cut(start, start + len(piece)).items()}
            start += len(piece) + len(old)
            end += len(piece)
        self.text = new.text.join(pieces)
        self.pointers = pointers
        touched: StatementPointers = {}
        if pointers:
            for place in places:
                touched |= self._statements_around(place, place + len(new.text))
        return touched

    def _cut(self, start: int, end: int) -> dict[int, tuple[str, ...]]:
        return {offset - start: found for offset, found in self.pointers.items() if start <= offset < end}

    def _statements_around(self, start: int, end: int) -> StatementPointers:
        earliest = max(0, start - _MAX_SURROUNDINGS)
        first = self.text.rfind("\n\n", earliest, start)
        first = first if first >= 0 else self.text.find("\n", earliest, start) if earliest else 0
        first = max(first, earliest)
        last = self.text.find("\n\n", end, end + _MAX_SURROUNDINGS)
        last = last if last >= 0 else end + _MAX_SURROUNDINGS
        return _pointers_by_statement(self.text[first:last], self._cut(first, last))


def _inherit(new: _WrittenText, replaced: dict[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """The pointers of a new piece of text. A plain footnote in it has those that its number had in the old one."""
    by_number = {source_number(passage): found for found in replaced.values() for passage in found}
    plain = [cite for claim in extract_claims(new.text) for cite in claim.cites] if by_number else []
    inherited = {cite.position: by_number[cite.number] for cite in plain if cite.number in by_number}
    return inherited | new.pointers


def _by_offset(pointers: Iterable[Pointer]) -> Iterator[tuple[int, tuple[str, ...]]]:
    return ((pointer.offset, pointer.passages) for pointer in pointers)


def _pointers_by_statement(text: str, pointers: Mapping[int, tuple[str, ...]]) -> StatementPointers:
    if not pointers:
        return {}
    return {
        (claim.text, cite.number): passage
        for claim in extract_claims(text)
        for cite in claim.cites
        for passage in pointers.get(cite.position, ())
        if source_number(passage) == cite.number
    }


def find_pointers(claims: Iterable[Claim], written: StatementPointers) -> tuple[Pointer, ...]:
    """The pointers of a version of a file, by what was written in the session."""
    found: dict[int, list[str]] = {}
    for claim in claims:
        for cite in claim.cites:
            if passage := written.get((claim.text, cite.number)):
                found.setdefault(cite.position, []).append(passage)
    return tuple(Pointer(offset, tuple(passages)) for offset, passages in sorted(found.items()))


def source_number(passage_id: str) -> int:
    return int(passage_id.partition(".")[0])
