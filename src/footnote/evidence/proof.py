"""The proof of a text: a verdict for each of its statements, and their counts."""

from collections.abc import Iterable, Sequence

from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation, Pointer, ProofCounts, Verdict

BEST_FIRST: tuple[Verdict, ...] = ("supported", "partial", "contradicted", "unsupported", "unread", "uncited")


def judge_text(
    text: str,
    sources: Sources,
    pointers: Sequence[Pointer] = (),
    *,
    uncited: bool = False,  # noqa: ARG001 - not read yet
    given: Sequence[str] = (),  # noqa: ARG001 - not read yet
) -> tuple[Citation, ...]:
    """The verdict of every statement by comparing texts, in the order of the text: one for each number of each marker.

    `uncited`: also of statements of facts without a footnote, and of links to pages that were not read. `given`: texts
    of the user, whose statements need no source.
    """
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
