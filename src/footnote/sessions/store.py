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

from footnote.db import files, library, turns
from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.script import Steps, script, sql_for_update
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.protocol.errors import RunActive, Unknown, UsageError
from footnote.protocol.history import ActiveRun, History, PastMessage, SessionHead, WorkspaceView
from footnote.protocol.ids import new_id
from footnote.protocol.messages import Message
from footnote.protocol.sessions import FoundSession, Origin, SessionChanges, SessionPage, SourceView
from footnote.protocol.sources import Source
from footnote.protocol.times import format_time
from footnote.sessions import turns as stored
from footnote.sessions.excerpts import ExcerptPlace, FoundFile, places_of
from footnote.sessions.history import past_messages, past_turns, source_groups
from footnote.sessions.sources import snapshot_ids_of, source_view
from footnote.sessions.titles import clean_title
from footnote.sessions.turns import branch_to, find_turn, newest_leaf
from footnote.text.search_terms import MAX_FILE_CHARACTERS, parse_query_words, terms_of
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import Workspace
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.stored import stored_record, stored_workspace

MAX_LISTED = 100
ABANDONED_SECONDS = 30 * 86_400.0
"""How long a session is kept in which nothing is asked, after it was made and after its last file."""
_ABANDONED_BATCH = 20
PURGE_BATCH_PAGES = 200
"""Pages of the index: some hundredths of a second, in which nobody else writes."""
_TITLE_BATCH = 500
"""Titles at a time."""
_cursor_decoder = msgspec.json.Decoder(tuple[float, str])


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
        self._purge_lock = asyncio.Lock()
        self._deletion_count = self._purged_count = 0

    async def create(
        self, user_id: str, agent_id: str, *, title: str | None = None, origin: Origin = "page"
    ) -> SessionHead:
        """Without a title it gets one from its first question."""
        now = self._clock()
        head = SessionHead(new_id("session"), clean_title(title or ""), agent_id, format_time(now))
        await self._database.write(_create(head, user_id, origin, now))
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
        if not 1 <= limit <= MAX_LISTED:
            raise UsageError(f"limit is {limit}; it may be from 1 to {MAX_LISTED}.")
        after = None if cursor is None else _decode_cursor(cursor)
        words = parse_query_words(query or "")
        signs = () if words else _symbols_of(query or "")
        if signs:
            rows, parts = await self._database.read(_find_by_title(user_id, signs, after, limit + 1, origin)), []
        else:
            phrases = [db.Phrase(word.terms, word.is_prefix) for word in words]
            rows, parts = await self._database.read(db.list_sessions(user_id, phrases, after, limit + 1, origin=origin))
        files = await self._load_found_files(user_id, parts)
        places = await asyncio.to_thread(places_of, rows[:limit], parts, files, words) if words else {}
        listed = tuple(_found_session(row, places.get(row.id, ExcerptPlace())) for row in rows[:limit])
        return SessionPage(listed, _encode_cursor(rows[limit - 1]) if len(rows) > limit else None)

    async def _load_found_files(self, user_id: str, parts: Sequence[db.FoundPart]) -> dict[str, FoundFile]:
        """The files among the parts, by their sessions, without those that were deleted meanwhile."""
        found: dict[str, FoundFile] = {}
        for part in parts:
            if part.file_key is not None:
                workspace = self.workspace(user_id, part.session_id)
                with suppress(UsageError):
                    record = await workspace.record(part.file_key)
                    text = await workspace.extracted_text(part.file_key)
                    found[part.session_id] = FoundFile(record.path, text[:MAX_FILE_CHARACTERS])
        return found

    async def head(self, user_id: str, session_id: str) -> SessionHead:
        return _head(_require_session(await self._database.read(db.session(user_id, session_id))))

    async def change(self, user_id: str, session_id: str, changes: SessionChanges) -> SessionHead:
        """A title of the user's own; the branch that is shown. `Unknown`: no such session, or no such message in it."""
        return _head(await self._database.write(_update(user_id, session_id, changes)))

    async def delete(self, user_id: str, session_id: str) -> None:
        """With all that was said and all files. Nothing of it can be brought back. Its run has been ended before."""
        if not await self._database.write(_delete(user_id, session_id), erase=True):
            raise _unknown()
        await self.sweep()
        await self._purge()

    async def sweep(self) -> None:
        """Removes the contents of files that are gone from the storage."""
        await self._blobs.sweep()

    async def clean_up(self) -> None:
        """Removes sessions in which nothing was ever asked, and contents that nothing needs any more."""
        before = self._clock() - ABANDONED_SECONDS
        while await self._database.write(_delete_abandoned(before, format_time(before)), erase=True):
            pass
        await self.sweep()

    async def _purge(self) -> None:
        """Takes the words of deleted sessions out of the index, in steps between which others can write. Whoever waits
        for it meanwhile is served by the next time."""
        self._deletion_count += 1
        mine = self._deletion_count
        async with self._purge_lock:
            if self._purged_count >= mine:
                return
            upto = self._deletion_count
            await self._database.write(db.purge_terms_step(-PURGE_BATCH_PAGES))
            while await self._database.write(db.purge_terms_step(PURGE_BATCH_PAGES)):
                pass
            await self._database.write(db.purge_terms_step(PURGE_BATCH_PAGES), erase=True)
            self._purged_count = upto

    async def history(self, user_id: str, session_id: str) -> History:
        """The branch that is shown, as it was streamed."""
        return await self._database.read(_history(user_id, session_id, self._blobs.address))

    async def messages(self, user_id: str, session_id: str) -> tuple[Message, ...]:
        """All that was said in any branch, first in the one that is shown."""
        return await self._database.read(_all_messages(user_id, session_id))

    async def source(self, user_id: str, session_id: str, number: int) -> SourceView:
        """A footnote: what was read there in this session, in any of its branches, and what was quoted from it."""
        messages = await self.messages(user_id, session_id)
        texts = await self._library.for_user(user_id).snapshots(
            await asyncio.to_thread(snapshot_ids_of, messages, number)
        )
        view = await asyncio.to_thread(source_view, messages, number, texts)
        if view is None:
            raise Unknown(f"This session has no source {number}.")
        return view

    async def sources(self, user_id: str, session_id: str) -> dict[int, Source]:
        """All that was found in this session, in any of its branches, by number."""
        messages = await self.messages(user_id, session_id)
        found = await asyncio.to_thread(Sources.from_messages, messages, {})
        return {number: source for number in found.numbers if (source := found.source(number))}

    async def session_with_file(self, user_id: str, key: str) -> str | None:
        """The session that has a file of this key: of several the one that was changed last."""
        return await self._database.read(files.session_with_file(user_id, key))

    def workspace(self, user_id: str, session_id: str) -> Workspace:
        """The files of the session; none of a session that is somebody else's."""
        return stored_workspace(self._database, self._blobs, user_id, session_id, max_bytes=self._file_bytes)


