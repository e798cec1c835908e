"""For a model: the sections of the pages that are to the point, as many as it has room for."""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct

from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Snapshot
from footnote.web_search.ranking.candidates import Candidates, find_candidates
from footnote.web_search.ranking.contrast import stated_facts
from footnote.web_search.ranking.prefilter import RankedPage, SectionPlace
from footnote.web_search.ranking.query import tokenize
from footnote.web_search.ranking.scoring import softmax
from footnote.web_search.ranking.sections import estimate_tokens

SAME_PAGE_PENALTY = 1.5
"""By how much, as the logarithm of a chance, a section must be better for each one that its page already has."""
MAX_DUPLICATE_SHARE = 0.7
"""A section of which so much stands in those before it is left out."""
SHINGLE_WORDS = 4
"""Words in a row that are taken for the same text."""


class RankedPassages(Struct, frozen=True):
    """`found` sections were weighed; `passages` fitted into the room, the best first. `paths` are the headings above
    each of them, the outermost first."""

    section_count: int
    passages: tuple[Passage, ...]
    paths: tuple[tuple[str, ...], ...] = ()


def rank_passages(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, max_tokens: int) -> RankedPassages:
    """What fits into `tokens`. One page that fits is left whole; of several, what has nothing to do with the question
    is left out, but for the beginning of each page."""
    seen = find_candidates(snapshots, query, prompt)
    places = list(_interleave_pages(_section_values(seen)))
    whole = len(seen.pages) == 1 and sum(_token_count(seen, place) for place in places) <= max_tokens
    kept = places if whole else list(_select_fitting(seen, places, max_tokens))
    chances = _section_probabilities(seen)
    return RankedPassages(
        section_count=len(seen.section_scores),
        passages=tuple(_to_passage(seen.pages[place.page], place, chances.get(place, 0.0)) for place in kept),
        paths=tuple(seen.pages[place.page].sections[place.section].path for place in kept),
    )


def _section_probabilities(candidates: Candidates) -> dict[SectionPlace, float]:
    chances: dict[SectionPlace, float] = {}
    for sentence, chance in zip(candidates.sentences, softmax(candidates.scores), strict=True):
        place = candidates.close_sections[sentence.section]
        chances[place] = chances.get(place, 0.0) + chance
    return chances


def _section_values(candidates: Candidates) -> dict[SectionPlace, float]:
    """How good a section is, as the logarithm of a chance. Below those that were looked at closely come those that have
    some of the words at all, then the first of each page and, of a single page, all others."""
    values = {
        place: math.log(chance) if chance > 0 else -700.0
        for place, chance in _section_probabilities(candidates).items()
    }
    floor = min(values.values(), default=0.0)
    most = max(candidates.section_scores.values(), default=0.0) or 1.0
    for place, found in candidates.section_scores.items():
        if place not in values and found:
            values[place] = floor - 2 + found / most
        elif place not in values and (
            place.section == 0 or len(candidates.pages) == 1 or not candidates.close_sections
        ):
            values[place] = floor - 4
    return values


def _interleave_pages(values: Mapping[SectionPlace, float]) -> Iterator[SectionPlace]:
    """The best first; a page that had its turn must be better by some to have it again."""
    waiting: dict[int, list[SectionPlace]] = {}
    for place in sorted(values, key=lambda place: (values[place], -place.section)):
        waiting.setdefault(place.page, []).append(place)
    taken = dict.fromkeys(waiting, 0)
    while waiting:
        page = max(waiting, key=lambda page: (values[waiting[page][-1]] - SAME_PAGE_PENALTY * taken[page], -page))
        yield waiting[page].pop()
        taken[page] += 1
        if not waiting[page]:
            del waiting[page]


def _select_fitting(candidates: Candidates, places: list[SectionPlace], max_tokens: int) -> Iterator[SectionPlace]:
    known: set[tuple[str, ...]] = set()
    kept: list[tuple[set[tuple[str, ...]], SectionPlace]] = []
    for place in places:
        if (weight := _token_count(candidates, place)) > max_tokens:
            continue
        shingles = _shingles(candidates, place)
        if len(shingles & known) > MAX_DUPLICATE_SHARE * len(shingles):
            nearest = max(kept, key=lambda one: len(shingles & one[0]))[1]
            if not stated_facts(_section_text(candidates, place)).contradict(
                stated_facts(_section_text(candidates, nearest))
            ):
                continue
        known |= shingles
        kept.append((shingles, place))
        max_tokens -= weight
        yield place


def _section_text(candidates: Candidates, place: SectionPlace) -> str:
    page = candidates.pages[place.page]
    section = page.sections[place.section]
    return page.text[section.start : section.end]


def _shingles(candidates: Candidates, place: SectionPlace) -> set[tuple[str, ...]]:
    page = candidates.pages[place.page]
    section = page.sections[place.section]
    said = tokenize(page.normalized[section.start : section.end])
    return set(zip(*(said[at:] for at in range(SHINGLE_WORDS)), strict=False)) or {tuple(said)}


def _token_count(candidates: Candidates, place: SectionPlace) -> int:
    return estimate_tokens(_section_text(candidates, place))


def _to_passage(page: RankedPage, place: SectionPlace, probability: float) -> Passage:
    section = page.sections[place.section]
    text = page.text[section.start : section.end]
    return Passage(number=page.number, text=text, start=section.start, end=section.end, score=round(probability, 4))
