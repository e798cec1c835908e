"""Pages against a question: what was found in them, and how likely each sentence is to hold the answer."""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from footnote.language.letters import comparable
from footnote.protocol.sources import Snapshot
from footnote.web_search.rank.eye import Eye
from footnote.web_search.rank.query import Query, understand
from footnote.web_search.rank.sections import Section, sections, sentences_of
from footnote.web_search.rank.skim import Page, Place, skim
from footnote.web_search.rank.spelling import respelled
from footnote.web_search.rank.weigh import Sentence, weigh

CLOSE_SECTIONS = 32
"""Sections that are looked at sentence by sentence; of long pages, those that have most of what is looked for."""


class Survey(Struct, frozen=True):
    """`close` are the places that were looked at closely, in the order of the pages; a sentence's section is an index
    of it. `scores` belong to the sentences; without a word of the query anywhere there are none of either."""

    query: Query
    eye: Eye
    pages: tuple[Page, ...]
    found: dict[Place, float]
    close: tuple[Place, ...]
    sentences: tuple[Sentence, ...]
    scores: tuple[float, ...]


def survey(snapshots: Mapping[int, Snapshot], query: str, prompt: str) -> Survey:
    asked = understand(query, prompt)
    pages = tuple(_page(number, snapshot.text, asked) for number, snapshot in snapshots.items())
    skimmed = skim(pages, asked)
    if skimmed.missing and (corrected := respelled(asked, pages, skimmed.missing)):
        asked, skimmed = corrected, skim(pages, corrected)
    found, eye = skimmed.found, Eye(asked)
    close = _closest(found)
    seen: list[Sentence] = []
    above: list[int] = []
    for at, place in enumerate(close):
        page = pages[place.page]
        section = page.sections[place.section]
        above.append(eye.words("\n".join(section.path)))
        spans = (span for block in section.blocks for span in sentences_of(page.text, block))
        seen += [Sentence(place.page, at, eye.read(page, span)) for span in spans]
    return Survey(asked, eye, pages, found, close, tuple(seen), tuple(weigh(seen, above, asked)))


def _page(number: int, text: str, query: Query) -> Page:
    return Page(number, text, *_taken_apart(text, marked=query.marked))


@lru_cache(maxsize=10)  # the pages of a search, which are looked at for quotations and for passages
def _taken_apart(text: str, *, marked: bool) -> tuple[str, tuple[Section, ...]]:
    return comparable(text, marked=marked), tuple(sections(text))


def _closest(found: dict[Place, float]) -> tuple[Place, ...]:
    best = sorted((place for place in found if found[place]), key=lambda place: -found[place])
    return tuple(sorted(best[:CLOSE_SECTIONS]))
