"""Quotations that a model gives: whether they are on a page, and whether they can prove a statement.

A quotation is compared with the page word for word; only white space, quotation marks and hyphens may differ. Whatever
follows from it rests on the text of the page between its offsets, never on what the model wrote.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from footnote.evidence.lexicon import FUNCTION_WORDS, directions, negations
from footnote.evidence.page_index import PageIndex
from footnote.evidence.tokens import find_names, is_character, tokenize
from footnote.evidence.values import Fact, Value, contains_value, extract_values
from footnote.evidence.verdict import find_evidence
from footnote.protocol.sources import Snapshot
from footnote.text.languages import detect_language
from footnote.text.sentences import Span, sentences
from footnote.text.terms import fold, strip_diacritics

# Word for word -------------------------------------------------------------------------------------------------------

_HYPHENS = "\\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_QUOTATION_MARKS = "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\u301d-\u301f\uff02\uff07"
_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff"
_COMPARED = re.compile(rf"[^\s{_HYPHENS}{_QUOTATION_MARKS}{_INVISIBLE}]+")
_OMISSION = re.compile(r"\s{0,9}(?:\[\s{0,9})?(?:\.{3,}|…+)(?:\s{0,9}\])?\s{0,9}")
_CLUSTER = re.compile(r"\W|\w", re.DOTALL)
_MAX_OCCURRENCES = 20
_MAX_OMITTED = 600
"""The longest omission, in characters, between two pieces of one quotation."""


class _Run(NamedTuple):
    """Characters of the page that follow each other in the compared text, too. `is_letter`: one letter with its marks,
    which may be composed in the compared text and decomposed on the page."""

    start: int
    page_start: int
    page_end: int
    is_letter: bool


class ComparedPage:
    """The text of a page without white space, quotation marks and hyphens, and the way back to its offsets."""

    def __init__(self, text: str) -> None:
        self._page = text
        runs: list[_Run] = []
        pieces: list[str] = []
        length = 0
        for found in _COMPARED.finditer(text):
            for piece, start, end, is_letter in _compose(found):
                runs.append(_Run(length, start, end, is_letter))
                pieces.append(piece)
                length += len(piece)
        self._runs = runs
        self._starts = [run.start for run in runs]
        self._text = "".join(pieces)

    def find(self, quotation: str, shown: Sequence[Span] = ()) -> Span | None:
        """Where a quotation is on the page, in whole words: of several places, the first one in the passages that the
        model was shown. Pieces around an omission (`…`) must follow each other closely."""
        pieces = [compared for piece in _OMISSION.split(quotation) if (compared := _compared(piece))]
        if not pieces:
            return None
        places = [place for at in self._occurrences(pieces[0]) if (place := self._complete(pieces, at)) is not None]
        inside = (place for place in places if any(one.start < place.end and place.start < one.end for one in shown))
        found = next(inside, places[0] if places else None)
        return self._whole_words(found) if found is not None else None

    def _occurrences(self, piece: str) -> Iterator[int]:
        at = self._text.find(piece)
        for _ in range(_MAX_OCCURRENCES):
            if at < 0:
                return
            yield at
            at = self._text.find(piece, at + 1)

    def _complete(self, pieces: Sequence[str], first: int) -> Span | None:
        """The place in the page of pieces in order, the first of them at `first`."""
        end = first + len(pieces[0])
        for piece in pieces[1:]:
            at = self._text.find(piece, end, end + _MAX_OMITTED + len(piece))
            if at < 0:
                return None
            end = at + len(piece)
        return Span(self._offset(first, at_end=False), self._offset(end - 1, at_end=True))

    def _offset(self, compared: int, *, at_end: bool) -> int:
        run = self._runs[bisect_right(self._starts, compared) - 1]
        if run.is_letter:
            return run.page_end if at_end else run.page_start
        return run.page_start + compared - run.start + at_end

    def _whole_words(self, span: Span) -> Span | None:
        """Without words and numbers of which only a part was quoted (`2 million` of `1.2 million`), and with the sign
        of a number."""
        text, start, end = self._page, span.start, span.end
        while start < end and _is_inside_word(text, start):
            start += 1
        while end > start and _is_inside_word(text, end):
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        before = text[start - 1 : start]
        if (
            before in ("-", "−")
            and text[start : start + 1].isdigit()
            and not text[max(0, start - 2) : start - 1].isalnum()
        ):
            start -= 1
        return Span(start, end) if start < end else None


def _compared(text: str) -> str:
    return "".join(_COMPARED.findall(unicodedata.normalize("NFC", text)))


def _compose(found: re.Match[str]) -> Iterator[tuple[str, int, int, bool]]:
    """A run of the page as it is compared. If letters of it are decomposed, each letter is a run of its own."""
    text = found.group()
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        yield text, found.start(), found.end(), False
        return
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield unicodedata.normalize("NFC", text[start:at]), found.start() + start, found.start() + at, True
            start = at


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a word or number goes on from before an offset to after it. Chinese characters are words of their own."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isdigit() and after in ".,:" and text[at + 1 : at + 2].isdigit():
        return True
    if after.isdigit() and before in ".,:" and text[max(0, at - 2) : at - 1].isdigit():
        return True
    if is_character(before) or is_character(after):
        return False
    return (before.isalnum() or unicodedata.combining(before) > 0) and (
        after.isalnum() or unicodedata.combining(after) > 0
    )


# What a quotation proves ---------------------------------------------------------------------------------------------

_MIN_CONTENT = 2
"""A quotation with fewer content words states nothing. Two Chinese characters are a word."""
_MAX_LENGTH = 2_000
"""A longer quotation is a page, and no passage of it."""
_TOPIC_LENGTH = 300
"""The beginning of a page, which names what all of it is about."""
_CONTEXT_SENTENCES = 8
"""How many sentences before a quotation may have the name to which it refers by a pronoun."""
_MAX_SENTENCE = 600
_MIN_KEYS = 4
"""A statement with fewer words than this may be said in other words altogether."""
_MIN_SHARED_TO_DENY = 0.25
"""The share of a statement's words that a quotation must have to contradict it."""
_MIN_SHARED_TO_NEGATE = 0.75
"""If the shorter of two texts shares so many words with the other, and only one of them has a negation, it denies the
other."""
_STEM_LENGTH = 4
_MIN_NAME_LENGTH = 4
_MAX_ENDING = 3
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")


