"""Sentences of a text, by their offsets, in any language."""

import re
from collections.abc import Iterator

from msgspec import Struct

_BREAK = "\n\r\v\f\x85\u2028\u2029"
_MARKER = (
    r"(?:[ \u00a0]?\[(?:\d{1,4}(?:[,;\u2013-] ?\d{1,4})*+|[a-z]|[^\W\d]{1,20} \d{1,3}|[^\W\d]{2,20} needed)\]"
    r"(?:\([^()\s]{0,300}\))?|[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,4})"
)
"""A footnote: `[1]`, `[2, 3]`, `[a]`, `[note 4]`, `[1](address)`, a raised number. It belongs to the sentence that ends
before it, with or without a space between them."""

_MARKS = f".!?…。！？｡।॥؟۔។။።։{_BREAK}"
# Possessive, and only from the first of several marks, so that a line of ten thousand dots is read once.
_END = re.compile(
    rf"[{_BREAK}]++"
    rf"|(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?:{_MARKER}++|(?=\s|$))"
    r"|(?<![!?])[!?]++(?=[\u3040-\u30ff\u3400-\u9fff])"
    rf"|[。！？｡।॥؟۔។။።։]++[”’\"」』）】》〉]*+{_MARKER}*+"
)
# The search for a single set of characters is many times faster than that for the alternatives.
_POSSIBLE_END = re.compile(f"[{_MARKS}]")
_FOLLOWING = re.compile(r"[\s\"'“‘«(\[*_]*+(\w*)")
_LAST_WORD = re.compile(r"[\w.]{1,16}$")
_ACRONYM = re.compile(r"[A-ZĐ](?:\.[A-ZĐ]){0,7}$")
_ENUMERATION = re.compile(r"[\s#>*+-]{0,40}(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z])$")


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_LAST = _word_set(
    """
    mr mrs ms mx dr prof st mt ft gen col lt capt cpt sgt maj adm rev hon gov sen rep pres messrs mme mlle v vs
    viz cf e.g i.e approx ca esp incl tp ths ts gs pgs ks bs nxb
    """
)
"""Abbreviations that are always followed by a word."""

_BEFORE_NUMBER = _word_set(
    """
    no nos fig figs vol vols p pp sec art ch chap eq ver pt op nr est jan feb mar apr jun jul aug sep sept oct nov
    dec tr
    """
)
"""Abbreviations when a number follows; without one, some of them are words at the end of a sentence."""

_MAY_BE_LAST = frozenset(["inc", "ltd", "co", "corp", "llc", "plc", "jr", "sr", "bros", "dept", "univ", "al"])
"""Abbreviations in the middle of a sentence and at its end alike, as `U.S.` and an initial are."""

_SENTENCE_STARTERS = _word_set(
    """
    the a an in on at by for from to with after before during since when while although because if as but and or
    however this that these those it its he his she her they their we our i you there here both each some many
    most all another one no not what who where why how also then thus therefore moreover instead
    """
)
"""Words that, in title case after such an abbreviation, begin a sentence: `… in the U.S. The company …`."""


class Span(Struct, frozen=True, gc=False):
    """A piece of a text by its offsets."""

    start: int
    end: int


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The sentences between two offsets: in order, without overlap, with nothing but white space between them.

    A line break always ends one, so a heading, a list item and a row of a table are each their own.
    """
    end = len(text) if end is None else end
    begin = start
    for found in _ends(text, start, end):
        if text[found.start] in ".!?…" and _is_continued(text, begin, found, end):
            continue
        yield from _trim(text, begin, found.end)
        begin = found.end
    yield from _trim(text, begin, end)


def _ends(text: str, start: int, end: int) -> Iterator[Span]:
    """The marks that may end a sentence, with the quotation marks and footnotes after them."""
    while possible := _POSSIBLE_END.search(text, start, end):
        found = _END.match(text, possible.start(), end)
        if found:
            yield Span(found.start(), found.end())
        start = found.end() if found else possible.end()


def _is_continued(text: str, begin: int, marks: Span, end: int) -> bool:
    """Whether a sentence that began at `begin` goes on after the marks."""
    if text[begin : begin + 4].lstrip().startswith("|"):
        return True
    found = _FOLLOWING.match(text, marks.end, end)
    following = found.group(1) if found else ""
    mark = marks.start
    if following[:1].islower():
        return True
    if text[mark] != "." or text[mark + 1 : mark + 2] == ".":
        return False
    if _ENUMERATION.match(text, begin, mark):
        return True
    return _is_abbreviation(_LAST_WORD.search(text, max(begin, mark - 16), mark), following)


def _is_abbreviation(found: re.Match[str] | None, following: str) -> bool:
    if not found or not following:
        return False
    word = found.group()
    folded = word.casefold()
    if folded in _NEVER_LAST:
        return True
    if folded in _BEFORE_NUMBER:
        return following[0].isdigit()
    if folded in _MAY_BE_LAST or _ACRONYM.match(word):
        return not (following.istitle() and following.casefold() in _SENTENCE_STARTERS)
    return False


def _trim(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Span(start, end)


_CLAUSE = re.compile(r"[,;:](?=\s)|[，；：、]|\s[–—-](?=\s)|—|[)）](?=[\s\w])|(?<=[\s\w])(?=[(（])")


def clauses(text: str, start: int, end: int, *, min_length: int) -> Iterator[Span]:
    """The parts of a sentence between its commas, brackets and dashes, each of at least `min_length` characters."""
    begin = start
    for found in _CLAUSE.finditer(text, start, end):
        if found.end() - begin >= min_length and end - found.end() >= min_length:
            yield from _trim(text, begin, found.end())
            begin = found.end()
    yield from _trim(text, begin, end)
