"""The transactions of sessions: make, list, find by what was said, rename, delete.

Every script that is asked for by a user names that user, and finds nothing of anybody else.
"""

import hashlib
from collections.abc import Sequence

from msgspec import Struct

from footnote.db.fulltext import renew
from footnote.db.script import Row, Script, sql

TITLE = "title"
"""The part of a session that is its title; the others are the ids of its messages."""


class SessionRow(Struct, frozen=True):
    """`changed_at` is in seconds since 1970, `active_run` the run that is not over yet."""

    id: str
    title: str
    agent_id: str
    created_at: str
    changed_at: float
    head: str | None
    active_run: str | None


class Position(Struct, frozen=True):
    """A place in the list: behind this session."""

    changed_at: float
    session_id: str


class Phrase(Struct, frozen=True):
    """Terms that follow each other. `open`: the last one may be the beginning of a longer one."""

    terms: tuple[str, ...]
    open: bool


class FoundPart(Struct, frozen=True):
    """A part of a session in which something was found, with what it holds: the title, or messages as JSON."""

    session_id: str
    part: str
    bodies: tuple[bytes, ...]


_SESSION = """
    SELECT session.id, session.title, session.agent_id, session.created_at, session.changed_at, session.head,
        (SELECT run.id FROM run WHERE run.session_id = session.id AND run.state IN ('queued', 'running'))
    FROM session WHERE session.user_id = ?
"""
_BEHIND = "AND (session.changed_at, session.id) < (?, ?)"
_HAVING = """
    AND session.id IN (
        SELECT session_entry.session_id
        FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
        WHERE session_terms MATCH ?
    )
"""
_LAST_CHANGED = "ORDER BY session.changed_at DESC, session.id DESC LIMIT ?"
_FIRST_PART = """
    SELECT session_entry.session_id, session_entry.part, min((session_entry.part = ?) * (1 << 62) + session_entry.id)
    FROM session_terms JOIN session_entry ON session_entry.id = session_terms.rowid
    WHERE session_terms MATCH ?
"""


def create(
    *, session_id: str, user_id: str, agent_id: str, title: str, titled: bool, origin: str, created_at: str, now: float
) -> Script[None]:
    yield sql(
        """
        INSERT INTO session (id, user_id, agent_id, title, titled, origin, created_at, changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        session_id,
        user_id,
        agent_id,
        title,
        titled,
        origin,
        created_at,
        now,
    )


def session(user_id: str, session_id: str) -> Script[SessionRow | None]:
    rows = yield sql(_SESSION + "AND session.id = ?", user_id, session_id)
    return SessionRow(*rows[0]) if rows else None


def listed(
    user_id: str, phrases: Sequence[Phrase], after: Position | None, count: int, *, origin: str = "page"
) -> Script[tuple[list[SessionRow], list[FoundPart]]]:
    """Sessions in which each of the phrases stands somewhere, the last changed first, and of each the first part in
    which one of them does. The sessions of compatible doors are listed by themselves."""
    place = () if after is None else (after.changed_at, after.session_id)
    rows = yield sql(
        f"{_SESSION} AND session.origin = ? {_BEHIND if place else ''} {_HAVING * len(phrases)} {_LAST_CHANGED}",
        user_id,
        origin,
        *place,
        *(_among(user_id, [phrase]) for phrase in phrases),
        count,
    )
    found = [SessionRow(*row) for row in rows]
    parts = (yield from _found_in(user_id, phrases, found)) if phrases else []
    return found, parts


def rename(session_id: str, title: str, terms: str) -> Script[None]:
    """A person's choice. A session that is only renamed keeps its place in the list."""
    yield sql("UPDATE session SET title = ?, titled = 1 WHERE id = ?", title, session_id)
    yield from enter(session_id, TITLE, terms)


def entitle(session_id: str, title: str, terms: str) -> Script[None]:
    """The title that the first question gives a session, unless it has one."""
    named = yield sql(
        "UPDATE session SET title = ? WHERE id = ? AND title = '' AND titled = 0 RETURNING id", title, session_id
    )
    if named:
        yield from enter(session_id, TITLE, terms)


def show(session_id: str, head: str) -> Script[None]:
    """The branch that ends with this run is shown from now on."""
    yield sql("UPDATE session SET head = ? WHERE id = ?", head, session_id)


def remove(user_id: str, session_id: str) -> Script[bool]:
    """With all that was said and all files; False: there is none. To be written with `erase`, and purged after."""
    gone = yield sql("DELETE FROM session WHERE user_id = ? AND id = ? RETURNING id", user_id, session_id)
    if gone:
        yield sql("DELETE FROM search_cache")  # it holds what was searched for
    return bool(gone)


def purge() -> Script[None]:
    """Of an entry that is gone, the index only notes that: its words go when the index is written anew."""
    if not (yield from renew("session_terms")):
        yield sql("INSERT INTO session_terms (session_terms) VALUES ('optimize')")


def purge_some(pages: int) -> Script[bool]:
    """The same some pages at a time, for others to write in between; the first time with a negative number. False:
    there are no more."""
    if pages < 0 and (yield from renew("session_terms")):
        return False
    ((before,),) = yield sql("SELECT total_changes()")
    yield sql("INSERT INTO session_terms (session_terms, rank) VALUES ('merge', ?)", pages)
    ((after,),) = yield sql("SELECT total_changes()")
    return after - before > 1


def enter(session_id: str, part: str, terms: str) -> Script[None]:
    """What a part of a session is found by: `title`, or the id of a message. Terms of earlier are replaced."""
    owners = yield sql("SELECT user_id FROM session WHERE id = ?", session_id)
    if not owners:
        return
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)
    ((entry,),) = yield sql("INSERT INTO session_entry (session_id, part) VALUES (?, ?) RETURNING id", session_id, part)
    yield sql("INSERT INTO session_terms (rowid, text) VALUES (?, ?)", entry, f"{_owner(owners[0][0])} {terms}")


def _found_in(user_id: str, phrases: Sequence[Phrase], found: Sequence[SessionRow]) -> Script[list[FoundPart]]:
    """What was said comes before the title, which is seen anyway."""
    marks = ", ".join("?" * len(found))
    rows = yield sql(
        f"{_FIRST_PART} AND session_entry.session_id IN ({marks}) GROUP BY session_entry.session_id",
        TITLE,
        _among(user_id, phrases),
        *(row.id for row in found),
    )
    parts: list[FoundPart] = []
    for session_id, part, _ in rows:
        parts.append(FoundPart(session_id, part, (yield from _bodies(session_id, part))))
    return parts


def _bodies(session_id: str, part: str) -> Script[tuple[bytes, ...]]:
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


def _among(user_id: str, phrases: Sequence[Phrase]) -> str:
    """What finds any of the phrases in the sessions of a user. Every one is a quoted string, so that nothing in it is
    read as an operator or as the name of a column."""
    wanted = " OR ".join(f'"{" ".join(phrase.terms)}"{" *" if phrase.open else ""}' for phrase in phrases)
    return f'"{_owner(user_id)}" AND ({wanted})'


def _owner(user_id: str) -> str:
    """A term that all entries of a user have, and no text: without it, what others said would be gone through too."""
    return "§" + hashlib.sha256(user_id.encode()).hexdigest()[:16]