class Proof(NamedTuple):
    """What code says of a quotation as the proof of a statement.

    `missing`: numbers, dates, units and names of the statement that the quotation does not have. `is_denied`: comparing
    the statement with the sentences of the quotation finds that they say otherwise; `is_stated`: that they say it.
    `is_related`: both may be about the same; `is_about`: they are, as far as words, names and numbers tell.
    """

    missing: tuple[str, ...]
    is_denied: bool
    is_stated: bool
    is_related: bool
    is_about: bool


def states_something(page: PageIndex, span: Span) -> bool:
    """Whether a quotation is more than a word, a number or a heading, and less than a page."""
    if span.end - span.start > _MAX_LENGTH:
        return False
    line_start = page.text.rfind("\n", 0, span.start) + 1
    lines = page.text[line_start : span.end].split("\n")
    lines[0] = lines[0] if _HEADING.match(lines[0]) else lines[0][span.start - line_start :]
    body = "\n".join(line for line in lines if not _HEADING.match(line))
    content = [token for token in tokenize(body, page.language).tokens if token.is_content]
    has_word = any(token.value is None for token in content)
    return has_word and sum(0.5 if is_character(token.key) else 1.0 for token in content) >= _MIN_CONTENT


def weigh_quotation(statement: str, page: PageIndex, span: Span) -> Proof:
    """What a quotation is worth as the proof of a statement."""
    quotation = page.text[span.start : span.end]
    missing = (*missing_values(statement, quotation), *_missing_names(statement, page, span))
    if _is_translation(statement, page):
        shares = _shares_across_languages(statement, quotation)
        return Proof(
            missing, _polarity_differs(statement, quotation), is_stated=False, is_related=True, is_about=shares
        )
    whole = whole_sentences(page, span)
    evidence = find_evidence(
        statement, PageIndex(Snapshot(url=page.snapshot.url, text=page.text[whole.start : whole.end]))
    )
    claimed, quoted = _keys(statement, page), _keys(quotation, page)
    shared = claimed & quoted
    is_alike = len(shared) >= _MIN_SHARED_TO_NEGATE * min(len(claimed), len(quoted))
    return Proof(
        missing,
        is_denied=evidence.verdict == "contradicted" or (is_alike and _is_negated_once(statement, quotation)),
        is_stated=evidence.verdict == "supported",
        is_related=bool(shared) or len(claimed) < _MIN_KEYS,
        is_about=len(shared) >= max(1.0, _MIN_SHARED_TO_DENY * len(claimed)),
    )


def _is_translation(statement: str, page: PageIndex) -> bool:
    """Whether statement and page are in different languages, as far as that can be told."""
    return detect_language(statement) != page.language


def _is_negated_once(statement: str, quotation: str) -> bool:
    """Whether one of two texts has a negation and the other has none, in any words."""
    return any(
        negations(one) and not negations(other, strict=True)
        for one, other in ((statement, quotation), (quotation, statement))
    )


