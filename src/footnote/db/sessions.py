"""The transactions of sessions: make, list, find by what was said, rename, delete.

Every script that is asked for by a user names that user, and finds nothing of anybody else.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from footnote.db.fulltext import renew
from footnote.db.phrases import Phrase, first_parts, owner_term, with_phrases
from footnote.db.script import Either, Row, Statement, Steps, script, sql, sql_holding

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
_LAST_CHANGED = "ORDER BY session.changed_at DESC, session.id DESC LIMIT ?"


@script
def create(
    *, session_id: str, user_id: str, agent_id: str, title: str, titled: bool, origin: str, created_at: str, now: float
) -> Steps[None]:
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


@script
def session(user_id: str, session_id: str) -> Steps[SessionRow | None]:
    rows = yield sql(_SESSION + "AND session.id = ?", user_id, session_id)
    return SessionRow(*rows[0]) if rows else None


@script
def listed(
    user_id: str, phrases: Sequence[Phrase], after: Position | None, count: int, *, origin: str = "page"
) -> Steps[tuple[list[SessionRow], list[FoundPart]]]:
    """Sessions in which each of the phrases stands somewhere, the last changed first, and of each the first part in
    which one of them does. The sessions of compatible doors are listed by themselves."""
    place = () if after is None else (after.changed_at, after.session_id)
    behind = _BEHIND if place else ""

    def wording(having: str, wanted: Sequence[Any]) -> Statement:
        return sql(
            f"{_SESSION} AND session.origin = ? {behind} {having} {_LAST_CHANGED}",
            *(user_id, origin, *place, *wanted, count),
        )

    rows = yield with_phrases(user_id, phrases, wording)
    found = [SessionRow(*row) for row in rows]
    parts = (yield from _found_in(user_id, phrases, found)) if phrases else []
    return found, parts


@script
def rename(session_id: str, title: str, terms: str) -> Steps[None]:
    """A person's choice. A session that is only renamed keeps its place in the list."""
    yield sql("UPDATE session SET title = ?, titled = 1 WHERE id = ?", title, session_id)
    yield from enter(session_id, TITLE, terms)


@script
def entitle(session_id: str, title: str, terms: str) -> Steps[None]:
    """The title that the first question gives a session, unless it has one."""
    named = yield sql(
        "UPDATE session SET title = ? WHERE id = ? AND title = '' AND titled = 0 RETURNING id", title, session_id
    )
    if named:
        yield from enter(session_id, TITLE, terms)


@script
def show(session_id: str, head: str) -> Steps[None]:
    """The branch that ends with this run is shown from now on."""
    yield sql("UPDATE session SET head = ? WHERE id = ?", head, session_id)


@script
def remove(user_id: str, session_id: str) -> Steps[bool]:
    """With all that was said and all files; False: there is none. To be written with `erase`, and purged after."""
    gone = yield sql("DELETE FROM session WHERE user_id = ? AND id = ? RETURNING id", user_id, session_id)
    if gone:
        yield sql("DELETE FROM search_cache")  # it holds what was searched for
    return bool(gone)


@script
def purge() -> Steps[None]:
    """Of an entry that is gone, the index only notes that: its words go when the index is written anew."""
    if not (yield from renew("session_terms")):
        yield Either(sql("INSERT INTO session_terms (session_terms) VALUES ('optimize')"), None)


@script
def purge_some(pages: int) -> Steps[bool]:
    """The same some pages at a time, for others to write in between; the first time with a negative number. False:
    there are no more."""
    if pages < 0 and (yield from renew("session_terms")):
        return False
    before = yield Either(sql("SELECT total_changes()"), None)
    yield Either(sql("INSERT INTO session_terms (session_terms, rank) VALUES ('merge', ?)", pages), None)
    after = yield Either(sql("SELECT total_changes()"), None)
    return bool(before) and after[0][0] - before[0][0] > 1


@script
def enter(session_id: str, part: str, terms: str) -> Steps[None]:
    """What a part of a session is found by: `title`, or the id of a message. Terms of earlier are replaced."""
    owners = yield sql_holding("SELECT user_id FROM session WHERE id = ?", session_id)
    if not owners:
        return
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)
    ((entry,),) = yield sql("INSERT INTO session_entry (session_id, part) VALUES (?, ?) RETURNING id", session_id, part)
    yield sql("INSERT INTO session_terms (rowid, text) VALUES (?, ?)", entry, f"{owner_term(owners[0][0])} {terms}")


@script
def _found_in(user_id: str, phrases: Sequence[Phrase], found: Sequence[SessionRow]) -> Steps[list[FoundPart]]:
    """What was said comes before the title, which is seen anyway."""
    rows = yield first_parts(user_id, phrases, [row.id for row in found], TITLE)
    parts: list[FoundPart] = []
    for session_id, part in rows:
        parts.append(FoundPart(session_id, part, (yield from _bodies(session_id, part))))
    return parts


@script
def _bodies(session_id: str, part: str) -> Steps[tuple[bytes, ...]]:
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
