"""What stays of the findings of all items: duplicates are united, and contradictions are decided where possible. Pure.

A statement is also compared with pages that it does not cite, so that one page that says something else than the others
is noticed, whichever of them a reader has met.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import TypeAlias

from msgspec.structs import replace

from footnote.evidence.sources import Sources
from footnote.evidence.suggestions import SuggestionFinder
from footnote.evidence.verdict import find_evidence
from footnote.protocol.sources import Citation, Disagreement, published_day
from footnote.research.contrasts import (
    ComparableStatement,
    StatementRelation,
    contradicting_quote,
    contradicting_sentence,
    related_pairs,
)
from footnote.research.findings import (
    Finding,
    OtherSide,
    SideReason,
    footnotes,
    place_citations,
    plain_statement,
    quote_source,
)

MAX_PAGE_COMPARISONS = 400
"""How often statements are compared with pages that they do not cite: a second or two of work."""
MAX_HOLDERS = 8
"""How many pages are asked whether they say one side of a contradiction."""
_MIN_DAYS = 180
"""From this difference on, the newer of two pages is taken for what holds now."""
_MIN_MAJORITY = 2
"""How many times as many independent sources one side must have to be believed."""
_SECOND_LEVEL = frozenset(("ac", "co", "com", "edu", "gob", "gouv", "gov", "go", "ne", "net", "or", "org"))

_Pair: TypeAlias = tuple[int, int]


def settle(findings: Iterable[Finding], disagreements: Iterable[Disagreement], sources: Sources) -> tuple[Finding, ...]:
    """The findings without duplicates and without what better sources contradict, by item. The order of the findings
    of different items makes no difference, and settled findings may be settled again with others.

    Of two statements that contradict each other, the one with clearly more independent sources stays, or else the
    clearly newer one, with the other among its `others`. If nothing decides, both stay and are disputed.
    """
    return _Settlement(sorted(findings, key=_by_item), disagreements, sources).settled()


def _by_item(finding: Finding) -> tuple[int, str]:
    """Ids count up: `q2` stands before `q10`."""
    return len(finding.item_id), finding.item_id


class _Side:
    """A statement while it is compared with the others. Without an `item_id` it is no finding of an item: a page says
    it in the place of one."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self.statement = ComparableStatement(plain_statement(finding))
        self.backing = {one.number for one in finding.citations if _says_figures(one)}
        """The sources that say the statement, or all of its figures: a page in another language cannot be compared
        word by word."""
        self.losses: list[tuple[_Side, SideReason]] = []
        self.disputes: list[_Side] = []

    @property
    def is_found(self) -> bool:
        return bool(self.finding.item_id)

    def other_side(self, reason: SideReason) -> OtherSide:
        return OtherSide(self.finding.text, self.finding.citations, reason, self.finding.quotation)


def _says_figures(citation: Citation) -> bool:
    if citation.verdict == "partial":
        return not any(map(str.isdigit, citation.missing or ""))
    return citation.verdict == "supported"


