"""Splits a page into sections that can be read alone: a paragraph, a few short ones, a list, a table, code."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from footnote.text.excerpt import split_at_spaces
from footnote.text.markdown import MarkdownBlock, read_blocks
from footnote.text.sentences import Span, sentences
from footnote.text.terms import ALPHABETIC_UNSPACED

MAX_SECTION_TOKENS = 300
"""Short paragraphs share a section up to this size."""
MAX_BLOCK_TOKENS = 600
"""A longer paragraph is cut between sentences."""
MAX_SLICE_LENGTH = 600
"""The length of pieces of a text without sentences, such as a script on one line."""

MIN_SPLIT_LENGTH, MIN_PHRASE_LENGTH = 120, 80
"""For Thai: the length from which a text is split at spaces, and that of the shortest part."""

_SPACE = re.compile(r"\s")
_AFTER_HEADING = "# \t\r\n\u00a0\u3000"
_ALPHABETIC_UNSPACED = re.compile(f"[{ALPHABETIC_UNSPACED}]")


class PageSection(Struct, frozen=True):
    """Neighbouring blocks, from `start` to `end` with the heading right above them, if there is one.

    `path`: the headings above them, the outermost first, and the header row of a table that began before.
    """

    start: int
    end: int
    blocks: tuple[MarkdownBlock, ...]
    path: tuple[str, ...]


class RankedPage(Struct, frozen=True):
    """A page under its source number. `normalized` is the text as `terms.normalize` makes it, with the same offsets."""

    number: int
    text: str
    normalized: str
    sections: tuple[PageSection, ...]


class SectionPlace(Struct, frozen=True, gc=False, order=True):
    """A section by the index of its page and its index in that page."""

    page: int
    section: int


def estimate_tokens(text: str) -> int:
    """An estimate of three bytes of UTF-8 a token, which is seldom too low."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // 3 + 1


def split_sections(text: str) -> Iterator[PageSection]:
    """The sections of a page in order. A heading begins a new one."""
    group = _SectionBuilder()
    for block in _split_long_blocks(text, read_blocks(text, indented_code=False)):
        if block.kind == "heading":
            yield from group.flush()
            group.add_heading(text, block)
            continue
        tokens = estimate_tokens(text[block.start : block.end])
        if group.tokens + tokens > MAX_SECTION_TOKENS:
            yield from group.flush()
        group.add(text, block, tokens)
    yield from group.flush()


class _SectionBuilder:
    """Collects the blocks of a section and the headings above them."""

    def __init__(self) -> None:
        self.tokens = 0
        self._blocks: list[MarkdownBlock] = []
        self._headings: list[tuple[int, str]] = []
        self._heading_start: int | None = None
        self._path: tuple[str, ...] = ()
        self._header = ""
        self._last: MarkdownBlock | None = None

    def add_heading(self, text: str, block: MarkdownBlock) -> None:
        title = text[block.start : block.end].rstrip(_AFTER_HEADING)
        self._headings = [*(above for above in self._headings if above[0] < block.level), (block.level, title)]
        self._heading_start = block.line if self._heading_start is None else self._heading_start
        self._last = None

    def add(self, text: str, block: MarkdownBlock, tokens: int) -> None:
        is_later_row = block.kind == "row" and self._last is not None and self._last.kind == "row"
        if is_later_row and self._last and "\n\n" in text[self._last.end : block.line]:
            is_later_row = False
        if block.kind == "row" and not is_later_row:
            self._header = text[block.start : block.end]
        if not self._blocks:
            self._path = (*(title for _, title in self._headings), *([self._header] if is_later_row else []))
        self._blocks.append(block)
        self._last = block
        self.tokens += tokens

    def flush(self) -> Iterator[PageSection]:
        if self._blocks:
            start = self._blocks[0].line if self._heading_start is None else self._heading_start
            yield PageSection(start, self._blocks[-1].end, tuple(self._blocks), self._path)
            self._blocks, self.tokens, self._heading_start = [], 0, None


# Long blocks -----------------------------------------------------------------------------------------------------


def _split_long_blocks(text: str, blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    for block in blocks:
        if (
            block.end - block.start <= MAX_BLOCK_TOKENS
            or estimate_tokens(text[block.start : block.end]) <= MAX_BLOCK_TOKENS
        ):
            yield block
            continue
        line, start, end, tokens = block.line, block.start, block.start, 0
        for piece in _pieces(text, block):
            piece_tokens = estimate_tokens(text[piece.start : piece.end])
            if tokens and tokens + piece_tokens > MAX_BLOCK_TOKENS:
                yield replace(block, line=line, start=start, end=end)
                line = start = piece.start
                tokens = 0
            end, tokens = piece.end, tokens + piece_tokens
        yield replace(block, line=line, start=start, end=end)


def split_sentences(text: str, block: MarkdownBlock) -> Iterator[Span]:
    """The sentences of a block. A sentence of a paragraph may continue on the next line; Thai is split at spaces."""
    if block.kind not in ("paragraph", "item") or "\n" not in (lines := text[block.start : block.end]):
        found = sentences(text, block.start, block.end)
    else:
        found = (Span(block.start + span.start, block.start + span.end) for span in sentences(lines.replace("\n", " ")))
    for span in found:
        if span.end - span.start <= MIN_SPLIT_LENGTH or not _ALPHABETIC_UNSPACED.search(text, span.start, span.end):
            yield span
        else:
            yield from _split_phrases(text, span)


def _split_phrases(text: str, span: Span) -> Iterator[Span]:
    """Thai has no full stop: a space ends a sentence or a phrase."""
    start = span.start
    for found in _SPACE.finditer(text, span.start, span.end):
        if found.start() - start >= MIN_PHRASE_LENGTH and span.end - found.end() >= MIN_PHRASE_LENGTH:
            yield Span(start, found.start())
            start = found.end()
    yield Span(start, span.end)


def _pieces(text: str, block: MarkdownBlock) -> Iterator[Span]:
    for span in split_sentences(text, block):
        if span.end - span.start <= MAX_SLICE_LENGTH:
            yield span
        else:
            yield from split_at_spaces(text, span, MAX_SLICE_LENGTH)
