"""Whether the footnotes of a text hold: a verdict for each of them, with the passage that it rests on."""

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from footnote.citations.across import is_foreign, judge_across
from footnote.citations.align import Page
from footnote.citations.claims import Cite, Claim, claims, may_cite
from footnote.citations.numbering import Sources
from footnote.citations.verbatim import verbatim
from footnote.citations.verdict import Finding, judge, together
from footnote.protocol.sources import Citation

__all__ = ["check", "may_cite"]

_LONGEST = 1500
"""Characters of a claim that are looked at: of one that is longer, a source can support no more than a part."""
MAX_CITATIONS = 10_000
MAX_COMPARISONS = 4_000
MAX_COMPARED = 400_000_000
"""How often a statement of one text is held against a page, and how many characters these pages may have in all: some
seconds of work, whatever the pages. They are numbers and not a time, so that the same text always gets the same
verdicts."""
_RANKS = ("unsupported", "partial", "supported")


def check(text: str, sources: Sources) -> tuple[Citation, ...]:
    """One citation for each number of each marker, in order.

    `start` and `end` are those of the sentence (see `claims.Claim`). A number without a source is `unsupported`; so is
    one of whose page nothing was read. In a list of sources only numbers that have none are cited.

    Whatever the text, this ends: once the comparisons are used up, the statements that are left stay `unsupported`
    without a quotation, the least that can be said of them; beyond the other two limits there is no citation.
    """
    comparing = _Comparing(sources)
    found = (citation for claim in claims(text) for citation in _cited(claim, comparing))
    return tuple(islice(found, MAX_CITATIONS))


class _Comparing:
    """Holds the statements of one text against pages, and counts."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._left = MAX_COMPARISONS
        self._left_characters = MAX_COMPARED

    def found(self, text: str, number: int) -> Finding:
        """What a source has of a claim: its last reading, if that bears it, otherwise the reading that does so best."""
        best = Finding("unsupported")
        for page in self.sources.pages(number):
            if self._left == 0 or self._left_characters < len(page.text):
                break
            self._left -= 1
            self._left_characters -= len(page.text)
            finding = _found_on(page, text)
            if finding.verdict == "supported":
                return finding
            best = max(best, finding, key=_rank)
        return best


def _cited(claim: Claim, comparing: _Comparing) -> Iterator[Citation]:
    if claim.listed:
        unknown = [cite for cite in claim.cites if comparing.sources.source(cite.number) is None]
        yield from (_citation(claim, cite, Finding("unsupported")) for cite in unknown)
        return
    text = claim.text[:_LONGEST]
    numbers = dict.fromkeys(cite.number for cite in claim.cites)
    findings = together(text, {number: comparing.found(text, number) for number in numbers})
    for cite in claim.cites:
        finding = findings[cite.number]
        if cite.part and finding.verdict != "supported":
            # A marker in the middle of a sentence answers for what stands before it.
            part = comparing.found(cite.part[:_LONGEST], cite.number)
            finding = part if part.verdict == "supported" else finding
        if finding.verdict == "supported" and len(claim.text) > _LONGEST:
            finding = replace(finding, verdict="partial")
        yield _citation(claim, cite, finding)


def _found_on(page: Page, text: str) -> Finding:
    if (quote := verbatim(text, page.text)) is not None:
        return Finding("supported", quote, 1.0, snapshot_id=page.snapshot_id)
    finding = judge(text, page)
    if finding.verdict == "unsupported" and is_foreign(text, page):
        finding = judge_across(text, page)
    return replace(finding, snapshot_id=page.snapshot_id)


def _rank(finding: Finding) -> tuple[int, float]:
    return _RANKS.index(finding.verdict), finding.share


def _citation(claim: Claim, cite: Cite, finding: Finding) -> Citation:
    quote = finding.quote
    if quote is None:
        return Citation(cite.marker, cite.number, claim.start, claim.end, finding.verdict)
    return Citation(
        cite.marker,
        cite.number,
        claim.start,
        claim.end,
        finding.verdict,
        quote.text,
        quote.start,
        quote.end,
        finding.snapshot_id,
    )