class _Settlement:
    def __init__(self, findings: Sequence[Finding], disagreements: Iterable[Disagreement], sources: Sources) -> None:
        self._sources = sources
        self._sides: list[_Side] = []
        self._by_text: dict[str, int] = {}
        self._known_contradictions: set[_Pair] = set()
        self._merged_into: dict[int, int] = {}
        self._finder = SuggestionFinder(sources, by_address=True)
        self._saying: dict[str, list[int]] = {}
        """The sources that say a sentence."""
        self._add_findings(findings)
        values = [value for one in disagreements for value in one.values]
        for value in sorted(values, key=lambda one: one.text):
            if (quoted := quote_source("", value.text, value.number, sources, value.quote_start)) is not None:
                self._add(quoted)

    def _add_findings(self, findings: Iterable[Finding]) -> None:
        others: list[tuple[int, OtherSide]] = []
        for finding in findings:
            at = self._add(replace(finding, others=(), is_disputed=False))
            others += [(at, other) for other in finding.others]
        for at, other in others:
            there = self._add(Finding("", other.text, other.citations, quotation=other.quotation))
            if there != at:
                self._known_contradictions.add((min(at, there), max(at, there)))

    def _add(self, finding: Finding) -> int:
        """The index of a statement. One that is known, letter by letter, is united with it."""
        side = _Side(finding)
        at = self._by_text.setdefault(side.statement.text, len(self._sides))
        if at == len(self._sides):
            self._sides.append(side)
        else:
            self._absorb(self._sides[at], side)
        return at

    def settled(self) -> tuple[Finding, ...]:
        relations = list(related_pairs([side.statement for side in self._sides]))
        merged_into = self._merged_into = self._merge(relations)
        found = {(one, other) for one, other, relation in relations if relation == "contradiction"}
        left = [at for at in range(len(self._sides)) if at not in merged_into]
        pairs = {
            (min(one, other), max(one, other))
            for pair in found | self._known_contradictions
            for one, other in [tuple(merged_into.get(at, at) for at in pair)]
            if one != other
        }
        for one, other in sorted(pairs | self._compare_with_pages(left)):
            self._decide(self._sides[one], self._sides[other])
        return tuple(self._outcome())

    # Duplicates ------------------------------------------------------------------------------------------------------

    def _merge(self, relations: Iterable[tuple[int, int, StatementRelation]]) -> dict[int, int]:
        """Leaves a statement out that another one says, too: by its index, that of the other one."""
        holders: dict[int, list[int]] = {}
        for one, other, relation in relations:
            if relation == "part" or (relation == "same" and self._rank(other) < self._rank(one)):
                holders.setdefault(one, []).append(other)
            elif relation in ("whole", "same"):
                holders.setdefault(other, []).append(one)
        merged_into: dict[int, int] = {}
        for at in sorted(holders, key=lambda at: (-len(self._sides[at].statement.keys), at)):
            covering = [one for one in holders[at] if one not in merged_into and self._covers(one, at)]
            if covering:
                merged_into[at] = min(covering, key=self._rank)
                self._absorb(self._sides[merged_into[at]], self._sides[at])
            for one in holders[at]:
                self._sides[at].backing |= self._sides[one].backing
        return merged_into

    def _rank(self, at: int) -> tuple[bool, bool, int]:
        """The order in which statements that say the same are preferred."""
        side = self._sides[at]
        return not side.is_found, not side.finding.is_supported, at

    def _covers(self, holder: int, at: int) -> bool:
        """Whether the statement `holder` may stand for another one that it says, too."""
        one, other = self._sides[holder], self._sides[at]
        if other.finding.is_supported and not one.finding.is_supported:
            return False
        return one.is_found == other.is_found and bool(one.finding.quotation) == bool(other.finding.quotation)

    def _absorb(self, holder: _Side, other: _Side) -> None:
        """Adds the footnotes of a statement to one that says it, as far as their sources say that one."""
        holder.backing |= other.backing
        finding = holder.finding
        added = [
            cited
            for one in other.finding.citations
            if one.number not in finding.numbers and (cited := self._cite(holder, one)) is not None
        ]
        items = dict.fromkeys([*finding.other_items, other.finding.item_id, *other.finding.other_items])
        text = finding.text + footnotes(one.number for one in added)
        holder.finding = replace(
            finding,
            text=text,
            citations=place_citations(text, [*finding.citations, *added]),
            other_items=tuple(one for one in items if one not in ("", finding.item_id)),
        )

    def _cite(self, holder: _Side, citation: Citation) -> Citation | None:
        """The citation of another statement for this one. None: its source does not support this one, and does not
        support a part of it either, if none does more."""
        wanted = ("supported",) if holder.finding.is_supported else ("supported", "partial")
        for page in self._sources.pages(citation.number):
            evidence = find_evidence(holder.statement.text, page)
            if evidence.verdict in wanted and (quote := evidence.quote) is not None:
                return Citation(
                    citation.marker,
                    citation.number,
                    0,
                    0,
                    evidence.verdict,
                    quote.text,
                    quote.start,
                    quote.end,
                    evidence.snapshot_id,
                    citation.passage,
                    missing=evidence.missing,
                )
        return None

    # Contradictions --------------------------------------------------------------------------------------------------

    def _compare_with_pages(self, places: Sequence[int]) -> set[_Pair]:
        """Compares the findings with pages that they do not cite. What such a page says otherwise becomes a side."""
        comparisons = 0
        found: set[_Pair] = set()
        for at in places:
            side = self._sides[at]
            if not side.is_found or side.finding.quotation or comparisons >= MAX_PAGE_COMPARISONS:
                continue
            cited = {*side.finding.numbers, *side.backing}
            for number, page in self._finder.pages_about(side.statement.text, excluded=cited):
                comparisons += 1
                evidence = find_evidence(side.statement.text, page)
                quote = contradicting_quote(side.statement, page, evidence)
                quoted = quote and quote_source("", quote.text, number, self._sources, quote.start)
                if quoted is not None:
                    there = self._add(quoted)
                    there = self._merged_into.get(there, there)
                    found.add((min(at, there), max(at, there)))
        return found

    def _decide(self, one: _Side, other: _Side) -> None:
        """Which of two statements that contradict each other stays."""
        if not one.is_found and not other.is_found:
            return
        holders, other_holders = self._holders(one, other), self._holders(other, one)
        larger, newer = self._larger(holders, other_holders), self._newer(holders, other_holders)
        if not (larger or newer) or larger * newer < 0:
            one.disputes.append(other)
            other.disputes.append(one)
        else:
            winner, loser = (one, other) if larger + newer > 0 else (other, one)
            loser.losses.append((winner, "outdated" if newer else "outvoted"))

    def _holders(self, side: _Side, other: _Side) -> frozenset[int]:
        """The sources that say what another statement contradicts: those of the statement, and others of the session.
        Of a quotation of several sentences, it is one of them."""
        text = contradicting_sentence(side.statement, other.statement)
        if text not in self._saying:
            pages = self._finder.pages_about(text, count=MAX_HOLDERS)
            self._saying[text] = [number for number, page in pages if find_evidence(text, page).verdict == "supported"]
        return frozenset(side.backing.union(self._saying[text]))

    def _larger(self, one: Iterable[int], other: Iterable[int]) -> int:
        """1 if the first of two sides has clearly more independent sources, -1 if the second one has."""
        count, other_count = self._independent_sources(one), self._independent_sources(other)
        return (count > 0 and count >= _MIN_MAJORITY * other_count) - (
            other_count > 0 and other_count >= _MIN_MAJORITY * count
        )

    def _independent_sources(self, numbers: Iterable[int]) -> int:
        """The number of sites. Sites with the same text count once."""
        sites: set[str] = set()
        texts: set[str] = set()
        for number in numbers:
            source, snapshot = self._sources.source(number), self._sources.snapshot(number)
            if source is not None and snapshot is not None:
                sites.add(site_of(source.domain or snapshot.url))
                texts.add(snapshot.id)
        return min(len(sites), len(texts))

    def _newer(self, one: Iterable[int], other: Iterable[int]) -> int:
        """1 if the first of two sides is clearly newer, -1 if the second one is."""
        day, other_day = self._latest_day(one), self._latest_day(other)
        if day is None or other_day is None or abs((day - other_day).days) < _MIN_DAYS:
            return 0
        return 1 if day > other_day else -1

    def _latest_day(self, numbers: Iterable[int]) -> date | None:
        return max(filter(None, (published_on(number, self._sources) for number in numbers)), default=None)

    # The outcome -----------------------------------------------------------------------------------------------------

    def _outcome(self) -> Iterator[Finding]:
        """The findings that stay, in order. In the place of one that is set aside for what only a page says stands the
        sentence of that page."""
        sides = [side for at, side in enumerate(self._sides) if at not in self._merged_into]
        set_aside = _set_aside(sides)
        beaten: dict[_Side, list[OtherSide]] = {}
        for side in sides:
            if side in set_aside:
                for winner, reason in side.losses:
                    beaten.setdefault(winner, []).append(side.other_side(reason))
        told: set[_Side] = set()
        for side in (one for one in sides if one.is_found):
            staying = side
            if side in set_aside:
                staying = next((winner for winner, _ in side.losses if winner not in set_aside), side)
                if staying.is_found or staying in told:
                    continue
                told.add(staying)
            disputes = [one for one in staying.disputes if one not in set_aside]
            others = [*beaten.get(staying, ()), *(one.other_side("undecided") for one in disputes)]
            yield replace(
                staying.finding,
                item_id=side.finding.item_id,
                is_disputed=bool(disputes),
                others=tuple(sorted(dict.fromkeys(others), key=plain_statement)),
            )


def _set_aside(sides: Iterable[_Side]) -> set[_Side]:
    """The statements that have lost against one that stays."""
    decided: dict[_Side, bool] = {}

    def is_set_aside(side: _Side) -> bool:
        if side not in decided:
            decided[side] = False  # so that a circle of statements ends
            decided[side] = any(not is_set_aside(winner) for winner, _ in side.losses)
        return decided[side]

    return {side for side in sides if is_set_aside(side)}


def published_on(number: int, sources: Sources) -> date | None:
    """When a page was published, if that is certain."""
    source, snapshot = sources.source(number), sources.snapshot(number)
    days = (published_day(one.published) for one in (source, snapshot) if one is not None)
    try:
        return next((date.fromisoformat(day) for day in days if day), None)
    except ValueError:
        return None


def site_of(domain: str) -> str:
    """The part of a host name that one owner has, as nearly as that is known without a list: `a.example.co.uk` and
    `b.example.co.uk` are one site."""
    labels = domain.casefold().removeprefix("www.").split(".")
    if len(labels) < 3 or labels[-1].isdecimal():
        return ".".join(labels)
    is_second_level = len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if is_second_level else -2 :])
