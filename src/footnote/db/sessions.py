"""The transactions of sessions: create, list, search, rename, delete. Scripts that take a user find nothing in the
sessions of other users.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from footnote.db.files import sync_files_to_branch
from footnote.db.fulltext import LONG_TEXT_LEXEME, MAX_QUERY_LEXEMES, lexeme, rebuild_if_deep
from footnote.db.schema import SESSION
from footnote.db.script import Either, Row, Statement, Steps, script, sql, sql_for_update


class Phrase(Struct, frozen=True):
    """Consecutive terms. `is_prefix`: the last one may be the beginning of a longer term."""

    terms: tuple[str, ...]
    is_prefix: bool


MAX_PROBED = 50
"""Entries of a session that are scanned, here and in the statements below."""
COMMON_PHRASE_ENTRIES = 3_000
"""For a phrase with more entries, scanning the newest sessions is faster than collecting all hits of the index."""
Wording: TypeAlias = Callable[[str, Sequence[Any]], Statement]
"""Makes a statement from a condition and the values of its `?`."""

_FTS5_CONDITION = "session_terms MATCH ?"
_LEXEME_CONDITION = (
    "session_terms.lexemes @@ CAST(? AS TEXT)::tsquery AND strpos(' ' || session_terms.text || ' ', ?) > 0"
)
_HAVING = """
    AND session.id IN (
        SELECT session_entry.session_id
        FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
        WHERE {condition}
    )
"""
_FIRST_PART_FTS5 = """
    SELECT session_id, part FROM (
        SELECT session_entry.session_id, session_entry.part,
            min((substr(session_entry.part, 1, 5) = 'path:') * (1 << 61) + (session_entry.part = 'title') * (1 << 62)
                + session_entry.id)
        -- The index comes first: to look up each entry of these sessions in it would take longer.
        FROM session_terms CROSS JOIN session_entry ON session_entry.id = session_terms.rowid
        WHERE session_terms MATCH ? AND session_entry.session_id IN ({marks})
        GROUP BY session_entry.session_id
    )
"""
_FIRST_PART_LEXEMES = """
    SELECT DISTINCT ON (session_entry.session_id) session_entry.session_id, session_entry.part
    FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
    WHERE session_entry.session_id IN ({marks}) AND ({condition})
    ORDER BY session_entry.session_id, session_entry.part = 'title', session_entry.part LIKE 'path:%', session_entry.id
"""
_COUNT_PHRASE = "SELECT count(*) FROM (SELECT 1 FROM session_terms WHERE session_terms MATCH ? LIMIT ?) AS some"
_SOME_ENTRIES = """
    FROM (
        SELECT id, part FROM session_entry WHERE session_id = session.id ORDER BY part LIMIT 50
    ) AS entry
    JOIN session_terms ON session_terms.rowid = entry.id
"""
_CONTAINS = "{strpos}(' ' || session_terms.text || ' ', ?) > 0"
_PROBE = """
    SELECT session.*,
        (SELECT count(*) FROM (
            SELECT 1 FROM session_entry WHERE session_id = session.id LIMIT 51
        ) AS entries),
        (SELECT entry.part {some} WHERE {any} LIMIT 1)
        {each}
    FROM ({sessions}) AS session
