"""The words of a passage that are shown for a claim: exactly as they stand on the page, and not too many."""

import re
from collections.abc import Sequence

from footnote.protocol.sources import Quote
from footnote.text.sentences import Span, sentences

_MAX_QUOTE_LENGTH = 400
_LINE_MARKS = re.compile(r"(?:[ \t]*(?:#{1,6}|>|[-*+•|]|\d{1,4}[.)])(?=[ \t|]))+[ \t|]*")
_TRAILING = " \t\n|"


def quote_passage(text: str, span: Span, matched: Sequence[Span], claim: str) -> Quote:
    """What of a passage is quoted: all of it, or, if that is long, the sentences or words around what the claim says.

    `agreed` are the words of the passage that the claim has too, in order. A long claim has a long quotation.
    """
    room = max(_MAX_QUOTE_LENGTH, len(claim) + len(claim) // 4)
    chosen = span if span.end - span.start <= room else _densest_window(matched, span, room)
    if chosen != span:
        chosen = _extend_to_sentences(text, chosen, span, room)
    return trim_quote(text, chosen)


def _densest_window(matched: Sequence[Span], span: Span, max_length: int) -> Span:
    """As many of the words as fit."""
    best = Span(span.start, span.start + max_length)
    most = first = 0
    for last, word in enumerate(matched):
        while word.end - matched[first].start > max_length:
            first += 1
        if last - first + 1 > most:
            most = last - first + 1
            best = Span(matched[first].start, word.end)
    return best


def _extend_to_sentences(text: str, chosen: Span, within: Span, max_length: int) -> Span:
    """From the beginning of its first sentence to the end of its last, as far as there is room."""
    start, end = chosen.start, chosen.end
    for sentence in sentences(text, within.start, within.end):
        if sentence.start <= chosen.start < sentence.end and end - sentence.start <= max_length:
            start = sentence.start
        if sentence.start < chosen.end <= sentence.end and sentence.end - start <= max_length:
            end = sentence.end
    return Span(start, end)


def trim_quote(text: str, span: Span) -> Quote:
    marks = _LINE_MARKS.match(text, span.start, span.end)
    start = marks.end() if marks and marks.end() < span.end else span.start
    end = span.end
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    while start < end and text[start] in _TRAILING:
        start += 1
    return Quote(text[start:end], start, end)
