"""`Sessions`: creates, lists, searches, renames and deletes the sessions of a user, and reads their histories.

Every method takes a user. The sessions of other users do not exist for them: `Unknown`.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import UNSET, Struct

from footnote.db import files, library
from footnote.db import sessions as db
from footnote.db.engine import Database
from footnote.db.runs import messages_by_run
from footnote.db.runs import turns as db_turns
from footnote.db.script import Steps, script, sql_for_update
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.protocol import format_time, new_id, parse_time
from footnote.protocol.errors import RunActive, Unknown, UsageError
from footnote.protocol.history import ActiveRun, History, PastMessage, SessionHead, WorkspaceView
from footnote.protocol.messages import Message
from footnote.protocol.sessions import FoundSession, Origin, SessionChanges, SessionPage, SourceView
from footnote.protocol.sources import Source
from footnote.sessions import turns as stored
from footnote.sessions.history import past_messages, past_turns, snapshot_ids_of, source_groups, source_view
from footnote.sessions.titles import clean_title
from footnote.sessions.turns import branch_to, conversation, find_turn, newest_leaf
from footnote.text.excerpt import excerpt_around
from footnote.text.markdown import markdown_to_text
from footnote.text.search_terms import MAX_FILE_CHARACTERS, QueryWord, first_match, parse_query_words, terms_of
from footnote.text.sentences import Span
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import Workspace
from footnote.workspace.paths import LARGE_RESULTS
from footnote.workspace.stored import stored_record, stored_workspace

MAX_LISTED = 100
ABANDONED_SECONDS = 30 * 86_400.0
"""A session without any question is deleted this long after its creation and its last file."""
_ABANDONED_BATCH = 20
PURGE_BATCH_PAGES = 200
"""Pages of the index that one transaction cleans: it locks out other writers for some hundredths of a second."""
_TITLE_BATCH = 500
"""The number of titles that one query returns."""
_cursor_decoder = msgspec.json.Decoder(tuple[float, str])


class ExcerptPlace(Struct, frozen=True):
    """Where a query was found: in a message, in a file, or (with neither) in the title; and the text around it."""

    message_id: str | None = None
    excerpt: str | None = None
    path: str | None = None


class FoundFile(Struct, frozen=True):
    path: str
    text: str


class Sessions:
    """`file_bytes`: the quota of all files of one user; None: no quota."""

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
        self,
        user_id: str,
        agent_id: str,
        *,
        title: str | None = None,
        origin: Origin = "page",
        session_id: str | None = None,
    ) -> SessionHead:
        """A session without a title gets one from its first question. `session_id`: an id that the caller has made for
        it; the session of the user that has it already stays as it is."""
        now = self._clock()
        head = SessionHead(session_id or new_id("session"), clean_title(title or ""), agent_id, format_time(now))
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
        """The last changed first; with a query, those that contain each of its words somewhere. A query without
        letters, such as an emoji, is searched in titles only."""
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
        """The files among the found parts, by session id, without those that were deleted meanwhile."""
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
        """Renames a session or shows another branch of it. `Unknown`: there is no such session or message."""
        return _head(await self._database.write(_update(user_id, session_id, changes)))

    async def delete(self, user_id: str, session_id: str) -> None:
        """Deletes a session with its messages and files, for good. The caller has stopped its run."""
        if not await self._database.write(_delete(user_id, session_id), erase=True):
            raise _missing_session_error()
        await self.sweep()
        await self._purge()

    async def sweep(self) -> None:
        """Removes the contents of deleted files from the storage."""
        await self._blobs.sweep()

    async def clean_up(self) -> None:
        """Removes sessions without any question after a while, and contents without any reference."""
        before = self._clock() - ABANDONED_SECONDS
        while await self._database.write(_delete_abandoned(before, format_time(before)), erase=True):
            pass
        await self.sweep()

    async def _purge(self) -> None:
        """Removes the terms of deleted sessions from the index, in small transactions so that other writers get their
        turn. Concurrent calls wait for the lock and share one pass."""
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
        """The shown branch, as it was streamed."""
        return await self._database.read(_history(user_id, session_id, self._blobs.address))

    async def messages(self, user_id: str, session_id: str) -> tuple[Message, ...]:
        """The messages of all branches, those of the shown branch first."""
        return await self._database.read(_all_messages(user_id, session_id))

    async def asked_before(self, user_id: str, session_id: str, moment: str) -> tuple[str, ...]:
        """The texts of the questions of all branches up to a time, without those that only name a text to check."""
        return await self._database.read(_asked_before(user_id, session_id, moment))

    async def conversation(self, user_id: str, session_id: str) -> tuple[Message, ...]:
        """The shown branch with its questions, as a model reads it."""
        return await self._database.read(_conversation(user_id, session_id))

    async def source(self, user_id: str, session_id: str, number: int) -> SourceView:
        """The source of a footnote: the texts that any branch of the session read there, and the quotations from
        them."""
        messages = await self.messages(user_id, session_id)
        texts = await self._library.for_user(user_id).snapshots(
            await asyncio.to_thread(snapshot_ids_of, messages, number)
        )
        view = await asyncio.to_thread(source_view, messages, number, texts)
        if view is None:
            raise Unknown(f"This session has no source {number}.", code="source_not_found", number=number)
        return view

    async def sources(self, user_id: str, session_id: str) -> dict[int, Source]:
        """The sources of all branches of the session, by number."""
        messages = await self.messages(user_id, session_id)
        found = await asyncio.to_thread(Sources.from_messages, messages, {})
        return {number: source for number in found.numbers if (source := found.source(number))}

    async def session_with_file(self, user_id: str, key: str) -> str | None:
        """The session that has a file with this key; of several, the one that was changed last."""
        return await self._database.read(files.session_with_file(user_id, key))

    def workspace(self, user_id: str, session_id: str) -> Workspace:
        """The files of the session; empty for a session of another user."""
        return stored_workspace(self._database, self._blobs, user_id, session_id, max_bytes=self._file_bytes)


# Transactions ----------------------------------------------------------------------------------------------


@script
def _create(head: SessionHead, user_id: str, origin: str, now: float) -> Steps[None]:
    if (yield from db.session(user_id, head.id)) is not None:
        return
    row = db.SessionRow(
        id=head.id,
        user_id=user_id,
        agent_id=head.agent_id,
        title=head.title,
        titled=int(bool(head.title)),
        origin=origin,
        head=None,
        created_at=head.created_at,
        changed_at=now,
    )
    yield from db.create(row)
    if head.title:
        yield from db.index_part(head.id, db.TITLE, terms_of(head.title))


@script
def _find_by_title(
    user_id: str, signs: Sequence[str], after: db.Position | None, count: int, origin: Origin
) -> Steps[list[db.ListedSession]]:
    """Sessions whose titles contain all of these characters, which the index leaves out."""
    found: list[db.ListedSession] = []
    while len(found) < count:
        rows, _ = yield from db.list_sessions(user_id, (), after, _TITLE_BATCH, origin=origin)
        found += [row for row in rows if all(sign in _strip_variation_selector(row.title) for sign in signs)]
        if len(rows) < _TITLE_BATCH:
            break
        after = db.Position(rows[-1].changed_at, rows[-1].id)
    return found[:count]


@script
def _update(user_id: str, session_id: str, changes: SessionChanges) -> Steps[db.ListedSession]:
    row = _require_session((yield from db.session(user_id, session_id)))
    if changes.title is not UNSET:
        title = clean_title(changes.title)
        if not title:
            raise UsageError(
                "The title has nothing that can be read. Write one, or leave it as it is.", code="title_empty"
            )
        yield from db.rename(session_id, title, terms_of(title))
    if changes.head is not UNSET:
        if row.active_run is not None:
            raise RunActive("This session is being answered. Choose another branch when that has ended.")
        all_turns = yield from db_turns(session_id)
        turn = find_turn(all_turns, changes.head)
        if turn is None:
            raise Unknown("This session has no such message.", code="message_not_found")
        yield from db.set_head(session_id, newest_leaf(all_turns, turn.run_id))
    return _require_session((yield from db.session(user_id, session_id)))


@script
def _delete(user_id: str, session_id: str) -> Steps[bool]:
    """Deletes a session with the copies of its uploads in the library."""
    urls = yield from files.library_urls(user_id, session_id)
    removed = yield from db.delete_session(user_id, session_id)
    yield from library.remove_all_from_shelf(urls, user_id)
    return removed


@script
def _delete_abandoned(before: float, written_before: str) -> Steps[bool]:
    """Deletes one batch; true: there may be more. A question that is asked in such a session at the same moment locks
    its row first, and the session stays."""
    gone = yield from db.abandoned_sessions(before, written_before, _ABANDONED_BATCH)
    for user_id, session_id in gone:
        row = yield sql_for_update("SELECT changed_at FROM session WHERE id = ?", session_id)
        if row and row[0][0] < before:
            yield from _delete(user_id, session_id)
    return len(gone) == _ABANDONED_BATCH


@script
def _history(user_id: str, session_id: str, address: str) -> Steps[History]:
    """The history from one snapshot of the database. `address`: the prefix of storage keys."""
    row = _require_session((yield from db.session(user_id, session_id)))
    all_turns = yield from db_turns(session_id)
    branch = branch_to(all_turns, row.head)
    bodies = yield from messages_by_run(turn.run_id for turn in branch)
    stored_files = yield from files.files(user_id, session_id)
    messages: tuple[PastMessage, ...] = tuple(past_messages(branch, bodies))
    return History(
        session=_head(row),
        messages=messages,
        workspace=WorkspaceView(
            source_groups(messages),
            tuple(
                stored_record(user_id, session_id, file, address)
                for file in stored_files
                if not file.path.startswith(LARGE_RESULTS)
            ),
        ),
        active_run=None if row.active_run is None else ActiveRun(row.active_run),
        turns=tuple(past_turns(all_turns, branch)),
    )


@script
def _all_messages(user_id: str, session_id: str) -> Steps[tuple[Message, ...]]:
    """The messages of the shown branch, then those of the others."""
    row = _require_session((yield from db.session(user_id, session_id)))
    all_turns = yield from db_turns(session_id)
    ids = dict.fromkeys(turn.run_id for turn in (*branch_to(all_turns, row.head), *all_turns))
    by_run = yield from messages_by_run(ids)
    return tuple(stored.message_decoder.decode(body) for bodies in by_run.values() for body in bodies)


@script
def _asked_before(user_id: str, session_id: str, moment: str) -> Steps[tuple[str, ...]]:
    _require_session((yield from db.session(user_id, session_id)))
    before = parse_time(moment)
    asked = {
        turn.question_id: turn
        for turn in (yield from db_turns(session_id))
        if parse_time(turn.asked_at) <= before and stored.request_decoder.decode(turn.asked).mode != "check"
    }
    return tuple(stored.question_decoder.decode(turn.question).text for turn in asked.values())


@script
def _conversation(user_id: str, session_id: str) -> Steps[tuple[Message, ...]]:
    row = _require_session((yield from db.session(user_id, session_id)))
    branch = branch_to((yield from db_turns(session_id)), row.head)
    return conversation(branch, (yield from messages_by_run(turn.run_id for turn in branch)))


# Values ----------------------------------------------------------------------------------------------------


def _symbols_of(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for sign in query.split() if (bare := _strip_variation_selector(sign))))


def _strip_variation_selector(text: str) -> str:
    """Removes the variation selector of emoji, which some keyboards write and others do not."""
    return text.replace("\ufe0f", "")


def _missing_session_error() -> Unknown:
    return Unknown("There is no such session.", code="session_not_found")


def _require_session(row: db.ListedSession | None) -> db.ListedSession:
    if row is None:
        raise _missing_session_error()
    return row


def _head(row: db.SessionRow) -> SessionHead:
    return SessionHead(row.id, row.title, row.agent_id, row.created_at)


def _found_session(row: db.ListedSession, place: ExcerptPlace) -> FoundSession:
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


# What a search shows of a session ------------------------------------------------------------------------


EXCERPT_CHARACTERS = 160
"""The length of an excerpt."""
_CHARACTERS_BEFORE = 50
"""The part of an excerpt before the match."""

_MARKDOWN_WINDOW = 10_000
"""Characters on either side of a match whose markdown is parsed. Parsing megabytes would hold the interpreter lock for
half a second."""


class _ExcerptPart(Struct):
    """The decoded part of a message; results of tools, which are long, are skipped."""

    role: str
    content: tuple["_ExcerptBlock", ...] = ()
    parent: str | None = None


class _ExcerptBlock(Struct):
    type: str
    text: str = ""


_message_decoder = msgspec.json.Decoder(_ExcerptPart)


def places_of(
    rows: Sequence[db.SessionRow],
    parts: Sequence[db.FoundPart],
    files: Mapping[str, FoundFile],
    words: Sequence[QueryWord],
) -> dict[str, ExcerptPlace]:
    """The place of the hit in each session, by session id. `files`: the found files, by session id."""
    titles = {row.id: row.title for row in rows}
    places: dict[str, ExcerptPlace] = {}
    for part in parts:
        if file := files.get(part.session_id):
            places[part.session_id] = ExcerptPlace(None, excerpt(file.text, words), file.path)
        elif part.session_id in titles and part.file_key is None:
            is_title = part.part == db.TITLE
            text = titles[part.session_id] if is_title else _text(part.bodies, words)
            places[part.session_id] = ExcerptPlace(None if is_title else part.part, excerpt(text, words))
    return places


def excerpt(text: str, words: Sequence[QueryWord]) -> str:
    """The text around the first match on one line, cut between words where there are spaces."""
    match = Span(*(first_match(text, words) or (0, 0)))
    return excerpt_around(text, match, max_length=EXCERPT_CHARACTERS, before=_CHARACTERS_BEFORE)


def _text(bodies: Sequence[bytes], words: Sequence[QueryWord]) -> str:
    """The text of messages as people see it: questions unchanged, answers without their markdown. What the readers of
    items of a plan wrote is not searched: the report and the answer have what came of it."""
    messages = (_message_decoder.decode(body) for body in bodies)
    return "\n\n".join(
        markdown_to_text(_window_around(block.text, words)) if part.role == "assistant" else block.text
        for part in messages
        if part.role != "toolResult" and part.parent is None
        for block in part.content
        if block.type == "text"
    )


def _window_around(text: str, words: Sequence[QueryWord]) -> str:
    """The part of a long text around the first of the words."""
    if len(text) <= 2 * _MARKDOWN_WINDOW:
        return text
    start, end = first_match(text, words) or (0, 0)
    return text[max(0, start - _MARKDOWN_WINDOW) : end + _MARKDOWN_WINDOW]
