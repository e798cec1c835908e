"""The full-text index of the library: passages of the current texts of pages, and the terms by which each is found.

The caller makes the terms. On SQLite the index is FTS5, which gets them as words and ranks by BM25; on PostgreSQL it is
an index over sets of terms (lexemes). Sessions have an index of the same kind (see `db/sessions.py`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.db.script import Either, Steps, script, sql, sql_many

MAX_LEXEME_BYTES = 1000
"""Longer terms are not indexed."""
LONG_TEXT_LEXEME = "§long"
"""The lexeme of a text that has too many terms for a set; such a text is searched itself."""
MAX_QUERY_LEXEMES = 100
"""Lexemes in a query, which PostgreSQL parses recursively."""


def lexeme(term: str, *, is_prefix: bool = False) -> str | None:
    """A term of a query, quoted, so that nothing in it is an operator. `is_prefix`: longer terms match too.
    None: the term is too long to be indexed."""
    if not term or len(term.encode()) > MAX_LEXEME_BYTES:
        return None
    quoted = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}':*" if is_prefix else f"'{quoted}'"


Index: TypeAlias = Literal["passage_terms", "session_terms"]
MAX_LEVELS = 300
_COOKIE_BYTES = 4
_NEWER_FORMAT = b"\xff\x00\x00\x01"
_STRUCTURE_ROW = 10
"""The row of an FTS5 index that describes its structure."""


@script
def rebuild_if_deep(index: Index) -> Steps[bool]:
    """Rebuilds an index that has too many levels; False: it has not.

    In older versions of SQLite, `optimize` and `merge` add levels and never remove one, and an index with more than
    2000 levels counts as damaged. A rebuilt index has one level.
    """
    if (yield from index_levels(index)) <= MAX_LEVELS:
        return False
    yield Either(sql(f"INSERT INTO {index} ({index}) VALUES ('rebuild')"), None)  # noqa: S608 - one of two names
    return True


@script
def index_levels(index: Index) -> Steps[int]:
    rows = yield Either(sql(f"SELECT block FROM {index}_data WHERE id = ?", _STRUCTURE_ROW), None)  # noqa: S608 - as above
    if not rows:
        return 0
    block: bytes = rows[0][0]
    at = _COOKIE_BYTES + (len(_NEWER_FORMAT) if block[_COOKIE_BYTES:].startswith(_NEWER_FORMAT) else 0)
    number = 0
    for byte in block[at:]:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number


# Passages of the library ------------------------------------------------------------------------------------


class IndexTerms(Struct, frozen=True):
    """The terms of a passage, separated by spaces. `forms`: other forms of the same words."""

    start: int
    end: int
    title: str
    text: str
    forms: str


class IndexHit(Struct, frozen=True):
    """A passage that has some of the terms. `documentation`: only pages of the documentation have it."""

    snapshot_id: str
    terms: IndexTerms
    documentation: bool


class Frequencies(Struct, frozen=True):
    """The number of passages, and how many of them have each term; a term that is not listed is in none."""

    passages: int
    by_term: dict[str, int]


@script
def index_passages(snapshot_id: str, passages: Sequence[IndexTerms]) -> Steps[None]:
    """Indexes a text, unless it is indexed already: several pages may have it."""
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
    """Removes a text from the index, unless a page still has it."""
    if (yield sql("SELECT 1 FROM page WHERE snapshot_id = ? LIMIT 1", snapshot_id)):
        return
    yield sql("DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passage WHERE snapshot_id = ?)", snapshot_id)
    yield sql("DELETE FROM passage WHERE snapshot_id = ?", snapshot_id)


@script
def purge_passages() -> Steps[None]:
    """Removes the words of deleted passages: FTS5 only marks them as deleted until it is optimised."""
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
# BM25 without the length of a passage, and with a term counted once in each part: passages are about equally long, and
# the caller ranks the candidates again.
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