# Transactions ----------------------------------------------------------------------------------------------


@script
def _create(head: SessionHead, user_id: str, origin: str, now: float) -> Steps[None]:
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
        yield from db.index_part(head.id, db.TITLE, terms_of(head.title))


@script
def _find_by_title(
    user_id: str, signs: Sequence[str], after: db.Position | None, count: int, origin: Origin
) -> Steps[list[db.SessionRow]]:
    """Sessions whose titles have all of the signs in them, of which the index knows none."""
    found: list[db.SessionRow] = []
    while len(found) < count:
        rows, _ = yield from db.list_sessions(user_id, (), after, _TITLE_BATCH, origin=origin)
        found += [row for row in rows if all(sign in _strip_variation_selector(row.title) for sign in signs)]
        if len(rows) < _TITLE_BATCH:
            break
        after = db.Position(rows[-1].changed_at, rows[-1].id)
    return found[:count]


@script
def _update(user_id: str, session_id: str, changes: SessionChanges) -> Steps[db.SessionRow]:
    row = _require_session((yield from db.session(user_id, session_id)))
    if changes.title is not UNSET:
        title = clean_title(changes.title)
        if not title:
            raise UsageError("The title has nothing that can be read. Write one, or leave it as it is.")
        yield from db.rename(session_id, title, terms_of(title))
    if changes.head is not UNSET:
        if row.active_run is not None:
            raise RunActive("This session is being answered. Choose another branch when that has ended.")
        all_turns = yield from turns.turns(session_id)
        turn = find_turn(all_turns, changes.head)
        if turn is None:
            raise Unknown("This session has no such message.")
        yield from db.set_head(session_id, newest_leaf(all_turns, turn.run_id))
    return _require_session((yield from db.session(user_id, session_id)))


