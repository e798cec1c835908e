"""Pages against a question: what was found in them, and how likely each sentence is to hold the answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from footnote.protocol.sources import Snapshot
from footnote.text.letters import normalize
from footnote.text.terms import COMBINING_MARKS
from footnote.web_search.ranking.matching import Matcher
from footnote.web_search.ranking.prefilter import RankedPage, SectionPlace, prefilter
from footnote.web_search.ranking.query import Query, key_of, parse_query
from footnote.web_search.ranking.scoring import ScoredSentence, score_sentences
from footnote.web_search.ranking.sections import PageSection, split_sections, split_sentences

MIN_LETTERS = 5
"""Shorter words have too many others beside them."""
MIN_LETTERS_FOR_TWO_ERRORS = 9
"""From here on a second error is forgiven."""
MAX_CANDIDATES = 4_000
"""Different words of the pages that are compared with one of the query."""

_LETTERS = re.compile(rf"(?:[^\W\d_]|[{COMBINING_MARKS}])++")
"""With the marks that are vowels in Hindi and Arabic."""


def correct_spelling(query: Query, pages: Sequence[RankedPage], missing: Iterable[str]) -> Query | None:
    """The query with the spellings of the pages for its `missing` words; None if there are no such."""
    others: dict[str, int] = {}
    for key in missing:
        if len(key) >= MIN_LETTERS and _LETTERS.fullmatch(key):
            others |= dict.fromkeys(_spellings(key, pages), query.word_bits[key])
    return replace(query, word_bits={**others, **query.word_bits}) if others else None


def _spellings(key: str, pages: Sequence[RankedPage]) -> Iterable[str]:
    """Nobody mistypes the first letter, or hardly anybody: only words that begin with it are looked at."""
    errors = 2 if len(key) >= MIN_LETTERS_FOR_TWO_ERRORS else 1
    counts = f"{len(key) - errors - 1},{len(key) + errors + 2}"
    like = re.compile(rf"(?<![\w{COMBINING_MARKS}]){key[0]}[\w{COMBINING_MARKS}]{{{counts}}}(?![\w{COMBINING_MARKS}])")
    candidates: set[str] = set()
    for page in pages:
        candidates.update(like.findall(page.normalized))
        if len(candidates) > MAX_CANDIDATES:
            break
    keys = {key_of(word) for word in candidates}
    return [
        other for other in keys if abs(len(other) - len(key)) <= errors and _edit_distance(key, other, errors) <= errors
    ]


def _edit_distance(one: str, other: str, max_distance: int) -> int:
    """How many letters are wrong, missing, too many or swapped with their neighbour; above `most` it only says more."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > max_distance:
            return max_distance + 1
        before_last, last = last, current
    return last[-1]


MAX_CLOSE_SECTIONS = 32
"""Sections that are looked at sentence by sentence; of long pages, those that have most of what is looked for."""


class Candidates(Struct, frozen=True):
    """`close` are the places that were looked at closely, in the order of the pages; a sentence's section is an index
    of it. `scores` belong to the sentences; without a word of the query anywhere there are none of either."""

    query: Query
    matcher: Matcher
    pages: tuple[RankedPage, ...]
    section_scores: dict[SectionPlace, float]
    close_sections: tuple[SectionPlace, ...]
    sentences: tuple[ScoredSentence, ...]
    scores: tuple[float, ...]


def find_candidates(snapshots: Mapping[int, Snapshot], query: str, prompt: str) -> Candidates:
    asked = parse_query(query, prompt)
    pages = tuple(_ranked_page(number, snapshot.text, asked) for number, snapshot in snapshots.items())
    skimmed = prefilter(pages, asked)
    if skimmed.missing_words and (corrected := correct_spelling(asked, pages, skimmed.missing_words)):
        asked, skimmed = corrected, prefilter(pages, corrected)
    found, eye = skimmed.scores, Matcher(asked)
    close = _close_sections(found)
    seen: list[ScoredSentence] = []
    above: list[int] = []
    for at, place in enumerate(close):
        page = pages[place.page]
        section = page.sections[place.section]
        above.append(eye.match_words("\n".join(section.path)))
        spans = (span for block in section.blocks for span in split_sentences(page.text, block))
        seen += [ScoredSentence(place.page, at, eye.match(page, span)) for span in spans]
    return Candidates(asked, eye, pages, found, close, tuple(seen), tuple(score_sentences(seen, above, asked)))


def _ranked_page(number: int, text: str, query: Query) -> RankedPage:
    return RankedPage(number, text, *_split_page(text, marked=query.keep_diacritics))


@lru_cache(maxsize=10)  # the pages of a search, which are looked at for quotations and for passages
def _split_page(text: str, *, marked: bool) -> tuple[str, tuple[PageSection, ...]]:
    return normalize(text, keep_diacritics=marked), tuple(split_sections(text))


def _close_sections(found: dict[SectionPlace, float]) -> tuple[SectionPlace, ...]:
    best = sorted((place for place in found if found[place]), key=lambda place: -found[place])
    return tuple(sorted(best[:MAX_CLOSE_SECTIONS]))
