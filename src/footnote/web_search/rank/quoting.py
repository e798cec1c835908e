"""For people: a few short quotations that together hold the answer as likely as can be.

Where pages contradict each other in what would be quoted, each side gets a quotation of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from footnote.language.sentences import Span, clauses
from footnote.language.terms import has_unspaced, is_unspaced
from footnote.protocol.receipts import Passage
from footnote.protocol.sources import Snapshot
from footnote.web_search.rank.conflicts import Conflict, Side, settle
from footnote.web_search.rank.sections import sentences_of, slices
from footnote.web_search.rank.skim import Page
from footnote.web_search.rank.survey import Survey, survey
from footnote.web_search.rank.weigh import softmax, weigh_parts

ROOM = 600
"""Characters of all quotations together."""
ROOM_UNSPACED = 250
"""The same in Chinese and its like, where a character says more."""
LONG = 160
"""A sentence above it may be quoted in part."""
SHORTEST_PART, LONGEST_PART = 20, 200
LIKELIEST = 12
"""Sentences, and parts of them, that a quotation may begin or end with."""
MOST_RUNS = 40
BESIDE_THE_POINT = 0.6
"""The share of the room for pages that contradict each other in what is hardly the answer."""


class _Part(Struct, frozen=True, gc=False):
    """A sentence, or a part of a long one, and the chance that the answer stands in it.

    `sentence` is an index, as `section` is. `rate` is what a character takes of the room.
    """

    section: int
    sentence: int
    span: Span
    chance: float
    rate: float


class _Run(Struct, frozen=True, gc=False):
    """Neighbouring parts that make one quotation, by the indexes of the first and the last."""

    first: int
    last: int
    chance: float
    cost: float


class Quoted(Struct, frozen=True):
    """The quotations, the likeliest first, each exactly as it stands in its snapshot.

    `conflicts`: the indexes of those that contradict each other.
    """

    passages: tuple[Passage, ...] = ()
    conflicts: tuple[int, ...] = ()


def quotes(snapshots: Mapping[int, Snapshot], query: str, prompt: str, *, count: int = 3) -> Quoted:
    """At most `count`. A quotation is a sentence, neighbouring ones, or the part of a long one that is to the point."""
    seen = survey(snapshots, query, prompt)
    dear = has_unspaced(prompt) or has_unspaced(query)
    if not seen.sentences:
        return Quoted(tuple(_beginnings(seen.pages, count, dear=dear)))
    settled = settle(seen, softmax(seen.scores), likeliest=LIKELIEST, count=count)
    parts = list(_parts(seen, settled.chances, settled.conflict, dear=dear))
    sides = _sides(parts, settled.conflict)
    chosen = _chosen(_runs(parts), sides, count)
    quoted = list(_with_whole_sentences(parts, _in_order(chosen, sides)))
    opposed = tuple(at for at, run in enumerate(quoted) if any(run.first <= side.first <= run.last for side in sides))
    return Quoted(tuple(_quotation(seen, parts, run) for run in quoted), opposed)


def _beginnings(pages: Sequence[Page], count: int, *, dear: bool) -> Iterator[Passage]:
    """Where nothing of the question is found, how the pages begin."""
    for page in [page for page in pages if page.sections][:count]:
        block = page.sections[0].blocks[0]
        rate = _rate(page.text[block.start : block.end], dear=dear)
        sentence = next(sentences_of(page.text, block))
        span = next(slices(page.text, sentence, int(ROOM / rate / count)))
        yield Passage(number=page.number, text=page.text[span.start : span.end], start=span.start, end=span.end)


def _rate(text: str, *, dear: bool) -> float:
    return ROOM / ROOM_UNSPACED if dear or is_unspaced(text) else 1.0


# Parts -----------------------------------------------------------------------------------------------------------


def _parts(seen: Survey, chances: Sequence[float], conflict: Conflict | None, *, dear: bool) -> Iterator[_Part]:
    """The sentences of the sections with the likeliest ones, in order, the long ones in parts."""
    likeliest = sorted(range(len(chances)), key=lambda at: -chances[at])[:LIKELIEST]
    needed = [*likeliest, *(side.sentence for side in conflict.sides)] if conflict else likeliest
    rates = {
        section: _rate(_section_text(seen, section), dear=dear)
        for section in {seen.sentences[at].section for at in needed}
    }
    for at, sentence in enumerate(seen.sentences):
        if (rate := rates.get(sentence.section)) is None:
            continue
        page, span = seen.pages[sentence.page], sentence.piece.span
        spans = list(_taken_apart(page.text, span, rate))
        pieces = [seen.eye.read(page, one) for one in spans] if len(spans) > 1 else [sentence.piece]
        for one, share in zip(spans, softmax(weigh_parts(pieces, seen.query)), strict=True):
            yield _Part(sentence.section, at, one, chances[at] * share, rate)


def _section_text(seen: Survey, section: int) -> str:
    place = seen.close[section]
    page = seen.pages[place.page]
    return page.text[page.sections[place.section].start : page.sections[place.section].end]


def _taken_apart(text: str, span: Span, rate: float) -> Iterator[Span]:
    if (span.end - span.start) * rate <= LONG:
        yield span
        return
    for clause in clauses(text, span.start, span.end, shortest=round(SHORTEST_PART / rate)):
        yield from slices(text, clause, round(LONGEST_PART / rate))


# Choice ----------------------------------------------------------------------------------------------------------


def _runs(parts: Sequence[_Part]) -> list[_Run]:
    """What could be quoted, the likeliest first."""
    total = [0.0, *accumulate(part.chance for part in parts)]
    ends = sorted(sorted(range(len(parts)), key=lambda at: -parts[at].chance)[:LIKELIEST])
    runs = [
        _run(parts, first, last, total[last + 1] - total[first])
        for first in ends
        for last in ends
        if first <= last and parts[first].section == parts[last].section
    ]
    fitting = sorted((run for run in runs if run.cost <= ROOM and run.chance), key=lambda run: -run.chance)
    single = [run for run in fitting if run.first == run.last]
    longer = [run for run in fitting if run.first != run.last][: MOST_RUNS - len(single)]
    return sorted([*single, *longer], key=lambda run: -run.chance)


def _run(parts: Sequence[_Part], first: int, last: int, chance: float) -> _Run:
    return _Run(first, last, chance, (parts[last].span.end - parts[first].span.start) * parts[first].rate)


def _sides(parts: Sequence[_Part], conflict: Conflict | None) -> tuple[_Run, ...]:
    """A run for each side of a conflict: the sentences if they fit together, else the parts in which they differ."""
    if conflict is None:
        return ()
    whole = [_sentence_run(parts, side) for side in conflict.sides]
    # What is beside the point leaves room for what is to the point.
    room = ROOM if conflict.likely else ROOM * BESIDE_THE_POINT
    if sum(run.cost for run in whole) <= room:
        return tuple(whole)
    share = room / len(whole)
    return tuple(
        run if run.cost <= share else _around(parts, run, side, share)
        for run, side in zip(whole, conflict.sides, strict=True)
    )


def _sentence_run(parts: Sequence[_Part], side: Side) -> _Run:
    own = [at for at, part in enumerate(parts) if part.sentence == side.sentence]
    return _run(parts, own[0], own[-1], sum(parts[at].chance for at in own))


def _around(parts: Sequence[_Part], whole: _Run, side: Side, room: float) -> _Run:
    """The part in which a side differs, and as many of its neighbours as there is room for, the likelier first."""
    first = last = next(
        (at for at in range(whole.first, whole.last + 1) if parts[at].span.end > side.differing.start), whole.first
    )
    while True:
        longer = [
            (at, min(at, first), max(at, last)) for at in (first - 1, last + 1) if whole.first <= at <= whole.last
        ]
        fitting = [one for one in longer if _run(parts, one[1], one[2], 0.0).cost <= room]
        if not fitting:
            return _run(parts, first, last, sum(part.chance for part in parts[first : last + 1]))
        _, first, last = max(fitting, key=lambda one: parts[one[0]].chance)


def _in_order(chosen: Sequence[_Run], sides: tuple[_Run, ...]) -> tuple[_Run, ...]:
    """The likeliest first, the sides of a conflict one after the other."""
    highest = max((side.chance for side in sides), default=0.0)
    before = tuple(run for run in chosen if run not in sides and run.chance > highest)
    return (*before, *sides, *(run for run in chosen if run not in sides and run not in before))


def _chosen(runs: Sequence[_Run], sides: tuple[_Run, ...], count: int) -> tuple[_Run, ...]:
    """The sides of a conflict in any case, and the runs that fit into the room beside them and leave the least chance
    that the answer is in none of them."""
    best: tuple[float, tuple[_Run, ...]] = (0.0, sides)

    def try_more(taken: tuple[_Run, ...], chance: float, cost: float, start: int) -> None:
        nonlocal best
        if chance > best[0]:
            best = (chance, taken)
        for at in range(start, len(runs) if len(taken) < count else start):
            run = runs[at]
            if chance + run.chance * (count - len(taken)) <= best[0]:
                return
            if cost + run.cost <= ROOM and all(run.last < one.first or one.last < run.first for one in taken):
                try_more((*taken, run), chance + run.chance, cost + run.cost, at + 1)

    try_more(sides, 0.0, sum(side.cost for side in sides), 0)
    return best[1]


def _with_whole_sentences(parts: Sequence[_Part], chosen: Sequence[_Run]) -> Iterator[_Run]:
    """The rest of the sentences that a run has parts of, as far as there is room."""
    left = ROOM - sum(run.cost for run in chosen)
    taken = {at for run in chosen for at in range(run.first, run.last + 1)}
    for run in chosen:
        first, last = run.first, run.last
        while first and first - 1 not in taken and parts[first - 1].sentence == parts[first].sentence:
            first -= 1
        while last + 1 < len(parts) and last + 1 not in taken and parts[last + 1].sentence == parts[last].sentence:
            last += 1
        whole = _run(parts, first, last, run.chance)
        if whole.cost - run.cost <= left:
            left -= whole.cost - run.cost
            taken.update(range(first, last + 1))
            yield whole
        else:
            yield run


def _quotation(seen: Survey, parts: Sequence[_Part], run: _Run) -> Passage:
    page = seen.pages[seen.close[parts[run.first].section].page]
    start, end = parts[run.first].span.start, parts[run.last].span.end
    return Passage(number=page.number, text=page.text[start:end], start=start, end=end, score=round(run.chance, 4))
