"""What users bring: taken as it came, looked at before it is kept, and read for the agent and the library."""

import asyncio
import logging
import mmap
import time
import unicodedata
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar, cast
from uuid import uuid4

from footnote.db import files as db
from footnote.db import sessions
from footnote.db.blobs import Kept
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.db.script import Steps, lock, script
from footnote.documents.inspection.archives import Entry, read_entry, safe_entries
from footnote.documents.inspection.inspection import Inspected, inspect
from footnote.documents.inspection.without_text import why_no_text
from footnote.documents.work import Reading, TextOf
from footnote.documents.workshop.workshop import NotDone, NotNow, Workshop
from footnote.library import Library
from footnote.library.library import file_url
from footnote.protocol.errors import FootnoteError, TooLarge, Unknown, Unworkable, UsageError, WrongKind
from footnote.protocol.files import FileRecord
from footnote.protocol.sources import Snapshot
from footnote.protocol.times import written
from footnote.workspace.blobs import Blobs
from footnote.workspace.export import safe_name
from footnote.workspace.paths import PathRefused, filename_of, upload_key
from footnote.workspace.spool import Spool, Spooled
from footnote.workspace.stored import packed, stored_record, stored_workspace

E = TypeVar("E", bound=FootnoteError)
READ_BYTES = 50_000_000
"""Of a file that is read for its text. What is larger is kept all the same."""
READ_SECONDS = 30.0
ARCHIVE = "application/zip"
AGAIN = "; upload it again to have that tried once more"
"""At the end of a reason that may pass. What has such a reason is read anew when it is brought again."""

log = logging.getLogger(__name__)


