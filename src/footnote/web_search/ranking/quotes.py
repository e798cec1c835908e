"""For people: a few short quotations that together hold the answer as likely as can be.

Where pages contradict each other in what would be quoted, each side gets a quotation of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Snapshot
from footnote.text.sentences import Span, clauses
from footnote.text.terms import has_unspaced, is_unspaced
from footnote.web_search.ranking.candidates import Candidates, find_candidates
from footnote.web_search.ranking.conflicts import ConflictSide, ContradictingSides, resolve_conflicts
from footnote.web_search.ranking.prefilter import RankedPage
from footnote.web_search.ranking.scoring import score_parts, softmax
from footnote.web_search.ranking.sections import slices, split_sentences

MAX_CHARACTERS = 600
"""Characters of all quotations together."""
MAX_CHARACTERS_UNSPACED = 250
"""The same in Chinese and its like, where a character says more."""
LONG_SENTENCE = 160
"""A sentence above it may be quoted in part."""
MIN_PART_LENGTH, MAX_PART_LENGTH = 20, 200
TOP_SENTENCES = 12
"""Sentences, and parts of them, that a quotation may begin or end with."""
MAX_RUNS = 40
UNLIKELY_CONFLICT_SHARE = 0.6
"""The share of the room for pages that contradict each other in what is hardly the answer."""


class _QuotePart(Struct, frozen=True, gc=False):
    """A sentence, or a part of a long one, and the chance that the answer stands in it.

    `sentence` is an index, as `section` is. `rate` is what a character takes of the room.
    """

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
    """The quotations, the likeliest first, each exactly as it stands in its snapshot.

    `conflicts`: the indexes of those that contradict each other.
    """

    passages: tuple[Passage, ...] = ()
    conflicts: tuple[int, ...] = ()


def select_quotes(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, max_quotes: int = 3) -> RankedQuotes:
    """At most `count`. A quotation is a sentence, neighbouring ones, or the part of a long one that is to the point."""
    seen = find_candidates(snapshots, query, prompt)
    dear = has_unspaced(prompt) or has_unspaced(query)
    if not seen.sentences:
        return RankedQuotes(tuple(_page_openings(seen.pages, max_quotes, unspaced=dear)))
    settled = resolve_conflicts(seen, softmax(seen.scores), top_count=TOP_SENTENCES, max_sides=max_quotes)
    parts = list(_split_parts(seen, settled.probabilities, settled.conflict, unspaced=dear))
    sides = _side_runs(parts, settled.conflict)
    chosen = _choose_runs(_candidate_runs(parts), sides, max_quotes)
    quoted = list(_extend_to_sentences(parts, _order_runs(chosen, sides)))
    opposed = tuple(at for at, run in enumerate(quoted) if any(run.first <= side.first <= run.last for side in sides))
    return RankedQuotes(tuple(_to_passage(seen, parts, run) for run in quoted), opposed)


def _page_openings(pages: Sequence[RankedPage], count: int, *, unspaced: bool) -> Iterator[Passage]:
    """Where nothing of the question is found, how the pages begin."""
    for page in [page for page in pages if page.sections][:count]:
        block = page.sections[0].blocks[0]
        rate = _cost_per_character(page.text[block.start : block.end], unspaced=unspaced)
        sentence = next(split_sentences(page.text, block))
        span = next(slices(page.text, sentence, int(MAX_CHARACTERS / rate / count)))
        yield Passage(number=page.number, text=page.text[span.start : span.end], start=span.start, end=span.end)


def _cost_per_character(text: str, *, unspaced: bool) -> float:
    return MAX_CHARACTERS / MAX_CHARACTERS_UNSPACED if unspaced or is_unspaced(text) else 1.0


# Parts -----------------------------------------------------------------------------------------------------------


def _split_parts(
    candidates: Candidates, probabilities: Sequence[float], conflict: ContradictingSides | None, *, unspaced: bool
) -> Iterator[_QuotePart]:
    """The sentences of the sections with the likeliest ones, in order, the long ones in parts."""
    likeliest = sorted(range(len(probabilities)), key=lambda at: -probabilities[at])[:TOP_SENTENCES]
    needed = [*likeliest, *(side.sentence for side in conflict.sides)] if conflict else likeliest
    rates = {
        section: _cost_per_character(_section_text(candidates, section), unspaced=unspaced)
        for section in {candidates.sentences[at].section for at in needed}
    }
    for at, sentence in enumerate(candidates.sentences):
        if (rate := rates.get(sentence.section)) is None:
            continue
        page, span = candidates.pages[sentence.page], sentence.piece.span
        spans = list(_split_sentence(page.text, span, rate))
        pieces = [candidates.matcher.match(page, one) for one in spans] if len(spans) > 1 else [sentence.piece]
        for one, share in zip(spans, softmax(score_parts(pieces, candidates.query)), strict=True):
            yield _QuotePart(sentence.section, at, one, probabilities[at] * share, rate)


def _section_text(candidates: Candidates, section: int) -> str:
    place = candidates.close_sections[section]
    page = candidates.pages[place.page]
    return page.text[page.sections[place.section].start : page.sections[place.section].end]


def _split_sentence(text: str, span: Span, cost_per_character: float) -> Iterator[Span]:
    if (span.end - span.start) * cost_per_character <= LONG_SENTENCE:
        yield span
        return
    for clause in clauses(text, span.start, span.end, min_length=round(MIN_PART_LENGTH / cost_per_character)):
        yield from slices(text, clause, round(MAX_PART_LENGTH / cost_per_character))


# Choice ----------------------------------------------------------------------------------------------------------


def _candidate_runs(parts: Sequence[_QuotePart]) -> list[_SentenceRun]:
    """What could be quoted, the likeliest first."""
    total = [0.0, *accumulate(part.probability for part in parts)]
    ends = sorted(sorted(range(len(parts)), key=lambda at: -parts[at].probability)[:TOP_SENTENCES])
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
    return _SentenceRun(
        first, last, probability, (parts[last].span.end - parts[first].span.start) * parts[first].cost_per_character
    )


def _side_runs(parts: Sequence[_QuotePart], conflict: ContradictingSides | None) -> tuple[_SentenceRun, ...]:
    """A run for each side of a conflict: the sentences if they fit together, else the parts in which they differ."""
    if conflict is None:
        return ()
    whole = [_sentence_run(parts, side) for side in conflict.sides]
    # What is beside the point leaves room for what is to the point.
    room = MAX_CHARACTERS if conflict.is_likely else MAX_CHARACTERS * UNLIKELY_CONFLICT_SHARE
    if sum(run.cost for run in whole) <= room:
        return tuple(whole)
    share = room / len(whole)
    return tuple(
        run if run.cost <= share else _run_around(parts, run, side, share)
        for run, side in zip(whole, conflict.sides, strict=True)
    )


def _sentence_run(parts: Sequence[_QuotePart], side: ConflictSide) -> _SentenceRun:
    own = [at for at, part in enumerate(parts) if part.sentence == side.sentence]
    return _make_run(parts, own[0], own[-1], sum(parts[at].probability for at in own))


def _run_around(parts: Sequence[_QuotePart], whole: _SentenceRun, side: ConflictSide, max_cost: float) -> _SentenceRun:
    """The part in which a side differs, and as many of its neighbours as there is room for, the likelier first."""
    first = last = next(
        (at for at in range(whole.first, whole.last + 1) if parts[at].span.end > side.difference.start), whole.first
    )
    while True:
        longer = [
            (at, min(at, first), max(at, last)) for at in (first - 1, last + 1) if whole.first <= at <= whole.last
        ]
        fitting = [one for one in longer if _make_run(parts, one[1], one[2], 0.0).cost <= max_cost]
        if not fitting:
            return _make_run(parts, first, last, sum(part.probability for part in parts[first : last + 1]))
        _, first, last = max(fitting, key=lambda one: parts[one[0]].probability)


def _order_runs(chosen: Sequence[_SentenceRun], sides: tuple[_SentenceRun, ...]) -> tuple[_SentenceRun, ...]:
    """The likeliest first, the sides of a conflict one after the other."""
    highest = max((side.probability for side in sides), default=0.0)
    before = tuple(run for run in chosen if run not in sides and run.probability > highest)
    return (*before, *sides, *(run for run in chosen if run not in sides and run not in before))


def _choose_runs(runs: Sequence[_SentenceRun], sides: tuple[_SentenceRun, ...], count: int) -> tuple[_SentenceRun, ...]:
    """The sides of a conflict in any case, and the runs that fit into the room beside them and leave the least chance
    that the answer is in none of them."""
    best: tuple[float, tuple[_SentenceRun, ...]] = (0.0, sides)

    def try_more(taken: tuple[_SentenceRun, ...], chance: float, cost: float, start: int) -> None:
        nonlocal best
        if chance > best[0]:
            best = (chance, taken)
        for at in range(start, len(runs) if len(taken) < count else start):
            run = runs[at]
            if chance + run.probability * (count - len(taken)) <= best[0]:
                return
            if cost + run.cost <= MAX_CHARACTERS and all(run.last < one.first or one.last < run.first for one in taken):
                try_more((*taken, run), chance + run.probability, cost + run.cost, at + 1)

    try_more(sides, 0.0, sum(side.cost for side in sides), 0)
    return best[1]


def _extend_to_sentences(parts: Sequence[_QuotePart], chosen: Sequence[_SentenceRun]) -> Iterator[_SentenceRun]:
    """The rest of the sentences that a run has parts of, as far as there is room."""
    left = MAX_CHARACTERS - sum(run.cost for run in chosen)
    taken = {at for run in chosen for at in range(run.first, run.last + 1)}
    for run in chosen:
        first, last = run.first, run.last
        while first and first - 1 not in taken and parts[first - 1].sentence == parts[first].sentence:
            first -= 1
        while last + 1 < len(parts) and last + 1 not in taken and parts[last + 1].sentence == parts[last].sentence:
            last += 1
        whole = _make_run(parts, first, last, run.probability)
        if whole.cost - run.cost <= left:
            left -= whole.cost - run.cost
            taken.update(range(first, last + 1))
            yield whole
        else:
            yield run


def _to_passage(candidates: Candidates, parts: Sequence[_QuotePart], run: _SentenceRun) -> Passage:
    page = candidates.pages[candidates.close_sections[parts[run.first].section].page]
    start, end = parts[run.first].span.start, parts[run.last].span.end
    return Passage(number=page.number, text=page.text[start:end], start=start, end=end, score=round(run.probability, 4))
