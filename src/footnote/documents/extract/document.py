"""What a document says, once it is taken apart, and how that fails."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from msgspec.structs import replace

from footnote.protocol.receipts import PageFailure
from footnote.protocol.sources import Link
from footnote.sandbox.jobs import ExtractedPage

__all__ = ["MAX_CHARACTERS", "ExtractedPage", "UnreadableDocument", "normalize_nfc"]

MAX_CHARACTERS = 400_000
"""A long book. What is kept of a document, searched in it and shown of it stays bounded."""


class UnreadableDocument(Exception):
    """There is no text to be had of a document; `reason` says why, in words."""

    def __init__(self, failure: PageFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure: PageFailure = failure
        self.reason = reason


def normalize_nfc(extracted: ExtractedPage) -> ExtractedPage:
    """With letters in one piece (NFC), and all offsets where their letters are now. A page may write its marks apart
    from their letters; whoever asks writes them together, and would find nothing."""
    text = extracted.text
    facts = {name: _nfc(getattr(extracted, name)) for name in ("title", "author", "site_name")}
    if unicodedata.is_normalized("NFC", text):
        return replace(extracted, **facts)
    links, pages = extracted.links, extracted.pages
    moved = _map_offsets(text, {*pages, *(end for link in links for end in (link.start, link.end))})
    return replace(
        extracted,
        **facts,
        text=_nfc(text),
        links=tuple(Link(link.url, moved[link.start], moved[link.end]) for link in links),
        pages=tuple(moved[page] for page in pages),
    )


def _nfc(text: str | None) -> str | None:
    return text and unicodedata.normalize("NFC", text)


def _map_offsets(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Where each offset is after composing. Counted from the beginning of its line: nothing composes across one."""
    lines = text.split("\n")
    before = [0, *accumulate(len(line) + 1 for line in lines)]
    after = [0, *accumulate(len(unicodedata.normalize("NFC", line)) + 1 for line in lines)]
    moved: dict[int, int] = {}
    last = at = made = 0
    """The line of the offset before, that offset, and where it is now."""
    for offset in sorted(offsets):
        line = bisect_right(before, offset, hi=len(lines)) - 1
        if line != last:
            last, at, made = line, before[line], after[line]
        end = offset
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        # Only what is new since the offset before, so that a long line with many links is read once.
        made += len(unicodedata.normalize("NFC", text[at:end]))
        at = max(at, end)
        moved[offset] = min(made, after[line + 1] - 1)
    return moved
