"""The full-text index: passages of the texts that pages have now, and the terms that each is found by.

The terms are made by the caller. SQLite's part is FTS5, which is shown them as words, and ranks by BM25; PostgreSQL's
an index over sets of terms.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from footnote.db.fulltext import MAX_QUERY_LEXEMES, lexeme, rebuild_if_deep
from footnote.db.script import Either, Steps, script, sql, sql_many


class IndexTerms(Struct, frozen=True):
    """What one passage is found by: lines of terms, parted by spaces. `forms` are other forms of the same words."""

    start: int
    end: int
    title: str
    text: str
    forms: str


class IndexHit(Struct, frozen=True):
    """A passage with some of the terms that were asked for. `documentation`: no other page has it."""

    snapshot_id: str
    terms: IndexTerms
    documentation: bool


class Frequencies(Struct, frozen=True):
    """How many passages there are, and in how many of them a term stands; one that is absent stands in none."""

    passages: int
    by_term: dict[str, int]


@script
def index_passages(snapshot_id: str, passages: Sequence[IndexTerms]) -> Steps[None]:
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


@script
def unindex_passages(snapshot_id: str) -> Steps[None]:
    """Out of the index, unless some page still has this text."""
    if (yield sql("SELECT 1 FROM page WHERE snapshot_id = ? LIMIT 1", snapshot_id)):
        return
    yield sql("DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passage WHERE snapshot_id = ?)", snapshot_id)
    yield sql("DELETE FROM passage WHERE snapshot_id = ?", snapshot_id)


@script
def purge_passages() -> Steps[None]:
    """Of a passage that left, the index only notes that it is gone: its words go when the index is written anew."""
    if not (yield from rebuild_if_deep("passage_terms")):
        yield Either(sql("INSERT INTO passage_terms (passage_terms) VALUES ('optimize')"), None)


@script
def term_frequencies(terms: Iterable[str]) -> Steps[Frequencies]:
    ((passages,),) = yield sql("SELECT count(*) FROM passage")
    having: dict[str, int] = {}
    asked = list(terms)
    for term in asked:
        rows = yield Either(sql("SELECT doc FROM passage_vocabulary WHERE term = ?", term), None)
        if rows:
            having[term] = rows[0][0]
    lexemes = {term: quoted for term in asked if (quoted := lexeme(term))}
    rows = yield Either(
        None,
        sql(
            """
            SELECT wanted.term, count(*)
            FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[])) AS wanted (term, lexeme)
            JOIN passage_terms ON passage_terms.lexemes @@ wanted.lexeme::tsquery
            GROUP BY wanted.term
            """,
            list(lexemes),
            list(lexemes.values()),
        ),
    )
    return Frequencies(passages, having | dict(rows))


_CANDIDATES = """
    SELECT passage.snapshot_id, passage.start_offset, passage.end_offset,
        passage_terms.title, passage_terms.text, passage_terms.forms,
        NOT EXISTS (
            SELECT 1 FROM page CROSS JOIN shelf
            WHERE shelf.user_id = ? AND shelf.url = page.url
                AND page.snapshot_id = passage.snapshot_id AND page.kind <> 'documentation'
        )
    FROM passage_terms JOIN passage ON passage.id = passage_terms.rowid
    WHERE {matching} AND EXISTS (
        SELECT 1 FROM page WHERE page.snapshot_id = passage.snapshot_id AND (
            page.kind = 'documentation'
            OR EXISTS (SELECT 1 FROM shelf WHERE shelf.user_id = ? AND shelf.url = page.url)
        )
    )
    ORDER BY {fitting} LIMIT ?
"""
_BY_FTS5 = _CANDIDATES.format(matching="passage_terms MATCH ?", fitting="bm25(passage_terms, 3.0, 1.0, 0.7)")
# BM25 without the length of a passage, and with a term counted once in each part: they are about equally long, and who
# asks weighs them once more.
_BY_LEXEMES = _CANDIDATES.format(
    matching="passage_terms.lexemes @@ CAST(? AS TEXT)::tsquery",
    fitting="""
        (
            SELECT sum(wanted.weight * parts.found / (parts.found + 1.2))
            FROM unnest(CAST(? AS TEXT[]), CAST(? AS DOUBLE PRECISION[])) AS wanted (term, weight)
            CROSS JOIN LATERAL (
                SELECT 3.0 * (strpos(' ' || passage_terms.title || ' ', wanted.term) > 0)::int
                    + (strpos(' ' || passage_terms.text || ' ', wanted.term) > 0)::int
                    + 0.7 * (strpos(' ' || passage_terms.forms || ' ', wanted.term) > 0)::int AS found
            ) AS parts
        ) DESC, passage_terms.rowid
    """,
)


@script
def candidates(known: Frequencies, count: int, user_id: str | None) -> Steps[list[IndexHit]]:
    """The passages that fit best by BM25, with a word in the title worth more than one in the text; of pages on this
    user's shelf, and of the documentation."""
    rarest = sorted(known.by_term, key=lambda term: known.by_term[term])[:MAX_QUERY_LEXEMES]
    lexemes = " | ".join(quoted for term in rarest if (quoted := lexeme(term)))
    weights = [
        math.log(1 + (known.passages - known.by_term[term] + 0.5) / (known.by_term[term] + 0.5)) for term in rarest
    ]
    padded = [f" {term} " for term in rarest]
    rows = yield Either(
        sql(_BY_FTS5, user_id, _fts5_query(known.by_term), user_id, count),
        sql(_BY_LEXEMES, user_id, lexemes, user_id, padded, weights, count),
    )
    return [IndexHit(row[0], IndexTerms(*row[1:6]), bool(row[6])) for row in rows]


def _fts5_query(terms: Iterable[str]) -> str:
    """Every term is a quoted string, so that none of them is read as an operator or as a name of a column."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
