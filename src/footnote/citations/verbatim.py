"""A claim that stands on the page word for word: nothing is left to judge, and the quotation is exactly that."""

import re

from footnote.citations.align import rows
from footnote.citations.polarity import denials
from footnote.citations.quoting import trimmed
from footnote.protocol.sources import Quote

SHORTEST = 12
"""Fewer letters than this stand on many pages by chance."""

_BEFORE = 300
_LAST_SENTENCE = re.compile(r"[.!?。！？\n]")


def verbatim(claim: str, text: str) -> Quote | None:
    """Where the claim stands in a text, in whole words. White space is one, however much of it there is."""
    words = claim.split()
    if sum(map(len, words)) < SHORTEST:
        return None
    for found in rows(words, text):
        before = _LAST_SENTENCE.split(text[max(0, found.start - _BEFORE) : found.start])[-1]
        # "It is not true that the earth is flat" does not say that it is.
        if not denials(before, strict=True):
            return trimmed(text, found)
    return None
