"""What belongs to a question, by the words that are rare on the pages of a run. Pure.

A model says in its own words what answers a question. Quotations that were chosen by rule may come from a page that has
nothing to do with it, and share no more than a common word.
"""

import math
from collections.abc import Iterable
from operator import itemgetter

from footnote.evidence.sources import Sources
from footnote.evidence.tokens import key_of
from footnote.research.findings import Finding, plain_statement
from footnote.text.languages import Language, detect_language
from footnote.text.search_terms import content_terms

MIN_RELEVANCE = 0.38
"""The share of a question, each word weighed by its rarity, that a quotation has together with the title of its
page."""


class Relevance:
    """For the findings of one run."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._pages = [page for number in sources.numbers for page in sources.pages(number)[:1]]

    def select(self, question: str, findings: Iterable[Finding], max_count: int) -> list[Finding]:
        """The most relevant findings, in the order in which they came."""
        language = detect_language(question)
        weights = self._weights(_keys(question, language))
        rated = [(self._share(finding, weights, language), finding) for finding in findings]
        best = sorted((one for one in rated if one[0] >= MIN_RELEVANCE), key=itemgetter(0), reverse=True)[:max_count]
        return [finding for share, finding in rated if (share, finding) in best]

    def _weights(self, asked: Iterable[str]) -> dict[str, float]:
        """The rarer a word is, the more it tells. One that is on no page may be the subject, or another word for it,
        and weighs as the others do on average."""
        counts = {key: sum(page.has_term(key) for page in self._pages) for key in asked}
        known = {key: math.log(1 + len(self._pages) / pages) for key, pages in counts.items() if pages}
        average = sum(known.values()) / len(known) if known else 1.0
        return {key: known.get(key, average) for key in counts}

    def _share(self, finding: Finding, weights: dict[str, float], language: Language) -> float:
        total = sum(weights.values())
        if not total:
            return 1.0
        said = _keys(plain_statement(finding), language)
        titles = (self._sources.source(one.number) for one in finding.citations)
        titled = {key for source in titles if source for key in _keys(source.title, language)}
        # A quotation that has no more of the question than its title says nothing about it.
        if not (said - titled) & weights.keys():
            return 0.0
        return sum(weight for key, weight in weights.items() if key in said | titled) / total


def _keys(text: str, language: Language) -> set[str]:
    return {key_of(term.text, language) for term in content_terms(text)}