def whole_sentences(page: PageIndex, span: Span) -> Span:
    """The sentences that a quotation is a part of: `the earth is flat` may stand behind `it is not true that`."""
    start = max(page.context_start(span, 0), span.start - _MAX_SENTENCE)
    limit = min(len(page.text), span.end + _MAX_SENTENCE)
    end = next((one.end for one in sentences(page.text, start, limit) if one.end >= span.end), limit)
    return Span(start, end)


def _keys(text: str, page: PageIndex) -> set[str]:
    """The content words of a text by their beginnings, and its values."""
    return {
        token.key if token.value or token.is_syllable else token.key[:_STEM_LENGTH].rstrip("e")
        for token in tokenize(text, page.language).tokens
        if token.is_content
    }


# Names ---------------------------------------------------------------------------------------------------------------


def _missing_names(statement: str, page: PageIndex, span: Span) -> Iterator[str]:
    """The names of a statement that the page has, but neither in the quotation nor before it, nor in its title: what is
    quoted is about somebody else."""
    start, end = page.context_start(span, _CONTEXT_SENTENCES), whole_sentences(page, span).end
    near = _plain("\n".join((page.snapshot.title, page.text[:_TOPIC_LENGTH], page.text[start:end])))
    whole = ""
    for name in find_names(tokenize(statement, page.language), page.is_proper_name):
        written = statement[name[0].start : name[-1].end]
        if written.isupper() and not is_character(name[0].key):
            continue  # The page may spell out what is short for it: `WHO`.
        words = [written] if is_character(name[0].key) else [statement[token.start : token.end] for token in name]
        plain_words = [_plain(word) for word in words if fold(word) not in FUNCTION_WORDS["en"]]
        absent = [plain for plain in plain_words if not _has_word(near, plain)]
        if absent:
            whole = whole or _plain(page.text)
            if all(_has_word(whole, plain) for plain in absent):
                yield written


def _plain(text: str) -> str:
    return strip_diacritics(fold(text))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _MIN_NAME_LENGTH and word.endswith("s") else word


def _has_word(text: str, word: str) -> bool:
    """Whether a text has a word, or one that is derived from it: `Korea`, `Korean`."""
    word = _singular(word)
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        ending = next(
            (more for more in range(_MAX_ENDING + 1) if not text[end + more : end + more + 1].isalnum()), None
        )
        is_start = at == 0 or not text[at - 1].isalnum()
        if is_character(word[0]) or (is_start and ending is not None and (ending == 0 or len(word) > _MAX_ENDING)):
            return True
        at = text.find(word, at + 1)
    return False


# Across languages ----------------------------------------------------------------------------------------------------


def _shares_across_languages(statement: str, quotation: str) -> bool:
    """Whether two texts in different languages share a value or a name in Latin letters."""
    values = extract_values(quotation)
    if any(value.is_certain and contains_value(values, value) for value in extract_values(statement)):
        return True
    return bool(_latin_names(statement) & _latin_names(quotation))


def _latin_names(text: str) -> set[str]:
    return {found for word in _CAPITALIZED.findall(text) if len(found := _plain(word)) >= _MIN_NAME_LENGTH}


_CAPITALIZED = re.compile(r"\b[A-ZĐÀ-ÖØ-Þ][^\W\d_]+")


_MAY_NEGATE = re.compile(
    r"\b(?:un|non|dis)[\w-]{3,}|\bin(?:sufficient|valid|capable|correct|active|equal|dependent)|\w{3}less\b"
    r"|\b(?:rather than|instead|whether|wrong|fals|few|little|rare|less|only|lack|ceas|stop|stagnat)"
    r"|\b(?:không|chưa|phi|vô|bất|hay|thay vì|ngừng|sai|ít|chỉ)\b|[不非无未否没仅只]",
    re.IGNORECASE,
)
"""Words that negate in one language and not in another: `unmanned` is `không người lái`."""


def _polarity_differs(statement: str, quotation: str) -> bool:
    """Whether one of two texts in different languages denies, or goes up where the other goes down."""
    claimed, quoted = directions(statement), directions(quotation)
    if any((axis, 1 - side) in quoted and not {(axis, side)} & quoted for axis, side in claimed):
        return True
    if negations(statement):
        return not (negations(quotation, strict=True) or _MAY_NEGATE.search(quotation))
    if _MAY_NEGATE.search(statement) or negations(statement, strict=True):
        return False
    # A long quotation may deny something else.
    return bool(negations(quotation)) and _size(quotation) <= 1.5 * _size(statement)


def _size(text: str) -> int:
    """The length of a text in words. Two Chinese characters are a word, as two Vietnamese syllables are."""
    tokens = tokenize(text, detect_language(text)).tokens
    return sum(1 if token.is_syllable else 2 for token in tokens)


