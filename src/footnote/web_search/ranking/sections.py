"""A page taken apart into sections that can be read alone: a paragraph, a few short ones, a list, a table, code."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from footnote.text.sentences import Span, sentences
from footnote.text.terms import ALPHABETIC_UNSPACED, UNSPACED

MAX_SECTION_TOKENS = 300
"""Short paragraphs share a section up to this size."""
MAX_BLOCK_TOKENS = 600
"""A paragraph above it is cut between sentences."""
MAX_SLICE_LENGTH = 600
"""Characters of what has no sentences, such as a script on one line."""

MIN_SPLIT_LENGTH, MIN_PHRASE_LENGTH = 120, 80
"""Characters of Thai from which on a text is taken apart at its spaces, and of the least part."""

_LINE = re.compile(r"[^\n]+")
_HEADING = re.compile(r"\s*+(#{1,6}+)\s++(\S.*)$")
_LIST_MARK = re.compile(r"[\s>]*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_HAS_WORD = re.compile(r"[^\W_]")
_SPACE = re.compile(r"\s")
_AFTER_HEADING = "# \t\r\n\u00a0\u3000"
_SPACES = " \t\u00a0\u3000"
_FENCES = ("```", "~~~")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ALPHABETIC_UNSPACED = re.compile(f"[{ALPHABETIC_UNSPACED}]")

Kind: TypeAlias = Literal["text", "row", "code", "heading"]


class PageBlock(Struct, frozen=True, gc=False):
    """`line` is where its first line begins, `start` where its text does, after the mark of a list item."""

    kind: Kind
    line: int
    start: int
    end: int


class PageSection(Struct, frozen=True):
    """Blocks that stand together; with the heading right above them, if there is one, from `start` to `end`.

    `path`: the headings that they stand under, the outermost first; last, the header of a table that began before.
    """

    start: int
    end: int
    blocks: tuple[PageBlock, ...]
    path: tuple[str, ...]


def estimate_tokens(text: str) -> int:
    """Tokens, estimated by three bytes of UTF-8 each: seldom too few."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // 3 + 1


def split_sections(text: str) -> Iterator[PageSection]:
    """In order. A heading begins a new one."""
    group = _SectionBuilder()
    for block in _split_long_blocks(text, _parse_blocks(text)):
        if block.kind == "heading":
            yield from group.flush()
            group.add_heading(text, block)
            continue
        weight = estimate_tokens(text[block.start : block.end])
        if group.tokens + weight > MAX_SECTION_TOKENS:
            yield from group.flush()
        group.add(text, block, weight)
    yield from group.flush()


class _SectionBuilder:
    """Blocks on their way to a section, and what stands above them."""

    def __init__(self) -> None:
        self.tokens = 0
        self._blocks: list[PageBlock] = []
        self._headings: list[tuple[int, str]] = []
        self._heading_start: int | None = None
        self._path: tuple[str, ...] = ()
        self._header = ""
        self._last: PageBlock | None = None

    def add_heading(self, text: str, block: PageBlock) -> None:
        found = _HEADING.match(text, block.line, block.end)
        level, title = (len(found.group(1)), found.group(2).rstrip(_AFTER_HEADING)) if found else (1, "")
        self._headings = [*(above for above in self._headings if above[0] < level), (level, title)]
        self._heading_start = block.line if self._heading_start is None else self._heading_start
        self._last = None

    def add(self, text: str, block: PageBlock, weight: int) -> None:
        later_row = block.kind == "row" and self._last is not None and self._last.kind == "row"
        if later_row and self._last and "\n\n" in text[self._last.end : block.line]:
            later_row = False
        if block.kind == "row" and not later_row:
            self._header = text[block.start : block.end]
        if not self._blocks:
            self._path = (*(title for _, title in self._headings), *([self._header] if later_row else []))
        self._blocks.append(block)
        self._last = block
        self.tokens += weight

    def flush(self) -> Iterator[PageSection]:
        if self._blocks:
            start = self._blocks[0].line if self._heading_start is None else self._heading_start
            yield PageSection(start, self._blocks[-1].end, tuple(self._blocks), self._path)
            self._blocks, self.tokens, self._heading_start = [], 0, None


# Lines to blocks -------------------------------------------------------------------------------------------------


def _parse_blocks(text: str) -> Iterator[PageBlock]:
    block: PageBlock | None = None
    fence = ""
    for found in _LINE.finditer(text):
        line = found.group().rstrip()
        start, end, plain = found.start(), found.start() + len(line), line.lstrip()
        kind = _line_kind(plain, fence)
        if kind == "fence":
            fence = "" if fence else plain[:3]
        elif kind and block and _is_continued(text, block, kind, line, start):
            block = replace(block, end=end)
            continue
        if block and (kind != "code" or block.kind != "code"):
            yield block
        block = _new_block(kind, line, start, end) if kind and kind != "fence" else None
    if block:
        yield block


