"""A snapshot as claims are compared with it: its index, the passages that a claim may rest on, and their quotes.

The terms of a snapshot are indexed once; the cost of a claim then depends on how often its rarest terms occur, not on
the length of the page. The library ranks passages of many pages from its database instead (`library/relevance`), and
the search ranks sentences against a question (`web_search/ranking/scoring`).
"""

import hashlib
import heapq
import math
import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from footnote.evidence.abbreviations import find_abbreviations
from footnote.evidence.lexicon import negations
from footnote.evidence.tokens import key_of
from footnote.protocol.sources import Quote, Snapshot
from footnote.text.excerpt import densest_window, extend_to_sentences
from footnote.text.languages import Language, detect_language
from footnote.text.sentences import Span, sentences
from footnote.text.terms import SUPERSCRIPTS, terms

_MAX_SENTENCE_LENGTH = 500
"""A longer sentence (a row of a table, text without full stops) is cut between words."""
_MAX_VISITS = 8000
"""Limit for the occurrences of a claim's terms that are looked at, rarest terms first."""
_MAX_SEEDS = 12
"""The number of sentences from which passages are grown."""
_MIN_SENTENCE_GAIN = 0.06
"""The share of the claim that another sentence must add to become part of the passage."""
_SENTENCE_PENALTY = 0.02
_RAISED = f"[{SUPERSCRIPTS}]"
_ANCHOR_CHARACTERS = 24
"""A phrase of this length hardly occurs twice on a page."""
MAX_REMEMBERED = 4_000
"""Statements whose evidence a page remembers. A text is judged again after each edit, and most of it is the same."""

T = TypeVar("T")


class _Index(NamedTuple):
    """The sentences of a snapshot, and in which of them each term occurs."""

    starts: "array[int]"
    ends: "array[int]"
    occurrences: "dict[str, array[int]]"


