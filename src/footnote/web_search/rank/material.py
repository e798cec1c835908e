"""For a model: the sections of the pages that are to the point, as many as it has room for."""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct

from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Snapshot
from footnote.web_search.rank.dissent import facts
from footnote.web_search.rank.query import words
from footnote.web_search.rank.sections import size
from footnote.web_search.rank.skim import Page, Place
from footnote.web_search.rank.survey import Survey, survey
from footnote.web_search.rank.weigh import softmax

SAME_SOURCE = 1.5
"""By how much, as the logarithm of a chance, a section must be better for each one that its page already has."""
SAID_BEFORE = 0.7
"""A section of which so much stands in those before it is left out."""
SHINGLE = 4
"""Words in a row that are taken for the same text."""


class Ranked(Struct, frozen=True):
    """`found` sections were weighed; `passages` fitted into the room, the best first. `paths` are the headings above
    each of them, the outermost first."""

    found: int
    passages: tuple[Passage, ...]
    paths: tuple[tuple[str, ...], ...] = ()


def passages(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, tokens: int) -> Ranked:
    """What fits into `tokens`. One page that fits is left whole; of several, what has nothing to do with the question
    is left out, but for the beginning of each page."""
    seen = survey(snapshots, query, prompt)
    places = list(_in_turn(_values(seen)))
    whole = len(seen.pages) == 1 and sum(_size(seen, place) for place in places) <= tokens
    kept = places if whole else list(_fitting(seen, places, tokens))
    chances = _chances(seen)
    return Ranked(
        found=len(seen.found),
        passages=tuple(_passage(seen.pages[place.page], place, chances.get(place, 0.0)) for place in kept),
        paths=tuple(seen.pages[place.page].sections[place.section].path for place in kept),
    )


def _chances(seen: Survey) -> dict[Place, float]:
    chances: dict[Place, float] = {}
    for sentence, chance in zip(seen.sentences, softmax(seen.scores), strict=True):
        place = seen.close[sentence.section]
        chances[place] = chances.get(place, 0.0) + chance
    return chances


def _values(seen: Survey) -> dict[Place, float]:
    """How good a section is, as the logarithm of a chance. Below those that were looked at closely come those that have
    some of the words at all, then the first of each page and, of a single page, all others."""
    values = {place: math.log(chance) if chance > 0 else -700.0 for place, chance in _chances(seen).items()}
    floor = min(values.values(), default=0.0)
    most = max(seen.found.values(), default=0.0) or 1.0
    for place, found in seen.found.items():
        if place not in values and found:
            values[place] = floor - 2 + found / most
        elif place not in values and (place.section == 0 or len(seen.pages) == 1 or not seen.close):
            values[place] = floor - 4
    return values


def _in_turn(values: Mapping[Place, float]) -> Iterator[Place]:
    """The best first; a page that had its turn must be better by some to have it again."""
    waiting: dict[int, list[Place]] = {}
    for place in sorted(values, key=lambda place: (values[place], -place.section)):
        waiting.setdefault(place.page, []).append(place)
    taken = dict.fromkeys(waiting, 0)
    while waiting:
        page = max(waiting, key=lambda page: (values[waiting[page][-1]] - SAME_SOURCE * taken[page], -page))
        yield waiting[page].pop()
        taken[page] += 1
        if not waiting[page]:
            del waiting[page]


def _fitting(seen: Survey, places: list[Place], tokens: int) -> Iterator[Place]:
    known: set[tuple[str, ...]] = set()
    kept: list[tuple[set[tuple[str, ...]], Place]] = []
    for place in places:
        if (weight := _size(seen, place)) > tokens:
            continue
        shingles = _shingles(seen, place)
        if len(shingles & known) > SAID_BEFORE * len(shingles):
            nearest = max(kept, key=lambda one: len(shingles & one[0]))[1]
            if not facts(_text(seen, place)).contradict(facts(_text(seen, nearest))):
                continue
        known |= shingles
        kept.append((shingles, place))
        tokens -= weight
        yield place


def _text(seen: Survey, place: Place) -> str:
    page = seen.pages[place.page]
    section = page.sections[place.section]
    return page.text[section.start : section.end]


def _shingles(seen: Survey, place: Place) -> set[tuple[str, ...]]:
    page = seen.pages[place.page]
    section = page.sections[place.section]
    said = words(page.plain[section.start : section.end])
    return set(zip(*(said[at:] for at in range(SHINGLE)), strict=False)) or {tuple(said)}


def _size(seen: Survey, place: Place) -> int:
    return size(_text(seen, place))


def _passage(page: Page, place: Place, chance: float) -> Passage:
    section = page.sections[place.section]
    text = page.text[section.start : section.end]
    return Passage(number=page.number, text=text, start=section.start, end=section.end, score=round(chance, 4))
