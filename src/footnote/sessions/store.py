"""`Sessions`: make, list, find, rename, delete, and what was said in them.

Everything is asked for by a user. What belongs to somebody else does not exist: `Unknown`.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
from msgspec import UNSET

from footnote.citations.numbering import Sources
from footnote.db import files, library, turns
from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql_holding
from footnote.language.search_terms import MAX_FILE_CHARACTERS, terms_of, words_of
from footnote.library import Library
from footnote.protocol.errors import RunActive, Unknown, UsageError
from footnote.protocol.history import ActiveRun, History, PastMessage, SessionHead, WorkspaceView
from footnote.protocol.ids import new_id
from footnote.protocol.messages import Message
from footnote.protocol.sessions import FoundSession, Origin, SessionChanges, SessionPage, SourceView
from footnote.protocol.sources import Source
from footnote.protocol.times import written
from footnote.sessions import turns as stored
from footnote.sessions.branches import branch_to, find, newest_below
from footnote.sessions.excerpts import FoundFile, Place, places_of
from footnote.sessions.history import past_messages, past_turns, source_groups
from footnote.sessions.sources import snapshots_of, source_view
from footnote.sessions.titles import clean_title
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import Workspace
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.stored import stored_record, stored_workspace

MOST_LISTED = 100
ABANDONED_SECONDS = 30 * 86_400.0
"""How long a session is kept in which nothing is asked, after it was made and after its last file."""
_ABANDONED_AT_ONCE = 20
PURGED_AT_ONCE = 200
"""Pages of the index: some hundredths of a second, in which nobody else writes."""
_LOOKED_AT = 500
"""Titles at a time."""
_place = msgspec.json.Decoder(tuple[float, str])


class Sessions:
    """`file_bytes`: how much the files of one user may have together; None: as much as there is room for."""

    def __init__(
        self,
        database: Database,
        library: Library,
        blobs: Blobs,
        *,
        file_bytes: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._library = library
        self._blobs = blobs
        self._file_bytes = file_bytes
        self._clock = clock
        self._purging = asyncio.Lock()
        self._deleted = self._purged = 0

    async def create(
        self, user_id: str, agent_id: str, *, title: str | None = None, origin: Origin = "page"
    ) -> SessionHead:
        """Without a title it gets one from its first question."""
        now = self._clock()
        head = SessionHead(new_id("session"), clean_title(title or ""), agent_id, written(now))
        await self._database.write(_created(head, user_id, origin, now))
        return head

    async def list(
        self,
        user_id: str,
        *,
        query: str | None = None,
        cursor: str | None = None,
        limit: int = 30,
        origin: Origin = "page",
    ) -> SessionPage:
        """The last changed first; with a query, those in which each of its words stands somewhere. A query of signs
        alone, such as an emoji, is looked for in titles."""
        if not 1 <= limit <= MOST_LISTED:
            raise UsageError(f"limit is {limit}; it may be from 1 to {MOST_LISTED}.")
        after = None if cursor is None else _read_cursor(cursor)
        words = words_of(query or "")
        signs = () if words else _signs_of(query or "")
        if signs:
            rows, parts = await self._database.read(_entitled(user_id, signs, after, limit + 1, origin)), []
        else:
            phrases = [db.Phrase(word.terms, word.open) for word in words]
            rows, parts = await self._database.read(db.listed(user_id, phrases, after, limit + 1, origin=origin))
        files = await self._found_files(user_id, parts)
        places = await asyncio.to_thread(places_of, rows[:limit], parts, files, words) if words else {}
        listed = tuple(_found(row, places.get(row.id, Place())) for row in rows[:limit])
        return SessionPage(listed, _cursor(rows[limit - 1]) if len(rows) > limit else None)

    async def _found_files(self, user_id: str, parts: Sequence[db.FoundPart]) -> dict[str, FoundFile]:
        """The files among the parts, by their sessions, without those that were deleted meanwhile."""
        found: dict[str, FoundFile] = {}
        for part in parts:
            if part.file_key is not None:
                workspace = self.workspace(user_id, part.session_id)
                with suppress(UsageError):
                    record = await workspace.record(part.file_key)
                    text = await workspace.text_of(part.file_key)
                    found[part.session_id] = FoundFile(record.path, text[:MAX_FILE_CHARACTERS])
        return found

    async def head(self, user_id: str, session_id: str) -> SessionHead:
        return _head(_known(await self._database.read(db.session(user_id, session_id))))

    async def change(self, user_id: str, session_id: str, changes: SessionChanges) -> SessionHead:
        """A title of the user's own; the branch that is shown. `Unknown`: no such session, or no such message in it."""
        return _head(await self._database.write(_changed(user_id, session_id, changes)))

    async def delete(self, user_id: str, session_id: str) -> None:
        """With all that was said and all files. Nothing of it can be brought back. Its run has been ended before."""
        if not await self._database.write(_removed(user_id, session_id), erase=True):
            raise _unknown()
        await self.sweep()
        await self._purge()

    async def sweep(self) -> None:
        """Removes the contents of files that are gone from the storage."""
        await self._blobs.sweep()

    async def clean_up(self) -> None:
        """Removes sessions in which nothing was ever asked, and contents that nothing needs any more."""
        before = self._clock() - ABANDONED_SECONDS
        while await self._database.write(_cleaned(before, written(before)), erase=True):
            pass
        await self.sweep()

    async def _purge(self) -> None:
        """Takes the words of deleted sessions out of the index, in steps between which others can write. Whoever waits
        for it meanwhile is served by the next time."""
        self._deleted += 1
        mine = self._deleted
        async with self._purging:
            if self._purged >= mine:
                return
            upto = self._deleted
            await self._database.write(db.purge_some(-PURGED_AT_ONCE))
            while await self._database.write(db.purge_some(PURGED_AT_ONCE)):
                pass
            await self._database.write(db.purge_some(PURGED_AT_ONCE), erase=True)
            self._purged = upto

    async def history(self, user_id: str, session_id: str) -> History:
        """The branch that is shown, as it was streamed."""
        return await self._database.read(_history(user_id, session_id, self._blobs.address))

    async def messages(self, user_id: str, session_id: str) -> tuple[Message, ...]:
        """All that was said in any branch, first in the one that is shown."""
        return await self._database.read(_all_said(user_id, session_id))

    async def source(self, user_id: str, session_id: str, number: int) -> SourceView:
        """A footnote: what was read there in this session, in any of its branches, and what was quoted from it."""
        messages = await self.messages(user_id, session_id)
        texts = await self._library.of(user_id).snapshots(await asyncio.to_thread(snapshots_of, messages, number))
        view = await asyncio.to_thread(source_view, messages, number, texts)
        if view is None:
            raise Unknown(f"This session has no source {number}.")
        return view

    async def sources(self, user_id: str, session_id: str) -> dict[int, Source]:
        """All that was found in this session, in any of its branches, by number."""
        messages = await self.messages(user_id, session_id)
        found = await asyncio.to_thread(Sources.of, messages, {})
        return {number: source for number in found.numbers if (source := found.source(number))}

    async def session_with(self, user_id: str, key: str) -> str | None:
        """The session that has a file of this key: of several the one that was changed last."""
        return await self._database.read(files.session_with(user_id, key))

    def workspace(self, user_id: str, session_id: str) -> Workspace:
        """The files of the session; none of a session that is somebody else's."""
        return stored_workspace(self._database, self._blobs, user_id, session_id, most=self._file_bytes)


