"""Passages of pages, ranked against a question: sections for a model to read, short quotations for people.

The quotations are chosen so that together they contain the answer with the highest probability. Where pages contradict
each other in what would be quoted, each side gets a quotation of its own.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from footnote.protocol.sources import Passage, Snapshot
from footnote.text.excerpt import split_at_spaces
from footnote.text.question import tokenize
from footnote.text.sentences import Span, clauses
from footnote.text.terms import has_unspaced, is_unspaced
from footnote.web_search.ranking.candidates import Candidates, find_candidates
from footnote.web_search.ranking.conflicts import ConflictSide, ContradictingSides, resolve_conflicts, stated_facts
from footnote.web_search.ranking.scoring import score_parts, softmax
from footnote.web_search.ranking.sections import RankedPage, SectionPlace, estimate_tokens, split_sentences

SAME_PAGE_PENALTY = 1.5
"""How much better, as the logarithm of a probability, a section must be for each section that its page already has."""
MAX_DUPLICATE_SHARE = 0.7
"""A section that repeats more than this share of the sections before it is left out."""
SHINGLE_WORDS = 4
"""The number of words in a row that count as the same text."""


class RankedPassages(Struct, frozen=True):
    """`section_count` sections were ranked; `passages` fit into the token limit, the best first."""

    section_count: int
    passages: tuple[Passage, ...]


def rank_passages(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, max_tokens: int) -> RankedPassages:
    """The sections that fit. A single page that fits is returned whole; of several pages, sections without a word of
    the question are left out, except for the first section of each page."""
    candidates = find_candidates(snapshots, query, prompt)
    probabilities = _section_probabilities(candidates)
    places = list(_interleave_pages(_section_values(candidates, probabilities)))
    is_whole = len(candidates.pages) == 1 and sum(_token_count(candidates, place) for place in places) <= max_tokens
    selected = places if is_whole else _select_fitting(candidates, places, max_tokens)
    return RankedPassages(
        section_count=len(candidates.section_scores),
        passages=tuple(
            _make_passage(candidates.pages[place.page], _section_span(candidates, place), probabilities.get(place, 0.0))
            for place in selected
        ),
    )


def select_within(passages: Iterable[Passage], max_tokens: int) -> Iterator[Passage]:
    """The passages that fit into `max_tokens` together, in their order."""
    for passage in passages:
        if (tokens := estimate_tokens(passage.text)) <= max_tokens:
            max_tokens -= tokens
            yield passage


def select_with(passages: Sequence[Passage], quotes: Sequence[Passage], max_tokens: int) -> list[Passage]:
    """The passages that fit, in their order, with all of some quotations: with the passage that contains one, or the
    quotation itself where that is too long or was left out. A limit that is too low for them is for the best passages
    alone."""
    needed = [_shortest_holder(passages, quote, max_tokens // len(quotes)) for quote in quotes]
    left = max_tokens - sum(estimate_tokens(passage.text) for passage in {id(one): one for one in needed}.values())
    if left < 0 or not needed:
        return list(select_within(passages, max_tokens))
    others = select_within((passage for passage in passages if passage not in needed), left)
    chosen = [*needed, *others]
    return [
        *(passage for passage in passages if passage in chosen),
        *dict.fromkeys(passage for passage in needed if passage not in passages),
    ]


def _shortest_holder(passages: Iterable[Passage], quote: Passage, max_tokens: int) -> Passage:
    holders = (
        passage
        for passage in passages
        if passage.number == quote.number
        and passage.start <= quote.start
        and quote.end <= passage.end
        and estimate_tokens(passage.text) <= max_tokens
    )
    return next(holders, quote)


def _section_probabilities(candidates: Candidates) -> dict[SectionPlace, float]:
    probabilities: dict[SectionPlace, float] = {}
    for sentence, probability in zip(candidates.sentences, softmax(candidates.scores), strict=True):
        place = candidates.close_sections[sentence.section]
        probabilities[place] = probabilities.get(place, 0.0) + probability
    return probabilities


def _section_values(candidates: Candidates, probabilities: Mapping[SectionPlace, float]) -> dict[SectionPlace, float]:
    """The value of a section, as the logarithm of a probability. Sections that were read sentence by sentence come
    first, then those with some words of the question, then the first of each page and, of a single page, all others."""
    values = {
        place: math.log(probability) if probability > 0 else -700.0 for place, probability in probabilities.items()
    }
    floor = min(values.values(), default=0.0)
    highest = max(candidates.section_scores.values(), default=0.0) or 1.0
    for place, score in candidates.section_scores.items():
        if place not in values and score:
            values[place] = floor - 2 + score / highest
        elif place not in values and (
            place.section == 0 or len(candidates.pages) == 1 or not candidates.close_sections
        ):
            values[place] = floor - 4
    return values


def _interleave_pages(values: Mapping[SectionPlace, float]) -> Iterator[SectionPlace]:
    """The best first, with a penalty for each section that the page already has."""
    waiting: dict[int, list[SectionPlace]] = {}
    for place in sorted(values, key=lambda place: (values[place], -place.section)):
        waiting.setdefault(place.page, []).append(place)
    counts = dict.fromkeys(waiting, 0)
    while waiting:
        page = max(waiting, key=lambda page: (values[waiting[page][-1]] - SAME_PAGE_PENALTY * counts[page], -page))
        yield waiting[page].pop()
        counts[page] += 1
        if not waiting[page]:
            del waiting[page]


def _select_fitting(candidates: Candidates, places: list[SectionPlace], max_tokens: int) -> Iterator[SectionPlace]:
    """Leaves out what repeats earlier sections, unless it contradicts the one that it resembles most."""
    known: set[tuple[str, ...]] = set()
    selected: list[tuple[set[tuple[str, ...]], SectionPlace]] = []
    for place in places:
        if (tokens := _token_count(candidates, place)) > max_tokens:
            continue
        shingles = _shingles(candidates, place)
        if len(shingles & known) > MAX_DUPLICATE_SHARE * len(shingles):
            nearest = max(selected, key=lambda one: len(shingles & one[0]))[1]
            facts, nearest_facts = (stated_facts(_section_text(candidates, one)) for one in (place, nearest))
            if not facts.contradict(nearest_facts):
                continue
        known |= shingles
        selected.append((shingles, place))
        max_tokens -= tokens
        yield place


def _section_span(candidates: Candidates, place: SectionPlace) -> Span:
    section = candidates.pages[place.page].sections[place.section]
    return Span(section.start, section.end)


def _section_text(candidates: Candidates, place: SectionPlace) -> str:
    span = _section_span(candidates, place)
    return candidates.pages[place.page].text[span.start : span.end]


def _shingles(candidates: Candidates, place: SectionPlace) -> set[tuple[str, ...]]:
    span = _section_span(candidates, place)
    words = tokenize(candidates.pages[place.page].normalized[span.start : span.end])
    return set(zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)) or {tuple(words)}


def _token_count(candidates: Candidates, place: SectionPlace) -> int:
    return estimate_tokens(_section_text(candidates, place))


def _make_passage(page: RankedPage, span: Span, probability: float) -> Passage:
    text = page.text[span.start : span.end]
    return Passage(number=page.number, text=text, start=span.start, end=span.end, score=round(probability, 4))


# Quotations ----------------------------------------------------------------------------------------------------------

MAX_CHARACTERS = 600
"""The limit for the characters of all quotations together."""
MAX_CHARACTERS_UNSPACED = 250
"""The same in Chinese and similar scripts, in which a character says more."""
LONG_SENTENCE = 160
"""A longer sentence may be quoted in part."""
MIN_PART_LENGTH, MAX_PART_LENGTH = 20, 200
TOP_SENTENCES = 12
"""The number of sentences, and of their parts, that a quotation may begin or end with."""
MAX_RUNS = 40
UNLIKELY_CONFLICT_SHARE = 0.6
"""The share of the limit for contradicting sentences that are hardly the answer."""


class _QuotePart(Struct, frozen=True, gc=False):
    """A sentence, or a part of a long one, and the probability that it contains the answer. `section` and `sentence`
    are indexes. `cost_per_character` says how much of `MAX_CHARACTERS` a character takes."""

    section: int
    sentence: int
    span: Span
    probability: float
    cost_per_character: float


class _SentenceRun(Struct, frozen=True, gc=False):
    """Neighbouring parts that make one quotation, by the indexes of the first and the last."""

    first: int
    last: int
    probability: float
    cost: float


class RankedQuotes(Struct, frozen=True):
    """The quotations, the likeliest first, each a literal part of its snapshot. `conflicts`: the indexes of those that
    contradict each other."""

    passages: tuple[Passage, ...] = ()
    conflicts: tuple[int, ...] = ()


def select_quotes(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, max_quotes: int = 3) -> RankedQuotes:
    """A quotation is a sentence, several neighbouring ones, or the relevant part of a long one."""
    candidates = find_candidates(snapshots, query, prompt)
    unspaced = has_unspaced(prompt) or has_unspaced(query)
    if not candidates.sentences:
        return RankedQuotes(tuple(_page_openings(candidates.pages, max_quotes, unspaced=unspaced)))
    resolution = resolve_conflicts(
        candidates, softmax(candidates.scores), top_count=TOP_SENTENCES, max_sides=max_quotes
    )
    parts = list(_split_parts(candidates, resolution.probabilities, resolution.conflict, unspaced=unspaced))
    sides = _side_runs(parts, resolution.conflict)
    chosen = _choose_runs(_candidate_runs(parts), sides, max_quotes)
    runs = list(_extend_to_sentences(parts, _order_runs(chosen, sides)))
    conflicts = tuple(
        index for index, run in enumerate(runs) if any(run.first <= side.first <= run.last for side in sides)
    )
    return RankedQuotes(tuple(_quote_passage(candidates, parts, run) for run in runs), conflicts)


def _page_openings(pages: Sequence[RankedPage], count: int, *, unspaced: bool) -> Iterator[Passage]:
    """The beginnings of the pages, for a question none of whose words is on any page."""
    for page in [page for page in pages if page.sections][:count]:
        block = page.sections[0].blocks[0]
        cost = _cost_per_character(page.text[block.start : block.end], unspaced=unspaced)
        sentence = next(split_sentences(page.text, block))
        span = next(split_at_spaces(page.text, sentence, int(MAX_CHARACTERS / cost / count)))
        yield Passage(number=page.number, text=page.text[span.start : span.end], start=span.start, end=span.end)


def _cost_per_character(text: str, *, unspaced: bool) -> float:
    return MAX_CHARACTERS / MAX_CHARACTERS_UNSPACED if unspaced or is_unspaced(text) else 1.0


def _split_parts(
    candidates: Candidates, probabilities: Sequence[float], conflict: ContradictingSides | None, *, unspaced: bool
) -> Iterator[_QuotePart]:
    """All sentences of those sections that have one of the likeliest, in order; long sentences in parts."""
    likeliest = sorted(range(len(probabilities)), key=lambda index: -probabilities[index])[:TOP_SENTENCES]
    needed = [*likeliest, *(side.sentence for side in conflict.sides)] if conflict else likeliest
    costs = {
        section: _cost_per_character(_section_text(candidates, candidates.close_sections[section]), unspaced=unspaced)
        for section in {candidates.sentences[index].section for index in needed}
    }
    for index, sentence in enumerate(candidates.sentences):
        if (cost := costs.get(sentence.section)) is None:
            continue
        page, span = candidates.pages[sentence.page], sentence.piece.span
        spans = list(_split_sentence(page.text, span, cost))
        pieces = [candidates.matcher.match(page, one) for one in spans] if len(spans) > 1 else [sentence.piece]
        for one, share in zip(spans, softmax(score_parts(pieces, candidates.query)), strict=True):
            yield _QuotePart(sentence.section, index, one, probabilities[index] * share, cost)


def _split_sentence(text: str, span: Span, cost_per_character: float) -> Iterator[Span]:
    if (span.end - span.start) * cost_per_character <= LONG_SENTENCE:
        yield span
        return
    for clause in clauses(text, span.start, span.end, min_length=round(MIN_PART_LENGTH / cost_per_character)):
        yield from split_at_spaces(text, clause, round(MAX_PART_LENGTH / cost_per_character))


def _quote_passage(candidates: Candidates, parts: Sequence[_QuotePart], run: _SentenceRun) -> Passage:
    page = candidates.pages[candidates.close_sections[parts[run.first].section].page]
    return _make_passage(page, Span(parts[run.first].span.start, parts[run.last].span.end), run.probability)


# Runs of parts -------------------------------------------------------------------------------------------------------


def _candidate_runs(parts: Sequence[_QuotePart]) -> list[_SentenceRun]:
    """The runs that could be quoted, the likeliest first."""
    total = [0.0, *accumulate(part.probability for part in parts)]
    ends = sorted(sorted(range(len(parts)), key=lambda index: -parts[index].probability)[:TOP_SENTENCES])
    runs = [
        _make_run(parts, first, last, total[last + 1] - total[first])
        for first in ends
        for last in ends
        if first <= last and parts[first].section == parts[last].section
    ]
    fitting = sorted(
        (run for run in runs if run.cost <= MAX_CHARACTERS and run.probability), key=lambda run: -run.probability
    )
    single = [run for run in fitting if run.first == run.last]
    longer = [run for run in fitting if run.first != run.last][: MAX_RUNS - len(single)]
    return sorted([*single, *longer], key=lambda run: -run.probability)


def _make_run(parts: Sequence[_QuotePart], first: int, last: int, probability: float) -> _SentenceRun:
    length = parts[last].span.end - parts[first].span.start
    return _SentenceRun(first, last, probability, length * parts[first].cost_per_character)


def _side_runs(parts: Sequence[_QuotePart], conflict: ContradictingSides | None) -> tuple[_SentenceRun, ...]:
    """A run for each side of a conflict: the whole sentences if all of them fit, otherwise the parts that differ."""
    if conflict is None:
        return ()
    whole = [_sentence_run(parts, side) for side in conflict.sides]
    # A conflict that is beside the question leaves room for the likely answer.
    max_cost = MAX_CHARACTERS if conflict.is_likely else MAX_CHARACTERS * UNLIKELY_CONFLICT_SHARE
    if sum(run.cost for run in whole) <= max_cost:
        return tuple(whole)
    share = max_cost / len(whole)
    return tuple(
        run if run.cost <= share else _run_around(parts, run, side, share)
        for run, side in zip(whole, conflict.sides, strict=True)
    )


def _sentence_run(parts: Sequence[_QuotePart], side: ConflictSide) -> _SentenceRun:
    own = [index for index, part in enumerate(parts) if part.sentence == side.sentence]
    return _make_run(parts, own[0], own[-1], sum(parts[index].probability for index in own))


def _run_around(parts: Sequence[_QuotePart], whole: _SentenceRun, side: ConflictSide, max_cost: float) -> _SentenceRun:
    """The part in which a side differs, extended by the likelier neighbour as long as it fits."""
    first = last = next(
        (index for index in range(whole.first, whole.last + 1) if parts[index].span.end > side.difference.start),
        whole.first,
    )
    while True:
        longer = [
            (index, min(index, first), max(index, last))
            for index in (first - 1, last + 1)
            if whole.first <= index <= whole.last
        ]
        fitting = [one for one in longer if _make_run(parts, one[1], one[2], 0.0).cost <= max_cost]
        if not fitting:
            return _make_run(parts, first, last, sum(part.probability for part in parts[first : last + 1]))
        _, first, last = max(fitting, key=lambda one: parts[one[0]].probability)


def _order_runs(chosen: Sequence[_SentenceRun], sides: tuple[_SentenceRun, ...]) -> tuple[_SentenceRun, ...]:
    """The likeliest first, the sides of a conflict next to each other."""
    highest = max((side.probability for side in sides), default=0.0)
    before = tuple(run for run in chosen if run not in sides and run.probability > highest)
    return (*before, *sides, *(run for run in chosen if run not in sides and run not in before))


def _choose_runs(runs: Sequence[_SentenceRun], sides: tuple[_SentenceRun, ...], count: int) -> tuple[_SentenceRun, ...]:
    """All sides of a conflict, and the runs that fit beside them and add most to the probability that the answer is
    among the quotations."""
    best: tuple[float, tuple[_SentenceRun, ...]] = (0.0, sides)

    def try_more(chosen: tuple[_SentenceRun, ...], probability: float, cost: float, start: int) -> None:
        nonlocal best
        if probability > best[0]:
            best = (probability, chosen)
        for index in range(start, len(runs) if len(chosen) < count else start):
            run = runs[index]
            if probability + run.probability * (count - len(chosen)) <= best[0]:
                return
            if cost + run.cost <= MAX_CHARACTERS and all(
                run.last < one.first or one.last < run.first for one in chosen
            ):
                try_more((*chosen, run), probability + run.probability, cost + run.cost, index + 1)

    try_more(sides, 0.0, sum(side.cost for side in sides), 0)
    return best[1]


def _extend_to_sentences(parts: Sequence[_QuotePart], chosen: Sequence[_SentenceRun]) -> Iterator[_SentenceRun]:
    """Extends runs that begin or end inside a sentence to whole sentences, as far as the limit allows."""
    left = MAX_CHARACTERS - sum(run.cost for run in chosen)
    used = {index for run in chosen for index in range(run.first, run.last + 1)}
    for run in chosen:
        first, last = run.first, run.last
        while first and first - 1 not in used and parts[first - 1].sentence == parts[first].sentence:
            first -= 1
        while last + 1 < len(parts) and last + 1 not in used and parts[last + 1].sentence == parts[last].sentence:
            last += 1
        whole = _make_run(parts, first, last, run.probability)
        if whole.cost - run.cost <= left:
            left -= whole.cost - run.cost
            used.update(range(first, last + 1))
            yield whole
        else:
            yield run