class PageIndex:
    """A snapshot with an index of its terms, for comparing claims with it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.text = snapshot.text
        self._proper_names: dict[str, bool] = {}
        self._full_names: dict[str, bool] = {}
        self._evidence: dict[bytes, Any] = {}

    def remember(self, statement: str, find: "Callable[[str, PageIndex], T]") -> T:
        """What `find` returns for a statement and this page; it is called once for each statement. A page is compared
        with statements by one function alone."""
        key = hashlib.blake2b(statement.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._evidence.get(key)
        if found is None:
            found = find(statement, self)
            if len(self._evidence) >= MAX_REMEMBERED:
                self._evidence.clear()
            self._evidence[key] = found
        return found

    @cached_property
    def snapshot_id(self) -> str:
        return self.snapshot.id

    @cached_property
    def language(self) -> Language:
        return detect_language(self.text[:20_000])

    @cached_property
    def abbreviations(self) -> dict[str, str]:
        return find_abbreviations(self.text)

    @cached_property
    def _index(self) -> _Index:
        starts, ends = array("L"), array("L")
        for span in _split_sentences(self.text):
            starts.append(span.start)
            ends.append(span.end)
        occurrences: dict[str, array[int]] = {}
        at, last = 0, len(starts) - 1
        for term in terms(self.text):
            while at < last and term.start >= starts[at + 1]:
                at += 1
            key = key_of(term.text, self.language)
            found = occurrences.get(key)
            if found is None:
                occurrences[key] = array("L", (at,))
            elif found[-1] != at:
                found.append(at)
        return _Index(starts, ends, occurrences)

    def weight(self, key: str) -> float:
        """The weight of a term: the rarer on this page, the higher. One that does not occur weighs as one that does
        once."""
        index = self._index
        return math.log(1 + len(index.starts) / (max(1, len(index.occurrences.get(key, ()))) + 0.5))

    def has_term(self, key: str) -> bool:
        return key in self._index.occurrences

    def best_share(self, weights: Mapping[str, float]) -> float:
        """The largest share of the terms' weight in one sentence."""
        _, scores = self._sentences_with(weights)
        return max(scores.values(), default=0.0) / (sum(weights.values()) or 1.0)

    def is_proper_name(self, word: str) -> bool:
        """Whether the page has a word with a capital letter at a place where only a name has one."""
        known = self._proper_names.get(word)
        if known is None:
            known = self._proper_names[word] = self._has_proper_name(word)
        return known

    def _has_proper_name(self, word: str) -> bool:
        text, at = self.text, self.text.find(f" {word}")
        while at > 0:
            end = at + 1 + len(word)
            if text[at - 1].isalpha() and not text[end : end + 1].isalnum():
                return True
            at = text.find(f" {word}", end)
        return False

    def is_full_name(self, name: str, last: str) -> bool:
        """Whether the page has a name in full, and its last word in no other name: of two Kalings, neither is meant by
        `Kaling` alone."""
        known = self._full_names.get(name)
        if known is None:
            known = self._full_names[name] = self._has_full_name(name, last)
        return known

    def _has_full_name(self, name: str, last: str) -> bool:
        found = False
        at = self.text.find(f" {last}")
        while at >= 0:
            end = at + 1 + len(last)
            before = self.text[max(0, end - len(name) - 1) : at].rsplit(" ", 1)[-1]
            if not self.text[end : end + 1].isalnum() and before[:1].isupper():
                if not self.text.endswith(name, 0, end):
                    return False
                found = True
            at = self.text.find(f" {last}", end)
        return found

    def context_start(self, span: Span, sentence_count: int) -> int:
        """The offset at which the sentence begins that is so many sentences before a span."""
        starts = self._index.starts
        return starts[max(0, bisect_right(starts, span.start) - 1 - sentence_count)] if starts else 0

    def is_near(self, key: str, span: Span, *, before: int) -> bool:
        """Whether a term occurs in a span of the text, or at most so many sentences before it."""
        starts = self._index.starts
        first = max(0, bisect_right(starts, span.start) - 1 - before)
        last = bisect_right(starts, span.end) - 1
        return any(first <= at <= last for at in self._index.occurrences.get(key, ()))

    def sentence_count(self, span: Span) -> int:
        """The sentences of a span."""
        starts = self._index.starts
        return bisect_right(starts, span.end - 1) - bisect_right(starts, span.start) + 1

    def find_repeated(self, text: str) -> Span | None:
        """The place at which the page has a text word for word, by its beginning and its end; white space may
        differ."""
        head, tail = _anchor_words(text.split()), _anchor_words(text.split()[::-1])[::-1]
        first = next(find_phrase(head, self.text), None)
        if first is None:
            return None
        last = next(find_phrase(tail, self.text, first.start, first.start + len(text) + len(text) // 4), None)
        return self._whole_sentences(Span(first.start, last.end)) if last else None

    def _whole_sentences(self, span: Span) -> Span:
        index = self._index
        if not index.starts:
            return span
        first = max(0, bisect_right(index.starts, span.start) - 1)
        last = max(0, bisect_right(index.starts, span.end - 1) - 1)
        return Span(min(span.start, index.starts[first]), max(span.end, index.ends[last]))

    def passages(self, weights: Mapping[str, float], *, max_sentences: int, max_passages: int) -> list[Span]:
        """The passages of at most `max_sentences` with the largest share of the terms' weight, best first.

        The best single sentence is always among them.
        """
        index = self._index
        masks, scores = self._sentences_with(weights)
        seeds = heapq.nlargest(_MAX_SEEDS, scores, key=lambda at: (scores[at], -at))
        term_weights = [*weights.values()]
        windows: dict[tuple[int, int], float] = {}
        for at in seeds:
            for window, score in _grow_window(at, masks, term_weights, max_sentences):
                windows.setdefault(window, score)
        best = heapq.nlargest(max_passages, windows, key=lambda window: (windows[window], -window[0]))
        single = [(at, at) for at in seeds[:1] if (at, at) not in best]
        return [Span(index.starts[first], index.ends[last]) for first, last in [*best, *single]]

    def share_of_words(self, words: Collection[str], sentences: int) -> float:
        """The share of some terms that the best few sentences of the page have together."""
        masks, _ = self._sentences_with(dict.fromkeys(words, 1.0))
        found = 0
        for _ in range(sentences):
            found |= max(masks.values(), key=lambda mask: (mask & ~found).bit_count(), default=0)
        return found.bit_count() / (len(words) or 1)

    def _sentences_with(self, weights: Mapping[str, float]) -> tuple[dict[int, int], dict[int, float]]:
        """The sentences with any of the terms: by sentence, a bit for each term in it, and the weight of these
        terms."""
        occurrences = self._index.occurrences
        masks: dict[int, int] = {}
        scores: dict[int, float] = {}
        visits = 0
        for bit, key in sorted(enumerate(weights), key=lambda term: len(occurrences.get(term[1], ()))):
            places = occurrences.get(key, ())
            if visits and visits + len(places) > _MAX_VISITS:
                break
            visits += len(places)
            weight = weights[key]
            for at in places[:_MAX_VISITS]:
                masks[at] = masks.get(at, 0) | 1 << bit
                scores[at] = scores.get(at, 0.0) + weight
        return masks, scores


def find_phrase(words: Sequence[str], text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The places at which whole words follow each other, with any white space between. Chinese may adjoin them."""
    if not words or not all(word.rstrip(",;:.") in text for word in sorted(words, key=len, reverse=True)):
        return  # Most texts lack a word: looking for each costs less than compiling a pattern.
    pattern = re.compile(rf"{_RAISED}*\s+".join(map(_loose_pattern, words)))
    for found in pattern.finditer(text, start, len(text) if end is None else end):
        # Checked afterwards: a pattern that begins with a word is found a hundred times faster, and one without a large
        # set of characters is compiled ten times faster.
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        if (not before.isalnum() or before >= "\u3000") and _ends_words(after):
            yield Span(found.start(), found.end())


def _ends_words(following: str) -> bool:
    return not (following.isalnum() or following == "_") or following in SUPERSCRIPTS or following >= "\u3000"


def _loose_pattern(word: str) -> str:
    """A word as a pattern. Before punctuation a page may have white space or a reference mark that the claim has not
    (`--output .`, `in 2027³.`)."""
    if word[-1] in ",;:." and word[-2:-1].isalnum():
        return rf"{re.escape(word[:-1])}{_RAISED}*\s?{re.escape(word[-1])}"
    return re.escape(word)


def _grow_window(
    at: int, masks: Mapping[int, int], weights: list[float], max_sentences: int
) -> Iterator[tuple[tuple[int, int], float]]:
    """A sentence, then with the neighbour that adds more, and so on as long as that adds enough; each with its
    score."""
    total = sum(weights) or 1.0
    first = last = at
    mask = masks[at]
    score = _mask_weight(mask, weights) / total
    yield (first, last), score
    while last - first + 1 < max_sentences:
        left, right = mask | masks.get(first - 1, 0), mask | masks.get(last + 1, 0)
        with_left, with_right = _mask_weight(left, weights) / total, _mask_weight(right, weights) / total
        if max(with_left, with_right) - score < _MIN_SENTENCE_GAIN:
            return
        if with_left >= with_right:
            first, mask, score = first - 1, left, with_left
        else:
            last, mask, score = last + 1, right, with_right
        yield (first, last), score - _SENTENCE_PENALTY * (last - first)


def _anchor_words(words: list[str]) -> list[str]:
    """The first words, as many as hardly occur twice on a page."""
    for count in range(len(words)):
        if sum(map(len, words[:count])) >= _ANCHOR_CHARACTERS:
            return words[:count]
    return words


def _mask_weight(mask: int, weights: list[float]) -> float:
    return sum(weight for bit, weight in enumerate(weights) if mask >> bit & 1)


def _split_sentences(text: str) -> Iterator[Span]:
    for span in sentences(text):
        start = span.start
        while span.end - start > _MAX_SENTENCE_LENGTH:
            cut = (
                text.rfind(" ", start + _MAX_SENTENCE_LENGTH // 2, start + _MAX_SENTENCE_LENGTH) + 1
                or start + _MAX_SENTENCE_LENGTH
            )
            yield Span(start, cut)
            start = cut
        yield Span(start, span.end)


# Quotes --------------------------------------------------------------------------------------------------------------

_MAX_QUOTE_LENGTH = 400
_LINE_MARKS = re.compile(r"(?:[ \t]*(?:#{1,6}|>|[-*+•|]|\d{1,4}[.)])(?=[ \t|]))+[ \t|]*")
_TRAILING = " \t\n|"


def quote_passage(text: str, span: Span, matched: Sequence[Span], claim: str) -> Quote:
    """The quote of a passage: all of it, or, if it is long, the sentences or words around the matches.

    `matched` are the words that passage and claim share, in order. A long claim gets a long quote.
    """
    max_length = max(_MAX_QUOTE_LENGTH, len(claim) + len(claim) // 4)
    if span.end - span.start > max_length:
        span = extend_to_sentences(text, densest_window(matched, span, max_length), span, max_length)
    return trim_quote(text, span)


def trim_quote(text: str, span: Span) -> Quote:
    """A quote without the marks of headings, lists and tables around it."""
    marks = _LINE_MARKS.match(text, span.start, span.end)
    start = marks.end() if marks and marks.end() < span.end else span.start
    end = span.end
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    while start < end and text[start] in _TRAILING:
        start += 1
    return Quote(text[start:end], start, end)


# Shared pages --------------------------------------------------------------------------------------------------------


class PageIndexes:
    """The indexes of the pages that were used last, by the text of the page. What they remember depends on nothing but
    statement and text, so that users may share them."""

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._characters = 0
        self._pages: OrderedDict[str, PageIndex] = OrderedDict()
        self._lock = Lock()

    def index(self, snapshot: Snapshot) -> PageIndex:
        snapshot_id = snapshot.id
        with self._lock:  # several threads judge texts
            known = self._pages.get(snapshot_id)
            if known is not None:
                self._pages.move_to_end(snapshot_id)
                return known
            page = self._pages[snapshot_id] = PageIndex(snapshot)
            self._characters += len(page.text)
            while self._characters > self._max_characters and len(self._pages) > 1:
                _, oldest = self._pages.popitem(last=False)
                self._characters -= len(oldest.text)
            return page


# Word for word -------------------------------------------------------------------------------------------------------

MIN_VERBATIM_LETTERS = 12
"""Fewer letters than this occur on many pages by chance."""

_CONTEXT_CHARACTERS = 300
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CELL = re.compile(r"[|\t]")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_PART = re.compile(r"[,;]\s")
"""Not the comma of Chinese, which also separates `there is no evidence` from what there is none for."""
_SUBORDINATE_CLAUSE = re.compile(r"(?:that|whether|rằng)\b", re.IGNORECASE)
_COORDINATE_CLAUSE = re.compile(r"(?:and|but|or|và|nhưng|hoặc)\b", re.IGNORECASE)
_ATTACHING = frozenset(
    ("of", "in", "at", "for", "with", "about", "near", "against", "between", "behind", "của", "về", "gần")
)
_ALTERNATIVE = re.compile(r"\b(?:or|nor|hoặc|hay)\b(?!\s+(?:if|when|because|nếu|khi|vì)\b)", re.IGNORECASE)


def find_verbatim(claim: str, text: str) -> Quote | None:
    """The quote of a claim that a text has word for word. All white space is equal."""
    words = claim.split()
    if sum(map(len, words)) < MIN_VERBATIM_LETTERS:
        return None
    for found in find_phrase(words, text):
        before = _SENTENCE_END.split(text[max(0, found.start - _CONTEXT_CHARACTERS) : found.start])[-1]
        rest = _SENTENCE_END.split(text[found.start : found.end + _CONTEXT_CHARACTERS])[0]
        if not _is_negated(before, rest) and not _belongs_to_other(before):
            return trim_quote(text, found)
    return None


def _is_negated(before: str, rest: str) -> bool:
    """Whether a negation before the `rest` of a sentence applies to it: "it is not true that the earth is flat".

    A negation ends with its cell of a table, its brackets, and its part before a comma ("it never rained, the harvest
    was good"), unless the sentence continues that part ("he did not, however, win"; "do not smoke, drink or drive").
    """
    before = _CELL.split(before)[-1]
    while (without := _ASIDE.sub(" ", before)) != before:
        before = without
    *earlier, last = _PART.split(before)
    if negations(last, strict=True):
        return True
    following = (last + rest).lstrip()
    if _SUBORDINATE_CLAUSE.match(following) or _ALTERNATIVE.search(rest):
        return any(negations(part, strict=True) for part in earlier)
    return not _COORDINATE_CLAUSE.match(following) and any(map(_ends_with_negation, earlier))


def _belongs_to_other(before: str) -> bool:
    """Whether what stands before a clause makes its subject a part of another: `the population of Lund doubled`."""
    last = before.split()[-1:]
    return bool(last) and before[-1:].isspace() and last[0].casefold() in _ATTACHING


def _ends_with_negation(part: str) -> bool:
    return any(word.end == len(part.rstrip()) for word in negations(part, strict=True))