# Transactions ----------------------------------------------------------------------------------------------


@script
def _created(head: SessionHead, user_id: str, origin: str, now: float) -> Steps[None]:
    yield from db.create(
        session_id=head.id,
        user_id=user_id,
        agent_id=head.agent_id,
        title=head.title,
        titled=bool(head.title),
        origin=origin,
        created_at=head.created_at,
        now=now,
    )
    if head.title:
        yield from db.enter(head.id, db.TITLE, terms_of(head.title))


@script
def _entitled(
    user_id: str, signs: Sequence[str], after: db.Position | None, count: int, origin: Origin
) -> Steps[list[db.SessionRow]]:
    """Sessions whose titles have all of the signs in them, of which the index knows none."""
    found: list[db.SessionRow] = []
    while len(found) < count:
        rows, _ = yield from db.listed(user_id, (), after, _LOOKED_AT, origin=origin)
        found += [row for row in rows if all(sign in _bare(row.title) for sign in signs)]
        if len(rows) < _LOOKED_AT:
            break
        after = db.Position(rows[-1].changed_at, rows[-1].id)
    return found[:count]


@script
def _changed(user_id: str, session_id: str, changes: SessionChanges) -> Steps[db.SessionRow]:
    row = _known((yield from db.session(user_id, session_id)))
    if changes.title is not UNSET:
        title = clean_title(changes.title)
        if not title:
            raise UsageError("The title has nothing that can be read. Write one, or leave it as it is.")
        yield from db.rename(session_id, title, terms_of(title))
    if changes.head is not UNSET:
        if row.active_run is not None:
            raise RunActive("This session is being answered. Choose another branch when that has ended.")
        all_turns = yield from turns.turns(session_id)
        turn = find(all_turns, changes.head)
        if turn is None:
            raise Unknown("This session has no such message.")
        yield from db.show(session_id, newest_below(all_turns, turn.run_id))
    return _known((yield from db.session(user_id, session_id)))


