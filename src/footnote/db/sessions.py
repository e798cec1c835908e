"""The transactions of sessions: make, list, find by what was said, rename, delete.

Every script that is asked for by a user names that user, and finds nothing of anybody else.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from footnote.db.files import follow_branch
from footnote.db.fulltext import renew
from footnote.db.phrases import COMMON, MAX_PROBED, Phrase, counted, first_parts, owner_term, probed, with_phrases
from footnote.db.script import Either, Row, Statement, Steps, script, sql, sql_holding

TITLE = "title"
"""The part of a session that is its title. Others are the ids of its messages, and files (`file_part`)."""
_FILE = "path:"
"""Before the key of a file: by their names, messages come before files, and files before the title."""


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

    @property
    def file_key(self) -> str | None:
        """The file that it is; None: it is none."""
        return self.part.removeprefix(_FILE) if self.part.startswith(_FILE) else None


def file_part(key: str) -> str:
    return f"{_FILE}{key}"


_SESSION = """
    SELECT session.id, session.title, session.agent_id, session.created_at, session.changed_at, session.head,
        (
            SELECT run.id FROM run WHERE run.session_id = session.id AND run.state IN ('queued', 'running', 'waiting')
        ) AS active
    FROM session WHERE session.user_id = ?
"""
_COLUMNS = len(SessionRow.__struct_fields__)
_MORE_NEWEST = 20
"""Sessions that are looked through beside as many as are wanted."""
_BEHIND = "AND (session.changed_at, session.id) < (?, ?)"
_BEGUN = "AND (session.title <> '' OR EXISTS (SELECT 1 FROM question WHERE question.session_id = session.id))"
"""Something was asked in it, or somebody has given it a title."""
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
    which one of them does. The sessions of compatible doors are listed by themselves. One that was only made, for a
    file to be attached to the first question, is not listed before that is asked."""
    place = () if after is None else (after.changed_at, after.session_id)
    behind = _BEHIND if place else ""

    def wording(having: str, wanted: Sequence[Any]) -> Statement:
        return sql(
            f"{_SESSION} AND session.origin = ? {_BEGUN} {behind} {having} {_LAST_CHANGED}",
            *(user_id, origin, *place, *wanted, count),
        )

    if phrases:
        newest = sql(f"{_SESSION} AND session.origin = ? {_BEGUN} {behind} {_LAST_CHANGED}", user_id, origin, *place)
        among = yield from _among_newest(user_id, phrases, newest, count)
        if among is not None:
            return among
    rows = yield with_phrases(user_id, phrases, wording)
    found = [SessionRow(*row) for row in rows]
    parts = (yield from _found_in(user_id, phrases, found)) if phrases else []
    return found, parts


@script
def _among_newest(
    user_id: str, phrases: Sequence[Phrase], newest: Statement, count: int
) -> Steps[tuple[list[SessionRow], list[FoundPart]] | None]:
    """Words that are everywhere are in the newest sessions too, and those are quickly looked through. None: they do not
    tell, since a phrase is rare, or since there may be more in a session than was looked at."""
    for phrase in phrases:
        number = yield counted(user_id, phrase)
        if number and number[0][0] < COMMON:
            return None
    looked_at = count + _MORE_NEWEST
    rows = yield probed(user_id, phrases, newest.text, [*newest.values, looked_at])
    found: list[SessionRow] = []
    firsts: list[tuple[str, str]] = []
    for row in rows:
        session, (entries, first, *stands) = SessionRow(*row[:_COLUMNS]), row[_COLUMNS:]
        if all(stands):
            found.append(session)
            firsts.append((session.id, first))
        elif entries > MAX_PROBED:
            return None
        if len(found) == count:
            break
    if len(found) < count and len(rows) == looked_at:
        return None
    return found, (yield from _with_bodies(firsts))


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
    """The branch that ends with this run is shown from now on, with its files."""
    yield sql("UPDATE session SET head = ? WHERE id = ?", head, session_id)
    yield from follow_branch(session_id)


@script
def remove(user_id: str, session_id: str) -> Steps[bool]:
    """With all that was said and all files; False: there is none. To be written with `erase`, and purged after."""
    gone = yield sql("DELETE FROM session WHERE user_id = ? AND id = ? RETURNING id", user_id, session_id)
    if gone:
        yield sql("DELETE FROM search_cache")  # it holds what was searched for
    return bool(gone)


@script
def abandoned(before: float, written_before: str, count: int) -> Steps[list[tuple[str, str]]]:
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
    """What a part of a session is found by: `title`, the id of a message, or a file. Terms of earlier are replaced."""
    owners = yield sql_holding("SELECT user_id FROM session WHERE id = ?", session_id)
    if not owners:
        return
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)
    ((entry,),) = yield sql("INSERT INTO session_entry (session_id, part) VALUES (?, ?) RETURNING id", session_id, part)
    yield sql("INSERT INTO session_terms (rowid, text) VALUES (?, ?)", entry, f"{owner_term(owners[0][0])} {terms}")


@script
def leave(session_id: str, part: str) -> Steps[None]:
    """The part is gone, or says nothing any more."""
    yield sql("DELETE FROM session_entry WHERE session_id = ? AND part = ?", session_id, part)


@script
def _found_in(user_id: str, phrases: Sequence[Phrase], found: Sequence[SessionRow]) -> Steps[list[FoundPart]]:
    """What was said comes before the title, which is seen anyway."""
    rows = yield first_parts(user_id, phrases, [row.id for row in found])
    return (yield from _with_bodies((session_id, part) for session_id, part in rows))


@script
def _with_bodies(places: Iterable[tuple[str, str]]) -> Steps[list[FoundPart]]:
    parts: list[FoundPart] = []
    for session_id, part in places:
        parts.append(FoundPart(session_id, part, (yield from _bodies(session_id, part))))
    return parts


@script
def _bodies(session_id: str, part: str) -> Steps[tuple[bytes, ...]]:
    if part.startswith(_FILE):
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