@script
def _delete(user_id: str, session_id: str) -> Steps[bool]:
    """With what the library has of its uploads."""
    urls = yield from files.library_urls(user_id, session_id)
    removed = yield from db.delete_session(user_id, session_id)
    yield from library.remove_all_from_shelf(urls, user_id)
    return removed


@script
def _delete_abandoned(before: float, written_before: str) -> Steps[bool]:
    """Some at a time, for others to write in between. Whether there may be more. Whoever asks in one of them at the
    same moment changes its row, and is waited for."""
    gone = yield from db.abandoned_sessions(before, written_before, _ABANDONED_BATCH)
    for user_id, session_id in gone:
        row = yield sql_for_update("SELECT changed_at FROM session WHERE id = ?", session_id)
        if row and row[0][0] < before:
            yield from _delete(user_id, session_id)
    return len(gone) == _ABANDONED_BATCH


@script
def _history(user_id: str, session_id: str, address: str) -> Steps[History]:
    """All of it on one state of the database. `address`: that of the storage."""
    row = _require_session((yield from db.session(user_id, session_id)))
    all_turns = yield from turns.turns(session_id)
    branch = branch_to(all_turns, row.head)
    said = yield from turns.messages_by_run(turn.run_id for turn in branch)
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
def _all_messages(user_id: str, session_id: str) -> Steps[tuple[Message, ...]]:
    """First what the branch that is shown says, then the others."""
    row = _require_session((yield from db.session(user_id, session_id)))
    all_turns = yield from turns.turns(session_id)
    ids = dict.fromkeys(turn.run_id for turn in (*branch_to(all_turns, row.head), *all_turns))
    said = yield from turns.messages_by_run(ids)
    return tuple(stored.message_decoder.decode(body) for bodies in said.values() for body in bodies)


# Values ----------------------------------------------------------------------------------------------------


def _symbols_of(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for sign in query.split() if (bare := _strip_variation_selector(sign))))


def _strip_variation_selector(text: str) -> str:
    """Without what says that a sign is to be drawn in colours, which some keyboards write and others do not."""
    return text.replace("\ufe0f", "")


def _unknown() -> Unknown:
    return Unknown("There is no such session.")


def _require_session(row: db.SessionRow | None) -> db.SessionRow:
    if row is None:
        raise _unknown()
    return row


def _head(row: db.SessionRow) -> SessionHead:
    return SessionHead(row.id, row.title, row.agent_id, row.created_at)


def _found_session(row: db.SessionRow, place: ExcerptPlace) -> FoundSession:
    return FoundSession(
        row.id,
        row.title,
        row.agent_id,
        row.created_at,
        updated_at=format_time(row.changed_at),
        active_run_id=row.active_run,
        excerpt=place.excerpt,
        message_id=place.message_id,
        path=place.path,
    )


def _encode_cursor(row: db.SessionRow) -> str:
    place = msgspec.json.encode((row.changed_at, row.id))
    return base64.urlsafe_b64encode(place).decode().rstrip("=")


def _decode_cursor(cursor: str) -> db.Position:
    try:
        place = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return db.Position(*_cursor_decoder.decode(place))
    except (binascii.Error, msgspec.DecodeError, ValueError):
        raise UsageError(
            "The cursor is none of this list. Take it from next_cursor of the page before, or leave it out to begin."
        ) from None