@script
def _removed(user_id: str, session_id: str) -> Steps[bool]:
    """With what the library has of its uploads."""
    urls = yield from files.library_urls(user_id, session_id)
    removed = yield from db.remove(user_id, session_id)
    yield from library.remove_all(urls, user_id)
    return removed


@script
def _cleaned(before: float, written_before: str) -> Steps[bool]:
    """Some at a time, for others to write in between. Whether there may be more. Whoever asks in one of them at the
    same moment changes its row, and is waited for."""
    gone = yield from db.abandoned(before, written_before, _ABANDONED_AT_ONCE)
    for user_id, session_id in gone:
        row = yield sql_holding("SELECT changed_at FROM session WHERE id = ?", session_id)
        if row and row[0][0] < before:
            yield from _removed(user_id, session_id)
    return len(gone) == _ABANDONED_AT_ONCE


@script
def _history(user_id: str, session_id: str, address: str) -> Steps[History]:
    """All of it on one state of the database. `address`: that of the storage."""
    row = _known((yield from db.session(user_id, session_id)))
    all_turns = yield from turns.turns(session_id)
    branch = branch_to(all_turns, row.head)
    said = yield from turns.said_by(turn.run_id for turn in branch)
    kept = yield from files.files(user_id, session_id)
    messages: tuple[PastMessage, ...] = tuple(past_messages(branch, said))
    return History(
        session=_head(row),
        messages=messages,
        workspace=WorkspaceView(
            source_groups(messages),
            tuple(
                stored_record(user_id, session_id, file, address)
                for file in kept
                if not file.path.startswith(LARGE_RESULTS)
            ),
        ),
        active_run=None if row.active_run is None else ActiveRun(row.active_run),
        turns=tuple(past_turns(all_turns, branch)),
    )


@script
def _all_said(user_id: str, session_id: str) -> Steps[tuple[Message, ...]]:
    """First what the branch that is shown says, then the others."""
    row = _known((yield from db.session(user_id, session_id)))
    all_turns = yield from turns.turns(session_id)
    ids = dict.fromkeys(turn.run_id for turn in (*branch_to(all_turns, row.head), *all_turns))
    said = yield from turns.said_by(ids)
    return tuple(stored.said.decode(body) for bodies in said.values() for body in bodies)


# Values ----------------------------------------------------------------------------------------------------


def _signs_of(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for sign in query.split() if (bare := _bare(sign))))


def _bare(text: str) -> str:
    """Without what says that a sign is to be drawn in colours, which some keyboards write and others do not."""
    return text.replace("\ufe0f", "")


def _unknown() -> Unknown:
    return Unknown("There is no such session.")


def _known(row: db.SessionRow | None) -> db.SessionRow:
    if row is None:
        raise _unknown()
    return row


def _head(row: db.SessionRow) -> SessionHead:
    return SessionHead(row.id, row.title, row.agent_id, row.created_at)


def _found(row: db.SessionRow, place: Place) -> FoundSession:
    return FoundSession(
        row.id,
        row.title,
        row.agent_id,
        row.created_at,
        updated_at=written(row.changed_at),
        active_run_id=row.active_run,
        excerpt=place.excerpt,
        message_id=place.message_id,
        path=place.path,
    )


def _cursor(row: db.SessionRow) -> str:
    place = msgspec.json.encode((row.changed_at, row.id))
    return base64.urlsafe_b64encode(place).decode().rstrip("=")


def _read_cursor(cursor: str) -> db.Position:
    try:
        place = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return db.Position(*_place.decode(place))
    except (binascii.Error, msgspec.DecodeError, ValueError):
        raise UsageError(
            "The cursor is none of this list. Take it from next_cursor of the page before, or leave it out to begin."
        ) from None
