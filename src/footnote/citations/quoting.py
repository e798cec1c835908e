"""The words of a passage that are shown for a claim: exactly as they stand on the page, and not too many."""

import re
from collections.abc import Sequence

from footnote.language.sentences import Span, sentences
from footnote.protocol.sources import Quote

_LONGEST = 400
_LINE_MARKS = re.compile(r"(?:[ \t]*(?:#{1,6}|>|[-*+•|]|\d{1,4}[.)])(?=[ \t|]))+[ \t|]*")
_TRAILING = " \t\n|"


def quoted(text: str, span: Span, agreed: Sequence[Span], claim: str) -> Quote:
    """What of a passage is quoted: all of it, or, if that is long, the sentences or words around what the claim says.

    `agreed` are the words of the passage that the claim has too, in order. A long claim has a long quotation.
    """
    room = max(_LONGEST, len(claim) + len(claim) // 4)
    chosen = span if span.end - span.start <= room else _densest(agreed, span, room)
    if chosen != span:
        chosen = _to_bounds(text, chosen, span, room)
    return trimmed(text, chosen)


def _densest(agreed: Sequence[Span], span: Span, room: int) -> Span:
    """As many of the words as fit."""
    best = Span(span.start, span.start + room)
    most = first = 0
    for last, word in enumerate(agreed):
        while word.end - agreed[first].start > room:
            first += 1
        if last - first + 1 > most:
            most = last - first + 1
            best = Span(agreed[first].start, word.end)
    return best


def _to_bounds(text: str, chosen: Span, within: Span, room: int) -> Span:
    """From the beginning of its first sentence to the end of its last, as far as there is room."""
    start, end = chosen.start, chosen.end
    for sentence in sentences(text, within.start, within.end):
        if sentence.start <= chosen.start < sentence.end and end - sentence.start <= room:
            start = sentence.start
        if sentence.start < chosen.end <= sentence.end and sentence.end - start <= room:
            end = sentence.end
    return Span(start, end)


def trimmed(text: str, span: Span) -> Quote:
    marks = _LINE_MARKS.match(text, span.start, span.end)
    start = marks.end() if marks and marks.end() < span.end else span.start
    end = span.end
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    while start < end and text[start] in _TRAILING:
        start += 1
    return Quote(text[start:end], start, end)
