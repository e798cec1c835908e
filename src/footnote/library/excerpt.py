"""The part of a passage that a hit shows: the sentences with most of what was asked for."""

import re

from footnote.language.sentences import sentences
from footnote.library.forms import other_forms, telling_terms
from footnote.library.question import Question

LONGEST = 400
_HEADING_MARKS = re.compile(r"^#{1,6} +", re.MULTILINE)


def excerpt(passage: str, question: Question) -> str:
    """On one line, of whole sentences where they are short enough."""
    text = _HEADING_MARKS.sub("", passage)
    spans = list(sentences(text))
    wanted = [_wanted(text[span.start : span.end], question) for span in spans]
    best, most = text, -1
    for first in (index for index, found in enumerate(wanted) if found):
        begin = spans[first].start
        last = max([first, *(index for index, span in enumerate(spans) if span.end - begin <= LONGEST)])
        found = len(set[str]().union(*wanted[first : last + 1]))
        if found > most:
            best, most = text[begin : spans[last].end], found
    line = " ".join(best.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _wanted(sentence: str, question: Question) -> set[str]:
    words = [term.text for term in telling_terms(sentence)]
    return {*words, *other_forms(words)}.intersection(question.terms)
