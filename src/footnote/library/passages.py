"""A text cut into passages: what the index ranks, and what a hit shows of a page."""

import re
from collections.abc import Iterator

from msgspec import Struct

from footnote.language.sentences import sentences

PASSAGE_BYTES = 900
"""About a paragraph. In bytes: a Chinese character has three of them, and says about as much as three letters."""
_BLOCK = re.compile(r"\S[^\n]*(?:\n(?![ \t]*\n|#{1,6} )[^\n]+)*")
_HEADING = re.compile(r"#{1,6} +(.+)")
_FENCED = re.compile(r"^(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^\1[ \t]*+$|(?P<open>\Z))", re.MULTILINE | re.DOTALL)


class Section(Struct, frozen=True):
    """A piece of a text by its offsets, and the heading that it stands under."""

    start: int
    end: int
    heading: str


def passages_of(text: str, *, code: bool = True) -> Iterator[Section]:
    """In order. A heading begins a new passage; short paragraphs share one, a long one is cut between sentences.
    Without `code`, what stands in fences is in none of them."""
    heading = ""
    for stretch in [(0, len(text))] if code else _prose(text):
        start, end, size = 0, 0, 0
        for piece_start, piece_end in _pieces(text, *stretch):
            piece = text[piece_start:piece_end]
            begins = _HEADING.match(piece)
            weight = _weight(piece)
            if size and (begins or size + weight > PASSAGE_BYTES):
                yield Section(start, end, heading)
                size = 0
            if begins:
                heading = begins.group(1)
            if not size:
                start = piece_start
            end, size = piece_end, size + weight
        if size:
            yield Section(start, end, heading)


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """What stands between fenced blocks."""
    end = 0
    for fenced in _FENCED.finditer(text):
        if fenced["open"] is not None:  # it is never closed: a text that is cut is still a text
            break
        yield end, fenced.start()
        end = fenced.end()
    yield end, len(text)


def _pieces(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Paragraphs; the sentences of a long one; slices of what has no sentences, such as a script on one line."""
    for block in _BLOCK.finditer(text, first, last):
        if _weight(block.group()) <= PASSAGE_BYTES:
            yield block.start(), block.end()
            continue
        for sentence in sentences(text, block.start(), block.end()):
            for start in range(sentence.start, sentence.end, PASSAGE_BYTES):
                yield start, min(start + PASSAGE_BYTES, sentence.end)


def _weight(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