class Uploads:
    """`most`: the bytes of one upload; `file_bytes`: those of all files of a user; None: as many as there is room
    for."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        library: Library,
        workshop: Workshop,
        spool: Spool,
        *,
        most: int,
        file_bytes: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._library = library
        self._workshop = workshop
        self._spool = spool
        self._most = most
        self._file_bytes = file_bytes
        self._clock = clock

    def spool(self, pieces: AsyncIterator[bytes]) -> AbstractAsyncContextManager[Spooled]:
        """What comes in pieces, as a temporary file of ours. `TooLarge`: it is more than one upload may be."""
        return self._spool.hold(pieces, most=self._most)

    async def take(self, user_id: str, session_id: str, filename: str, spooled: Spooled) -> FileRecord:
        """Keeps it in the session. The same file with the same name again is the one that is there, and is read once
        more if that failed for a reason that may pass.

        One whose text cannot be read is kept all the same, with the reason. `WrongKind`, `Unworkable`: it is not taken,
        and why. `Unknown`: no such session. `LimitReached`: no room.
        """
        await self._check(user_id, session_id)
        file_id, name = str(uuid4()), _name(filename)
        key = upload_key(user_id, file_id, name)
        known = await self._database.read(db.same_upload(user_id, session_id, name, spooled.sha256))
        if known is not None and not await self._may_be_read_yet(known.id):
            return stored_record(user_id, known, self._blobs.address)
        inspected = await asyncio.to_thread(inspect, spooled.path, name)
        said = await self._read(spooled, name, inspected)
        if known is not None:
            if await self._database.write(db.read_again(known.id, _stored(said))):
                await self._shelve(user_id, known.path, known.id, name, inspected.media_type, said)
            return stored_record(user_id, known, self._blobs.address)
        row = await self._blobs.keep_for(
            spooled, lambda kept: self._database.write(self._adding(user_id, session_id, key, file_id, kept, said))
        )
        if row.id == file_id:
            await self._shelve(user_id, key, file_id, name, inspected.media_type, said)
        return stored_record(user_id, row, self._blobs.address)

    async def unpack(self, user_id: str, session_id: str, path: str) -> tuple[FileRecord, ...]:
        """The files of a zip file, each as an upload of its own. One that is not taken does not keep out the others;
        the error then names it and says how many were."""
        workspace = stored_workspace(self._database, self._blobs, user_id, session_id)
        opened = await workspace.open(path)
        async with self.spool(opened.read(0, None)) as archive:
            if not await asyncio.to_thread(zipfile.is_zipfile, archive.path):
                raise WrongKind(f"{opened.record.filename} is not a zip file, so it cannot be unpacked.")
            entries = await asyncio.to_thread(safe_entries, archive.path)
            return await self._take_each(user_id, session_id, archive, entries)

    async def used(self, user_id: str) -> int:
        """The bytes of all files of a user, also of those that were written, each content counted once."""
        return await self._database.read(db.used(user_id))

    async def _take_each(
        self, user_id: str, session_id: str, archive: Spooled, entries: Sequence[Entry]
    ) -> tuple[FileRecord, ...]:
        taken: list[FileRecord] = []
        refused: list[tuple[str, UsageError]] = []
        for entry in entries:
            try:
                async with self.spool(_in_thread(read_entry(archive.path, entry))) as one:
                    taken.append(await self.take(user_id, session_id, entry.name, one))
            except (WrongKind, Unworkable, TooLarge) as error:
                refused.append((entry.name, error))
        if refused:
            raise not_all_taken(refused, len(taken))
        return tuple(taken)

    async def _check(self, user_id: str, session_id: str) -> None:
        if await self._database.read(sessions.session(user_id, session_id)) is None:
            raise Unknown("There is no such session.")

    async def _may_be_read_yet(self, file_id: str) -> bool:
        kept = await self._database.read(db.text(file_id))
        return kept is not None and kept.text is None and kept.reason.endswith(AGAIN)

    async def _read(self, spooled: Spooled, name: str, inspected: Inspected) -> TextOf:
        if reason := inspected.unreadable or why_no_text(inspected.media_type):
            return TextOf(text=None, reason=reason)
        if spooled.size > READ_BYTES:
            return TextOf(text=None, reason=f"it is larger than {READ_BYTES:,} bytes")
        reading = Reading(content=_mapped(spooled), filename=name, media_type=inspected.media_type)
        try:
            return await self._workshop.do(reading, READ_SECONDS)
        except NotDone as error:
            return TextOf(text=None, reason=_of_it(error.message, name))
        except NotNow as error:
            return TextOf(text=None, reason=_of_it(error.message, name).rstrip(".") + AGAIN)

    @script
    def _adding(
        self, user_id: str, session_id: str, key: str, file_id: str, kept: Kept, said: TextOf
    ) -> Steps[db.FileRow]:
        # Somebody may have brought it a second time meanwhile, as browsers do that try again.
        yield lock("user", user_id)
        known = yield from db.same_upload(user_id, session_id, filename_of(key), kept.hash)
        if known is not None:
            return known
        version = db.NewVersion(kept=kept, author="user", created_at=written(self._clock()))
        new = db.NewFile(file_id, "upload", None)
        row = yield from db.add(user_id, session_id, key, new, version, basis=None, most=self._file_bytes)
        yield from db.keep_text(file_id, _stored(said))
        return row

    async def _shelve(self, user_id: str, key: str, file_id: str, name: str, media_type: str, said: TextOf) -> None:
        """In the library it can be found and quoted."""
        if not (said.text or "").strip():
            return
        snapshot = Snapshot(
            url=file_url(name),
            text=said.text or "",
            title=said.title or name,
            author=said.author,
            published=said.published,
            language=said.language,
            media_type=media_type,
            fetched_at=written(self._clock()),
            links=said.links,
            pages=said.pages,
        )
        try:
            kept = await self._library.of(user_id).add(snapshot, key)
            await self._database.write(db.name_in_library(file_id, kept.url))
        except DatabaseFailed as error:  # it is kept, and can be read by its path
            log.warning("An upload could not be put into the library: %s", error.message)


def _stored(said: TextOf) -> db.UploadText:
    return db.UploadText(None if said.text is None else packed(said.text), said.reason.rstrip("."))


def not_all_taken(refused: Sequence[tuple[str, E]], taken: int) -> E:
    """The first of the errors, which says all that the sender has to know: of each file why it was not taken, and how
    many were."""
    said = [f"{safe_name(name.rpartition('/')[2])} was not taken: {error.message}" for name, error in refused]
    if taken:
        said.append("1 other file was taken." if taken == 1 else f"{taken} other files were taken.")
    first = refused[0][1]
    first.message = " ".join(said)
    return first


def _name(filename: str) -> str:
    """The last part of what a client calls it, in characters that a key can have."""
    last = filename.replace("\\", "/").rstrip("/").rpartition("/")[2]
    try:
        upload_key("user", "file", last)
    except PathRefused:
        return safe_name(last)
    return unicodedata.normalize("NFC", last)


def _of_it(message: str, name: str) -> str:
    """A sentence about the file of this name, as one that goes on from "it has no text"."""
    said = message.removeprefix(f"{name} ")
    for verb in ("cannot be read: ", "could not be read: "):
        if said.startswith(verb):
            return said.removeprefix(verb)
    return f"{message[:1].lower()}{message[1:]}" if said == message else f"it {said}"


def _mapped(spooled: Spooled) -> bytes:
    """Its bytes, of which no more are in memory at once than are being handed on."""
    if not spooled.size:
        return b""
    with spooled.path.open("rb") as file:
        return cast("bytes", mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


async def _in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
