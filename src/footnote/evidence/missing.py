"""What a passage does not say of a statement, in words of the statement."""

from collections.abc import Iterator, Sequence

from footnote.evidence.alignment import Alignment, runs_of

_MAX_MISSING = 160


def missing_text(alignment: Alignment) -> str | None:
    """The words and qualifiers that the passage lacks. If it has all of them, in another order or connected otherwise:
    the part of the statement with that connection."""
    claim = alignment.claim
    places: set[tuple[int, int]] = set()
    for one in alignment.objections:
        if one.mark and not one.in_passage:
            places.add((one.mark.start, one.mark.end))
        elif one.kind == "words":
            places.update((claim.words[at].start, claim.words[at].end) for at in one.words)
    return _join_words(claim.text.text, sorted(places or _connections(alignment))) or None


def _connections(alignment: Alignment) -> Iterator[tuple[int, int]]:
    """The words at which the two differ in nothing but order, with their neighbours in the statement."""
    claim = alignment.claim
    for one in alignment.objections:
        for run in runs_of(sorted(one.words)):
            first, last = run[0], run[-1]
            if first == last and first and not claim.gaps[first].is_break:
                first -= 1
            elif first == last < len(claim.words) - 1 and not claim.gaps[last + 1].is_break:
                last += 1
            places = [(claim.words[at].start, claim.words[at].end) for at in range(first, last + 1)]
            yield min(places)[0], max(places)[1]


def _join_words(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Words of a text; those that overlap or follow each other with what stands between them."""
    pieces: list[tuple[int, int]] = []
    for start, end in places:
        if pieces and not any(map(str.isalnum, text[pieces[-1][1] : start])):
            pieces[-1] = pieces[-1][0], max(end, pieces[-1][1])
        else:
            pieces.append((start, end))
    joined = "; ".join(text[start:end] for start, end in pieces)
    return joined if len(joined) <= _MAX_MISSING else joined[: _MAX_MISSING - 1].rstrip() + "…"