"""


def with_phrases(user_id: str, phrases: Sequence[Phrase], wording: Wording) -> Either:
    """Selects the sessions of a user that contain each of the phrases."""
    held = [_lexeme_values(user_id, phrase) for phrase in phrases]
    return Either(
        wording(
            _HAVING.format(condition=_FTS5_CONDITION) * len(phrases), [_fts5_query(user_id, [one]) for one in phrases]
        ),
        wording(_HAVING.format(condition=_LEXEME_CONDITION) * len(phrases), [value for pair in held for value in pair]),
    )


def count_phrase(user_id: str, phrase: Phrase) -> Either:
    """The number of entries of a user with a phrase, up to `COMMON_PHRASE_ENTRIES`. Left out on PostgreSQL, where it
    would take as long as the search itself."""
    return Either(sql(_COUNT_PHRASE, _fts5_query(user_id, [phrase]), COMMON_PHRASE_ENTRIES), None)


def probe_sessions(user_id: str, phrases: Sequence[Phrase], sessions: str, values: Sequence[Any]) -> Either:
    """For each session that the statement `sessions` selects, after its columns: the number of entries, up to one more
    than are scanned; the first scanned entry that contains a phrase; and for each phrase whether an entry contains
    it."""
    texts = [_lexeme_values(user_id, phrase)[1] for phrase in phrases]

    def statement(strpos: str) -> Statement:
        stands = _CONTAINS.format(strpos=strpos)
        return sql(
            _PROBE.format(
                some=_SOME_ENTRIES,
                any=" OR ".join([stands] * len(texts)),
                each="".join(f", EXISTS (SELECT 1 {_SOME_ENTRIES} WHERE {stands})" for _ in texts),
                sessions=sessions,
            ),
            *(*texts, *texts, *values),
        )

    return Either(statement("instr"), statement("strpos"))


def first_parts(user_id: str, phrases: Sequence[Phrase], session_ids: Sequence[str]) -> Either:
    """The first part of each session that contains one of the phrases: messages before files, and the title last."""
    if not session_ids:
        return Either(None, None)
    marks = ", ".join("?" * len(session_ids))
    condition = " OR ".join(f"({_LEXEME_CONDITION})" for _ in phrases)
    held = [value for phrase in phrases for value in _lexeme_values(user_id, phrase)]
    return Either(
        sql(_FIRST_PART_FTS5.format(marks=marks), _fts5_query(user_id, phrases), *session_ids),
        sql(_FIRST_PART_LEXEMES.format(marks=marks, condition=condition), *session_ids, *held),
    )


def owner_term(user_id: str) -> str:
    """A term that all entries of a user have and no text has, so that a query does not scan the entries of others."""
    return "§" + hashlib.sha256(user_id.encode()).hexdigest()[:16]


def _fts5_query(user_id: str, phrases: Sequence[Phrase]) -> str:
    """An FTS5 query for any of the phrases. Each is a quoted string, so that nothing in it is an operator or the name
    of a column."""
    wanted = " OR ".join(f'"{" ".join(phrase.terms)}"{" *" if phrase.is_prefix else ""}' for phrase in phrases)
    return f'"{owner_term(user_id)}" AND ({wanted})'


def _lexeme_values(user_id: str, phrase: Phrase) -> tuple[str, str]:
    """The lexemes and the text that an entry with the phrase contains."""
    *whole, last = phrase.terms
    owner = lexeme(owner_term(user_id))
    needed = [lexeme(last, is_prefix=phrase.is_prefix), *map(lexeme, whole[:MAX_QUERY_LEXEMES])]
    terms = " & ".join(one for one in needed if one) or owner
    return (
        f"{owner} & (({terms}) | {lexeme(LONG_TEXT_LEXEME)})",
        f" {' '.join(phrase.terms)}{'' if phrase.is_prefix else ' '}",
    )


TITLE = "title"
"""The part of a session that is its title. Others are the ids of its messages, and files (`file_part`)."""
_FILE_PREFIX = "path:"
"""Before the key of a file: by their names, messages come before files, and files before the title."""


class SessionRow(Struct, frozen=True):
    """A row of the table `session`. `titled`: 1 if a user chose the title. `head`: the last run of the active branch.
    `changed_at` is in seconds since 1970."""

    id: str
    user_id: str
    agent_id: str
    title: str
    titled: int
    origin: str
    head: str | None
    created_at: str
    changed_at: float


class ListedSession(SessionRow, frozen=True):
    """`active_run`: the run that has not ended yet."""

    active_run: str | None


class Position(Struct, frozen=True):
    """A cursor of the list: after this session."""

    changed_at: float
    session_id: str


class FoundPart(Struct, frozen=True):
    """A part of a session with a hit. `bodies`: the messages of the part as JSON; empty for a title or a file."""

    session_id: str
    part: str
    bodies: tuple[bytes, ...]

    @property
    def file_key(self) -> str | None:
        """The key of the file, if the part is a file."""
        return self.part.removeprefix(_FILE_PREFIX) if self.part.startswith(_FILE_PREFIX) else None


def file_part(key: str) -> str:
    return f"{_FILE_PREFIX}{key}"


_SESSION = f"""
    SELECT {SESSION.select_list(SessionRow)},
        (
            SELECT run.id FROM run WHERE run.session_id = session.id AND run.state IN ('queued', 'running', 'waiting')
        ) AS active_run
    FROM session WHERE session.user_id = ?
