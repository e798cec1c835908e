"""The part of a passage that a hit shows: the sentences with most of what was asked for."""

import re

from footnote.library.relevance import LibraryQuestion
from footnote.library.terms import alternate_forms, content_terms
from footnote.text.sentences import sentences

MAX_LENGTH = 400
_HEADING_MARKS = re.compile(r"^#{1,6} +", re.MULTILINE)


def excerpt(passage: str, question: LibraryQuestion) -> str:
    """On one line, of whole sentences where they are short enough."""
    text = _HEADING_MARKS.sub("", passage)
    spans = list(sentences(text))
    wanted = [_matched_terms(text[span.start : span.end], question) for span in spans]
    best, most = text, -1
    for first in (index for index, found in enumerate(wanted) if found):
        begin = spans[first].start
        last = max([first, *(index for index, span in enumerate(spans) if span.end - begin <= MAX_LENGTH)])
        found = len(set[str]().union(*wanted[first : last + 1]))
        if found > most:
            best, most = text[begin : spans[last].end], found
    line = " ".join(best.split())
    return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1] + "…"


def _matched_terms(sentence: str, question: LibraryQuestion) -> set[str]:
    words = [term.text for term in content_terms(sentence)]
    return {*words, *alternate_forms(words)}.intersection(question.terms)
