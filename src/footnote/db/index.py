"""The full-text index: passages of the texts that pages have now, and the terms that each is found by.

The terms are made by the caller. SQLite's part is FTS5, which is shown them as words, and ranks by BM25.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from footnote.db.fulltext import renew
from footnote.db.script import Script, sql, sql_many


class Terms(Struct, frozen=True):
    """What one passage is found by: lines of terms, parted by spaces. `forms` are other forms of the same words."""

    start: int
    end: int
    title: str
    text: str
    forms: str


class Candidate(Struct, frozen=True):
    """A passage with some of the terms that were asked for. `documentation`: no other page has it."""

    snapshot_id: str
    terms: Terms
    documentation: bool


class Frequencies(Struct, frozen=True):
    """How many passages there are, and in how many of them a term stands; one that is absent stands in none."""

    passages: int
    having: dict[str, int]


def enter(snapshot_id: str, passages: Sequence[Terms]) -> Script[None]:
    """A text is indexed once, however many pages have it."""
    if (yield sql("SELECT 1 FROM passage WHERE snapshot_id = ? LIMIT 1", snapshot_id)):
        return
    rows: list[tuple[Any, ...]] = []
    for terms in passages:
        ((passage,),) = yield sql(
            "INSERT INTO passage (snapshot_id, start_offset, end_offset) VALUES (?, ?, ?) RETURNING id",
            snapshot_id,
            terms.start,
            terms.end,
        )
        rows.append((passage, terms.title, terms.text, terms.forms))
    yield sql_many("INSERT INTO passage_terms (rowid, title, text, forms) VALUES (?, ?, ?, ?)", rows)


def leave(snapshot_id: str) -> Script[None]:
    """Out of the index, unless some page still has this text."""
    if (yield sql("SELECT 1 FROM page WHERE snapshot_id = ? LIMIT 1", snapshot_id)):
        return
    yield sql("DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passage WHERE snapshot_id = ?)", snapshot_id)
    yield sql("DELETE FROM passage WHERE snapshot_id = ?", snapshot_id)


def purge() -> Script[None]:
    """Of a passage that left, the index only notes that it is gone: its words go when the index is written anew."""
    if not (yield from renew("passage_terms")):
        yield sql("INSERT INTO passage_terms (passage_terms) VALUES ('optimize')")


def frequencies(terms: Iterable[str]) -> Script[Frequencies]:
    ((passages,),) = yield sql("SELECT count(*) FROM passage")
    having: dict[str, int] = {}
    for term in terms:
        rows = yield sql("SELECT doc FROM passage_vocabulary WHERE term = ?", term)
        if rows:
            having[term] = rows[0][0]
    return Frequencies(passages, having)


def candidates(terms: Iterable[str], count: int, user_id: str | None) -> Script[list[Candidate]]:
    """The passages that fit best by BM25, with a word in the title worth more than one in the text; of pages on this
    user's shelf, and of the documentation."""
    rows = yield sql(
        """
        SELECT passage.snapshot_id, passage.start_offset, passage.end_offset,
            passage_terms.title, passage_terms.text, passage_terms.forms,
            NOT EXISTS (
                SELECT 1 FROM page CROSS JOIN shelf ON shelf.user_id = ? AND shelf.url = page.url
                WHERE page.snapshot_id = passage.snapshot_id AND page.kind <> 'documentation'
            )
        FROM passage_terms JOIN passage ON passage.id = passage_terms.rowid
        WHERE passage_terms MATCH ? AND EXISTS (
            SELECT 1 FROM page WHERE page.snapshot_id = passage.snapshot_id AND (
                page.kind = 'documentation'
                OR EXISTS (SELECT 1 FROM shelf WHERE shelf.user_id = ? AND shelf.url = page.url)
            )
        )
        ORDER BY bm25(passage_terms, 3.0, 1.0, 0.7) LIMIT ?
        """,
        user_id,
        _any_of(terms),
        user_id,
        count,
    )
    return [Candidate(row[0], Terms(*row[1:6]), bool(row[6])) for row in rows]


def _any_of(terms: Iterable[str]) -> str:
    """Every term is a quoted string, so that none of them is read as an operator or as a name of a column."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