"""  # noqa: S608 - columns of the schema
_COLUMN_COUNT = len(ListedSession.__struct_fields__)
_EXTRA_SCANNED = 20
"""Sessions that are scanned beyond the number that is wanted."""
_AFTER_CURSOR = "AND (session.changed_at, session.id) < (?, ?)"
_HAS_CONTENT = "AND (session.title <> '' OR EXISTS (SELECT 1 FROM question WHERE question.session_id = session.id))"
"""The session has a question or a title."""
_NEWEST_FIRST = "ORDER BY session.changed_at DESC, session.id DESC LIMIT ?"


@script
def create(row: SessionRow) -> Steps[None]:
    yield SESSION.insert(row)


@script
def session(user_id: str, session_id: str) -> Steps[ListedSession | None]:
    rows = yield sql(_SESSION + "AND session.id = ?", user_id, session_id)
    return ListedSession(*rows[0]) if rows else None


@script
def list_sessions(
    user_id: str, phrases: Sequence[Phrase], after: Position | None, count: int, *, origin: str = "page"
) -> Steps[tuple[list[ListedSession], list[FoundPart]]]:
    """The sessions that contain each of the phrases, the last changed first, and the first part of each that contains
    one. Sessions of the compatible APIs have another `origin`, and are listed separately. A session without a question,
    created for an upload, is not listed."""
    place = () if after is None else (after.changed_at, after.session_id)
    behind = _AFTER_CURSOR if place else ""

    def wording(having: str, wanted: Sequence[Any]) -> Statement:
        return sql(
            f"{_SESSION} AND session.origin = ? {_HAS_CONTENT} {behind} {having} {_NEWEST_FIRST}",
            *(user_id, origin, *place, *wanted, count),
        )

    if phrases:
        newest = sql(
            f"{_SESSION} AND session.origin = ? {_HAS_CONTENT} {behind} {_NEWEST_FIRST}", user_id, origin, *place
        )
        among = yield from _search_newest(user_id, phrases, newest, count)
        if among is not None:
            return among
    rows = yield with_phrases(user_id, phrases, wording)
    found = [ListedSession(*row) for row in rows]
    parts = (yield from _matching_parts(user_id, phrases, found)) if phrases else []
    return found, parts


@script
def _search_newest(
    user_id: str, phrases: Sequence[Phrase], newest: Statement, count: int
) -> Steps[tuple[list[ListedSession], list[FoundPart]] | None]:
    """Searches common phrases by scanning the newest sessions. None: the scan cannot tell, because a phrase is rare or
    a session has more entries than were scanned."""
    for phrase in phrases:
        number = yield count_phrase(user_id, phrase)
        if number and number[0][0] < COMMON_PHRASE_ENTRIES:
            return None
    looked_at = count + _EXTRA_SCANNED
    rows = yield probe_sessions(user_id, phrases, newest.text, [*newest.values, looked_at])
    found: list[ListedSession] = []
    firsts: list[tuple[str, str]] = []
    for row in rows:
        session, (entries, first, *stands) = ListedSession(*row[:_COLUMN_COUNT]), row[_COLUMN_COUNT:]
        if all(stands):
            found.append(session)
            firsts.append((session.id, first))
        elif entries > MAX_PROBED:
            return None
        if len(found) == count:
            break
    if len(found) < count and len(rows) == looked_at:
        return None
    return found, (yield from _load_parts(firsts))


@script
def rename(session_id: str, title: str, terms: str) -> Steps[None]:
    """Stores the title that a user chose. The session keeps its place in the list."""
    yield sql("UPDATE session SET title = ?, titled = 1 WHERE id = ?", title, session_id)
    yield from index_part(session_id, TITLE, terms)


@script
def set_title(session_id: str, title: str, terms: str) -> Steps[None]:
    """Stores the title that is derived from the first question, unless the session has one."""
    named = yield sql(
        "UPDATE session SET title = ? WHERE id = ? AND title = '' AND titled = 0 RETURNING id", title, session_id
    )
    if named:
        yield from index_part(session_id, TITLE, terms)


@script
def set_head(session_id: str, head: str) -> Steps[None]:
    """Makes the branch that ends with this run the active one, with its files."""
    yield sql("UPDATE session SET head = ? WHERE id = ?", head, session_id)
    yield from sync_files_to_branch(session_id)


@script
def delete_session(user_id: str, session_id: str) -> Steps[bool]:
    """Deletes a session with its turns and files; False: there is none. To be written with `erase`, and followed by a
    purge."""
    gone = yield sql("DELETE FROM session WHERE user_id = ? AND id = ? RETURNING id", user_id, session_id)
    if gone:
        yield sql("DELETE FROM search_cache")  # it holds what was searched for
    return bool(gone)


@script
def abandoned_sessions(before: float, written_before: str, count: int) -> Steps[list[tuple[str, str]]]:
    """Users and sessions: those in which nothing was ever asked, without a title, that were made and last given a file
    before a moment, which is named in both ways in which moments are stored."""
    rows = yield sql(
        """
        SELECT session.user_id, session.id FROM session
        WHERE session.title = '' AND session.head IS NULL AND session.changed_at < ?
            AND NOT EXISTS (SELECT 1 FROM question WHERE question.session_id = session.id)
            AND NOT EXISTS (
                SELECT 1 FROM workspace_file JOIN file_version ON file_version.file_id = workspace_file.id
                WHERE workspace_file.session_id = session.id AND file_version.created_at >= ?
            )
        ORDER BY session.changed_at LIMIT ?
        """,
        before,
        written_before,
        count,
    )
    return [(user_id, session_id) for user_id, session_id in rows]


@script
def purge_terms_step(pages: int) -> Steps[bool]:
    """Removes the terms of deleted entries, which FTS5 only marks as deleted until their pages are merged. One step
    merges some pages, so that other scripts can write in between; `pages` is negative for the first step. False: the
    purge is complete."""
    if pages < 0 and (yield from rebuild_if_deep("session_terms")):
        return False
    before = yield Either(sql("SELECT total_changes()"), None)
    yield Either(sql("INSERT INTO session_terms (session_terms, rank) VALUES ('merge', ?)", pages), None)
    after = yield Either(sql("SELECT total_changes()"), None)
    return bool(before) and after[0][0] - before[0][0] > 1


@script
def index_part(session_id: str, part: str, terms: str) -> Steps[None]:
    """Replaces the search terms of a part of a session: `title`, the id of a message, or a file."""
    owners = yield sql_for_update("SELECT user_id FROM session WHERE id = ?", session_id)
    if not owners:
        return
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)
    ((entry,),) = yield sql("INSERT INTO session_entry (session_id, part) VALUES (?, ?) RETURNING id", session_id, part)
    yield sql("INSERT INTO session_terms (rowid, text) VALUES (?, ?)", entry, f"{owner_term(owners[0][0])} {terms}")


@script
def unindex_part(session_id: str, part: str) -> Steps[None]:
    """Removes a part of a session from the index."""
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)


@script
def _matching_parts(user_id: str, phrases: Sequence[Phrase], found: Sequence[SessionRow]) -> Steps[list[FoundPart]]:
    """The title comes last, because the list shows it anyway."""
    rows = yield first_parts(user_id, phrases, [row.id for row in found])
    return (yield from _load_parts((session_id, part) for session_id, part in rows))


@script
def _load_parts(places: Iterable[tuple[str, str]]) -> Steps[list[FoundPart]]:
    parts: list[FoundPart] = []
    for session_id, part in places:
        parts.append(FoundPart(session_id, part, (yield from _bodies(session_id, part))))
    return parts


@script
def _bodies(session_id: str, part: str) -> Steps[tuple[bytes, ...]]:
    if part.startswith(_FILE_PREFIX):
        return ()
    rows: list[Row] = yield sql("SELECT body FROM question WHERE session_id = ? AND id = ?", session_id, part)
    if not rows:
        rows = yield sql(
            """
            SELECT run_message.body FROM run JOIN run_message ON run_message.run_id = run.id
            WHERE run.session_id = ? AND run.message_id = ? ORDER BY run_message.ordinal
            """,
            session_id,
            part,
        )
    return tuple(body for (body,) in rows)
