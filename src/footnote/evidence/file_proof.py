"""The proof of a version of a file: its text is judged piece by piece, and verdicts of a second look are kept for the
same statements of other versions."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.claims import extract_claims, may_cite
from footnote.evidence.pointers import StatementPointers, find_pointers
from footnote.evidence.proof import judge_text
from footnote.evidence.sources import Sources
from footnote.protocol.sources import Citation
from footnote.text.markdown import read_lines
from footnote.text.sentences import Span

PIECE_CHARACTERS = 12_000
"""About a hundred statements: a second of CPU or less on long pages. A piece ends before the next heading or, in a text
without headings, before a paragraph."""
_MAX_SECTION_CHARACTERS = 2 * PIECE_CHARACTERS
MAX_LOOKED = 2_000
"""Statements of one file whose verdicts by a model are kept."""
_CONTINUES = re.compile(r"[\[［【<]|https?://|[—–―]")
"""The beginning of a paragraph that may belong to what stands before it: a marker, an entry of a list of sources, the
author of a quotation."""

LookedStatements: TypeAlias = Mapping[str, tuple[Citation, ...]]
"""The citations of statements after a second look, by `statement_keys`. Offsets count from the statement."""


class FileProof(Struct, frozen=True):
    """The verdicts on one version. `looked`: the statements of this file for which there was a second look."""

    citations: tuple[Citation, ...]
    looked: dict[str, tuple[Citation, ...]] = {}


def pieces_of(text: str) -> list[Span]:
    """A text in pieces that are judged one after another. No piece begins within code, a list, a quotation or a list of
    sources, so that each statement has the same verdict as in the whole text."""
    starts = [0]
    is_after_blank = False
    for line in read_lines(text, indented_code=True):
        is_paragraph = (
            line.kind == "text" and is_after_blank and line.content == line.start and not line.is_quoted
        ) and not _CONTINUES.match(text, line.content)
        min_length = PIECE_CHARACTERS if line.kind == "heading" else _MAX_SECTION_CHARACTERS
        if (line.kind == "heading" or is_paragraph) and line.start - starts[-1] >= min_length:
            starts.append(line.start)
        is_after_blank = line.kind == "blank"
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def has_footnotes(text: str) -> bool:
    """Whether a file cites anything, so that its statements without a footnote stand out."""
    pieces = (text[piece.start : piece.end] for piece in pieces_of(text))
    return any(may_cite(piece) and extract_claims(piece) for piece in pieces)


def judge_piece(
    text: str, piece: Span, sources: Sources, pointers: StatementPointers, *, uncited: bool, given: Sequence[str]
) -> list[Citation]:
    """The citations of one piece, with offsets in the whole text. See `judge_text`."""
    part = text[piece.start : piece.end]
    found = find_pointers(extract_claims(part), pointers)
    return [shifted(one, piece.start) for one in judge_text(part, sources, found, uncited=uncited, given=given)]


def shifted(one: Citation, offset: int) -> Citation:
    differences = tuple(replace(part, start=part.start + offset, end=part.end + offset) for part in one.differences)
    return replace(one, start=one.start + offset, end=one.end + offset, differences=differences)


# The second look -----------------------------------------------------------------------------------------------------


Statement: TypeAlias = tuple[int, int]
"""Where a statement begins and ends."""


def statement_keys(text: str, citations: Iterable[Citation], sources: Sources) -> dict[Statement, str]:
    """A key for each statement: a hash of everything that its verdict depends on."""
    by_statement = group_by_statement(citations)
    return {place: _key(text[place[0] : place[1]], cited, sources) for place, cited in by_statement.items()}


def group_by_statement(citations: Iterable[Citation]) -> dict[Statement, list[Citation]]:
    found: dict[Statement, list[Citation]] = {}
    for one in citations:
        found.setdefault((one.start, one.end), []).append(one)
    return found


def _key(statement: str, cited: Sequence[Citation], sources: Sources) -> str:
    pages = [(one.marker, one.number, [page.snapshot_id for page in sources.pages(one.number)]) for one in cited]
    return hashlib.sha256(msgspec.json.encode((statement, pages))).hexdigest()[:32]


def apply_looked(
    citations: Sequence[Citation], keys: Mapping[Statement, str], looked: LookedStatements
) -> tuple[Citation, ...]:
    """The citations, with those of an earlier second look for the statements that had one."""
    applied: list[Citation] = []
    for place, cited in group_by_statement(citations).items():
        known = looked.get(keys[place], ())
        is_same = len(known) == len(cited)
        # The passage that a marker points to is a fact of this version.
        applied += (
            [replace(shifted(one, place[0]), passage=fresh.passage) for one, fresh in zip(known, cited, strict=True)]
            if is_same
            else cited
        )
    return tuple(applied)


def merge_looked(*newest_first: LookedStatements) -> dict[str, tuple[Citation, ...]]:
    merged: dict[str, tuple[Citation, ...]] = {}
    for looked in newest_first:
        for key, cited in looked.items():
            if len(merged) >= MAX_LOOKED:
                return merged
            merged.setdefault(key, cited)
    return merged


def unsettled(citations: Sequence[Citation], keys: Mapping[Statement, str], looked: LookedStatements) -> list[Citation]:
    """The citations of statements that a second look may lift, and that had none before."""
    return [
        one
        for place, cited in group_by_statement(citations).items()
        if keys[place] not in looked and any(part.verdict != "supported" for part in cited)
        for one in cited
    ]


def looked_statements(
    citations: Iterable[Citation], keys: Mapping[Statement, str]
) -> Iterator[tuple[str, tuple[Citation, ...]]]:
    for place, cited in group_by_statement(citations).items():
        yield keys[place], tuple(shifted(one, -place[0]) for one in cited)