def _line_kind(line: str, fence: str) -> Kind | Literal["fence"] | None:
    if line.startswith(fence or _FENCES):
        return "fence"
    if not _HAS_WORD.search(line):
        return None
    if fence:
        return "code"
    if line[0] == "|":
        return "row"
    return "heading" if line[0] == "#" and _HEADING.match(line) else "text"


def _is_continued(text: str, block: PageBlock, kind: Kind, line: str, start: int) -> bool:
    """Whether a line is another one of the code, the paragraph or the list item before it."""
    if kind == "code":
        return block.kind == "code"
    if kind != "text" or block.kind != "text" or text.count("\n", block.end, start) != 1:
        return False
    return not _list_mark(line).strip(" \t>")


def _new_block(kind: Kind, line: str, start: int, end: int) -> PageBlock:
    return PageBlock(kind, start, start + (len(_list_mark(line)) if kind == "text" else 0), end)


def _list_mark(line: str) -> str:
    found = _LIST_MARK.match(line)
    return found.group() if found else ""


# Long blocks -----------------------------------------------------------------------------------------------------


def _split_long_blocks(text: str, blocks: Iterable[PageBlock]) -> Iterator[PageBlock]:
    for block in blocks:
        if (
            block.end - block.start <= MAX_BLOCK_TOKENS
            or estimate_tokens(text[block.start : block.end]) <= MAX_BLOCK_TOKENS
        ):
            yield block
            continue
        line, start, end, tokens = block.line, block.start, block.start, 0
        for piece in _pieces(text, block):
            weight = estimate_tokens(text[piece.start : piece.end])
            if tokens and tokens + weight > MAX_BLOCK_TOKENS:
                yield PageBlock(block.kind, line, start, end)
                line = start = piece.start
                tokens = 0
            end, tokens = piece.end, tokens + weight
        yield PageBlock(block.kind, line, start, end)


def split_sentences(text: str, block: PageBlock) -> Iterator[Span]:
    """Of a paragraph also those that go over the end of a line; of Thai and the like, what stands between spaces."""
    if block.kind != "text" or "\n" not in (lines := text[block.start : block.end]):
        found = sentences(text, block.start, block.end)
    else:
        found = (Span(block.start + span.start, block.start + span.end) for span in sentences(lines.replace("\n", " ")))
    for span in found:
        if span.end - span.start <= MIN_SPLIT_LENGTH or not _ALPHABETIC_UNSPACED.search(text, span.start, span.end):
            yield span
        else:
            yield from _split_phrases(text, span)


def _split_phrases(text: str, span: Span) -> Iterator[Span]:
    """Thai has no mark at the end of a sentence: there and after a phrase, a space stands."""
    start = span.start
    for found in _SPACE.finditer(text, span.start, span.end):
        if found.start() - start >= MIN_PHRASE_LENGTH and span.end - found.end() >= MIN_PHRASE_LENGTH:
            yield Span(start, found.start())
            start = found.end()
    yield Span(start, span.end)


def _pieces(text: str, block: PageBlock) -> Iterator[Span]:
    for span in split_sentences(text, block):
        if span.end - span.start <= MAX_SLICE_LENGTH:
            yield span
        else:
            yield from slices(text, span, MAX_SLICE_LENGTH)


def slices(text: str, span: Span, max_length: int) -> Iterator[Span]:
    """Cut between words. Of a word without end the first slice is kept: none begins inside a word."""
    start = span.start
    while span.end - start > max_length:
        limit = start + max_length
        end = max(text.rfind(space, start + 1, limit) for space in _SPACES)
        if end < 0 and (whole := _character_boundary(text, limit)) is not None:
            end = whole
        if end > start:
            yield Span(start, end)
            start = end
        else:
            yield Span(start, limit)
            next_word = _SPACE.search(text, limit, span.end)
            start = next_word.start() if next_word else span.end
        while start < span.end and text[start].isspace():
            start += 1
    if start < span.end:
        yield Span(start, span.end)


def _character_boundary(text: str, limit: int) -> int | None:
    """Where, at or before `limit`, a character begins that needs no space before it."""
    for end in range(limit, limit - 16, -1):
        if _UNSPACED.match(text[end]) and not unicodedata.category(text[end]).startswith("M"):
            return end
    return None
