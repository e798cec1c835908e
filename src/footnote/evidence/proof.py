"""The proof of a text: a verdict for each of its statements, and their counts."""

from collections.abc import Iterable, Sequence

from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation, Pointer, ProofCounts, Verdict

BEST_FIRST: tuple[Verdict, ...] = ("supported", "partial", "contradicted", "unsupported", "unread", "uncited")


def judge_text(text: str, sources: Sources, pointers: Sequence[Pointer] = ()) -> tuple[Citation, ...]:
    """One citation for each number of each marker, in the order of the text."""
    return check_citations(text, sources, pointers)


def count_verdicts(citations: Iterable[Citation]) -> ProofCounts:
    best: dict[tuple[int, int], Verdict] = {}
    for one in citations:
        place = one.start, one.end
        known = best.setdefault(place, one.verdict)
        if BEST_FIRST.index(one.verdict) < BEST_FIRST.index(known):
            best[place] = one.verdict
    verdicts = list(best.values())
    return ProofCounts(len(verdicts), **{verdict: verdicts.count(verdict) for verdict in BEST_FIRST})
