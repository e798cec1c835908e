"""Excerpts: the part of a text that is shown, and where it is cut. One module for every place that shortens a text.

The callers know what matched; this module knows lengths, sentences and words.

- `best_sentences`: whole sentences with most of the terms of a question (hits of the library)
- `excerpt_around`: the text around one match (hits among sessions)
- `densest_window`, `extend_to_sentences`: the part of a passage in which most words match (quotes of citations)
- `split_at_spaces`: a text without sentence ends in pieces (quotations and sections of pages)

`web_search/ranking/quotes` chooses among sentences by probability instead: it fills a limited space from many pages.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from footnote.text.sentences import Span, sentences
from footnote.text.terms import UNSPACED

_SPACE = re.compile(r"\s")
_SPACE_RUN = re.compile(r"\s+")
_LAST_SPACE_RUN = re.compile(r"\s+(?=\S*\Z)")
_SPACES = " \t\u00a0\u3000"
_UNSPACED = re.compile(f"[{UNSPACED}]")


def best_sentences(text: str, matched_terms: Callable[[str], set[str]], max_length: int) -> str:
    """The neighbouring sentences that have the most different terms, on one line. A sentence that is too long is cut;
    without a match the text is shown from its beginning."""
    spans = list(sentences(text))
    matches = [matched_terms(text[span.start : span.end]) for span in spans]
    best, best_count = text, -1
    for first in (at for at, found in enumerate(matches) if found):
        start = spans[first].start
        last = max([first, *(at for at, span in enumerate(spans) if span.end - start <= max_length)])
        count = len(set[str]().union(*matches[first : last + 1]))
        if count > best_count:
            best, best_count = text[start : spans[last].end], count
    line = " ".join(best.split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def excerpt_around(text: str, match: Span, *, max_length: int, before: int) -> str:
    """The text around a match on one line, at most `before` characters ahead of it. It is cut between words where
    there are spaces, and an ellipsis marks each cut."""
    start = max(0, match.start - before)
    end = min(len(text), max(start + max_length, match.end))
    if start > 0 and (space := _SPACE_RUN.search(text, start, match.start)):
        start = space.end()
    if end < len(text) and (space := _LAST_SPACE_RUN.search(text, match.end, end)):
        end = space.start()
    line = " ".join(text[start:end].split())
    return f"{'…' if start > 0 else ''}{line}{'…' if end < len(text) else ''}"


def densest_window(matches: Sequence[Span], within: Span, max_length: int) -> Span:
    """The window of at most `max_length` characters with the most matches, which are in order; without any, the
    beginning of `within`."""
    best = Span(within.start, within.start + max_length)
    best_count = first = 0
    for last, match in enumerate(matches):
        while match.end - matches[first].start > max_length:
            first += 1
        if last - first + 1 > best_count:
            best_count = last - first + 1
            best = Span(matches[first].start, match.end)
    return best


def extend_to_sentences(text: str, chosen: Span, within: Span, max_length: int) -> Span:
    """A window extended to the beginning of its first sentence and the end of its last one, where the length allows
    it."""
    start, end = chosen.start, chosen.end
    for sentence in sentences(text, within.start, within.end):
        if sentence.start <= chosen.start < sentence.end and end - sentence.start <= max_length:
            start = sentence.start
        if sentence.start < chosen.end <= sentence.end and sentence.end - start <= max_length:
            end = sentence.end
    return Span(start, end)


def split_at_spaces(text: str, span: Span, max_length: int) -> Iterator[Span]:
    """Pieces of at most `max_length` characters. Scripts without spaces are cut between characters; a word that is
    longer than a piece is dropped after its first piece, so that no piece begins inside a word."""
    start = span.start
    while span.end - start > max_length:
        limit = start + max_length
        end = max(text.rfind(space, start + 1, limit) for space in _SPACES)
        if end < 0 and (boundary := _character_boundary(text, limit)) is not None:
            end = boundary
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
    """The last offset up to `limit` at which a character begins that needs no space before it."""
    for end in range(limit, limit - 16, -1):
        if _UNSPACED.match(text[end]) and not unicodedata.category(text[end]).startswith("M"):
            return end
    return None