# Values --------------------------------------------------------------------------------------------------------------

_DESIGNATION = re.compile(r"(?:\b[Cc]ovid|\b[Ss]ars-[Cc]o[Vv]|[A-Z]{2}|[A-Z][a-z]?[A-Z]|\b[A-Z])-$")
"""The letters of a name such as `COVID-19`, `HIV-1` or `SARS-CoV-2`, whose number is no quantity."""
_REFERENCE = re.compile(r"\bet al\.?,? \(?$")
"""Before the year of a reference: `(Yan et al., 2010)`."""
_BETWEEN = r"[ \t]*(?:(?:a|an|the)[ \t])?$"
_AT_LEAST = re.compile(
    r"(?:more than|over|above|at least|exceed(?:s|ed|ing)?|after|no (?:less|fewer) than|hơn|trên|ít nhất|tối thiểu|"
    rf"vượt(?: quá)?|sau|超过|超過|逾|至少|不少于|多于|高于|大于){_BETWEEN}",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:(?:less|fewer|lower) than|under|below|at most|up to|before|no more than|not more than|dưới|ít hơn|nhiều nhất|"
    rf"tối đa|trước|chưa đến|chưa tới|không quá|少于|低于|小于|不到|不足|至多|最多|不超过){_BETWEEN}",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:both|either|couple|pair|twins?|cả hai|đôi)\b|[双雙两兩]", re.IGNORECASE)
_SPEED = re.compile(
    r"/\s?(?:h|giờ|小时|hour|s|giây|秒)\b|\b(?:per|an|every|mỗi|một|trên) (?:hour|second|giờ|giây)\b"
    r"|\b(?:mph|kph|kmh)\b|每小时|每秒|时速",
    re.IGNORECASE,
)
_BEFORE_SPEED, _AFTER_SPEED = 6, 12
_MAX_BOUND_RATIO = 2.0
"""A bound is as good as the number itself only if it is near: `more than 100` for 160, not for 3,000."""
_BEFORE = 24


def missing_values(statement: str, quotation: str) -> Iterator[str]:
    """The numbers, dates and units of a statement that a quotation does not have, in any notation or language."""
    stated = extract_values(quotation)
    for value in extract_values(statement):
        before = statement[max(0, value.start - _BEFORE) : value.start]
        if not value.is_certain or _DESIGNATION.search(before) or _REFERENCE.search(before):
            continue
        written = statement[value.start : value.end]
        is_other_measure = _is_speed(statement, value) and not _SPEED.search(quotation)
        is_stated = contains_value(stated, value) and _has_units(value, stated)
        is_both = value.readings[0] == (Fact("n", 2.0),) and _BOTH.search(quotation) is not None
        if is_other_measure or not (is_stated or is_both or _is_kept_bound(before, written, value, stated)):
            yield written.strip()


def _is_speed(text: str, value: Value) -> bool:
    """Whether a length is one for each hour: `60 km/h`, `每小时60公里`."""
    around = text[max(0, value.start - _BEFORE_SPEED) : value.end + _AFTER_SPEED]
    return any(fact.unit in ("km", "mi", "m") for fact in value.readings[0]) and _SPEED.search(around) is not None


def _has_units(value: Value, stated: Sequence[Value]) -> bool:
    """Whether the units of a value are stated, at the same number or at another: `between 5 and 10 km`."""
    units = {fact.unit for value in stated for reading in value.readings for fact in reading}
    return all(fact.unit is None or fact.unit in units for fact in value.readings[0])


def _is_kept_bound(before: str, written: str, value: Value, stated: Sequence[Value]) -> bool:
    """Whether a number that is only a bound holds for one that is stated: `more than 18 million` for 20 million."""
    is_least = _AT_LEAST.search(before) is not None or "多" in written or "余" in written
    is_most = _AT_MOST.search(before) is not None
    facts = value.readings[0]
    if not (is_least or is_most):
        return False
    for other in stated:
        theirs = {fact.kind: fact for fact in other.readings[0]}
        if not all(fact.kind in theirs and _units_fit(fact, theirs[fact.kind]) for fact in facts):
            continue
        one, two = [fact.number for fact in facts], [theirs[fact.kind].number for fact in facts]
        is_near = facts[0].kind != "n" or 0 < max(one[0], two[0]) <= _MAX_BOUND_RATIO * min(one[0], two[0])
        if is_near and ((is_least and two >= one) or (is_most and two <= one)):
            return True
    return False


def _units_fit(fact: Fact, other: Fact) -> bool:
    return fact.unit == other.unit or other.unit is None
