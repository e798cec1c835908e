"""Finds the source of a session that supports a statement without a footnote.

A statement is compared with the few pages that have most of its words. The rarer a word is among the pages, the more
it counts, so that the cost of a statement does not grow with the length of the pages.
"""

import heapq
import math
from collections.abc import Collection, Mapping, Sequence

from footnote.evidence.page_index import PageIndex
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import key_of
from footnote.evidence.verdict import Evidence, find_evidence
from footnote.text.languages import Language
from footnote.text.stop_words import CLAIM_STOP_WORDS
from footnote.text.terms import terms

_MAX_RANKED = 6
"""How many pages, by their words, are searched for a sentence that has them together."""
_MAX_COMPARED = 2
_MIN_PAGE_SHARE = 0.66
_MIN_SENTENCE_SHARE = 0.3
"""The share of a statement, by the weight of its words, that a page and one of its sentences must have."""
_MAX_LENGTH = 800
MAX_COMPARISONS = 1_000
"""Limit for one text. It is a count and not a time, so that the same text always gets the same suggestions."""


class SuggestionFinder:
    """One per text."""

    def __init__(self, sources: Sources, *, by_address: bool = False) -> None:
        """Of pages that have as many words, the first is chosen: by number or, so that the order in which pages were
        found makes no difference, by address."""
        self._pages = [(number, page) for number in sources.numbers for page in sources.pages(number)]
        if by_address:
            self._pages.sort(key=lambda one: (one[1].snapshot.url, one[1].snapshot_id))
        self._languages: tuple[Language, ...] = tuple(dict.fromkeys(page.language for _, page in self._pages))
        self._comparisons_left = MAX_COMPARISONS

    def find(self, text: str, preferred: Sequence[int] = ()) -> tuple[int, Evidence] | None:
        """The number of the source that supports a statement, with the evidence. `preferred` sources come first."""
        for number, page in self.pages_about(text, preferred):
            if self._comparisons_left == 0:
                return None
            self._comparisons_left -= 1
            evidence = find_evidence(text, page)
            if evidence.verdict == "supported":
                return number, evidence
        return None

    def pages_about(
        self, text: str, preferred: Sequence[int] = (), *, excluded: Collection[int] = (), count: int = _MAX_COMPARED
    ) -> list[tuple[int, PageIndex]]:
        """The few pages that have most of the words of a statement, with the numbers of their sources."""
        if len(text) > _MAX_LENGTH or not self._pages:
            return []
        by_language = {language: self._weights(text, language) for language in self._languages}
        shares: dict[int, float] = {}
        for at, (number, page) in enumerate(self._pages):
            if number in excluded:
                continue
            weights = by_language[page.language]
            share = sum(weight for key, weight in weights.items() if page.has_term(key))
            if share >= _MIN_PAGE_SHARE * sum(weights.values()) > 0:
                shares[at] = share
        ranked = heapq.nsmallest(max(_MAX_RANKED, count), shares, key=lambda at: (-shares[at], at))
        best = {at: self._pages[at][1].best_share(by_language[self._pages[at][1].language]) for at in ranked}
        chosen = heapq.nsmallest(
            count,
            (at for at in ranked if best[at] >= _MIN_SENTENCE_SHARE),
            key=lambda at: (self._pages[at][0] not in preferred, -best[at], at),
        )
        return [self._pages[at] for at in chosen]

    def _weights(self, text: str, language: Language) -> Mapping[str, float]:
        """The terms of a statement, as pages in one language have them, weighed by how few of the pages do."""
        stop_words = CLAIM_STOP_WORDS["vi" if language == "vi" else "en"]
        keys = dict.fromkeys(key_of(term.text, language) for term in terms(text) if term.text not in stop_words)
        pages = [page for _, page in self._pages]
        return {key: math.log(1 + len(pages) / (0.5 + sum(page.has_term(key) for page in pages))) for key in keys}
