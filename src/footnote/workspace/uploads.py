"""What users bring: taken as it came, looked at before it is kept, and read for the agent and the library."""

import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar
from uuid import uuid4

from footnote.db import files as db
from footnote.db import sessions
from footnote.db.blobs import StoredBlob
from footnote.db.engine import Database
from footnote.db.script import Steps, lock, script
from footnote.library import Library
from footnote.protocol.errors import FootnoteError, TooLarge, Unknown, UnprocessableFile, UsageError, WrongKind
from footnote.protocol.files import FileRecord
from footnote.protocol.times import format_time
from footnote.sandbox.jobs import ArchiveEntry, ListArchive, UnpackArchive
from footnote.sandbox.pool import SandboxPool
from footnote.text.search_terms import file_terms
from footnote.workspace.blobs import Blobs
from footnote.workspace.export import safe_name
from footnote.workspace.paths import PathRefused, filename_of, upload_key, upload_name
from footnote.workspace.spool import Spool, Spooled
from footnote.workspace.stored import PENDING, index_file, stored_record, stored_workspace
from footnote.workspace.upload_reader import PENDING_TEXT, RETRY_HINT, Upload, UploadReader, to_upload_text

E = TypeVar("E", bound=FootnoteError)
UNPACK_SECONDS = 30.0
"""To list an archive, and to unpack one file of it."""
_CHUNK_BYTES = 1 << 18
ARCHIVE = "application/zip"
_MAX_FOLDERS = 6
"""Of an archive. Each has at most 120 bytes, so that the whole path fits into a key."""


class Uploads:
    """`most`: the bytes of one upload; `file_bytes`: those of all files of a user; None: as many as there is room
    for."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        library: Library,
        sandbox: SandboxPool,
        spool: Spool,
        *,
        max_bytes: int,
        max_user_bytes: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._sandbox = sandbox
        self._spool = spool
        self._max_bytes = max_bytes
        self._max_user_bytes = max_user_bytes
        self._clock = clock
        self._reader = UploadReader(database, blobs, library, sandbox, spool, clock=clock)

    async def resume(self) -> None:
        """Reads in the background what was kept and not read before this start."""
        await self._reader.resume()

    async def close(self) -> None:
        """Uploads that are not read yet are left for the next start."""
        await self._reader.close()

    def spool(self, pieces: AsyncIterator[bytes]) -> AbstractAsyncContextManager[Spooled]:
        """What comes in pieces, as a temporary file of ours. `TooLarge`: it is more than one upload may be."""
        return self._spool.receive(pieces, max_bytes=self._max_bytes)

    async def accept(
        self, user_id: str, session_id: str, filename: str, spooled: Spooled, *, folder: str = ""
    ) -> FileRecord:
        """Keeps it in the session, below `folder` where an archive had it in one. The same file with the same name
        again is the one that is there, and is read once more if that failed for a reason that may pass.

        One whose text cannot be read is kept all the same, with the reason; one whose turn to be read does not come
        soon is read in the background. `WrongKind`, `Unworkable`: it is not taken, and why. `Unknown`: no such session.
        `LimitReached`: no room.
        """
        await self._check(user_id, session_id)
        file_id, name = str(uuid4()), _folders(folder) + _name(filename)
        key = upload_key(user_id, file_id, name)
        known = await self._database.read(db.same_upload(user_id, session_id, name, spooled.sha256))
        if known is not None and not await self._should_retry_read(known.id):
            return stored_record(user_id, session_id, known, self._blobs.address)
        inspected = await self._reader.inspect(user_id, spooled, filename_of(name))
        said = await self._reader.read(user_id, spooled, filename_of(name), inspected)
        if known is not None:
            upload = Upload(user_id, session_id, known.path, known.id)
            await self._reader.store(upload, inspected.media_type, said)
            row = known
        else:
            upload = Upload(user_id, session_id, key, file_id)
            terms = await file_terms(said.text or "")
            row = await self._blobs.store_for(
                spooled, lambda kept: self._database.write(self._add_upload(upload, kept, to_upload_text(said), terms))
            )
            if row.id == file_id:
                await self._reader.add_to_library(upload, inspected.media_type, said)
        if said is PENDING_TEXT and row.id == upload.file_id:
            self._reader.read_later(upload)
        return stored_record(user_id, session_id, row, self._blobs.address)

    async def unpack(self, user_id: str, session_id: str, path: str) -> tuple[FileRecord, ...]:
        """The files of a zip file, each as an upload of its own. One that is not taken does not keep out the others;
        the error then names it and says how many were."""
        workspace = stored_workspace(self._database, self._blobs, user_id, session_id)
        opened = await workspace.open(path)
        async with self.spool(opened.read(0, None)) as archive:
            listing = ListArchive(path=str(archive.path), filename=opened.record.filename)
            listed = await self._sandbox.run(listing, UNPACK_SECONDS, user=user_id)
            return await self._accept_each(user_id, session_id, archive, listed.entries)

    async def used_bytes(self, user_id: str) -> int:
        """The bytes of all files of a user, also of those that were written, each content counted once."""
        return await self._database.read(db.used_bytes(user_id))

    async def _accept_each(
        self, user_id: str, session_id: str, archive: Spooled, entries: Sequence[ArchiveEntry]
    ) -> tuple[FileRecord, ...]:
        taken: list[FileRecord] = []
        refused: list[tuple[str, UsageError]] = []
        for entry in entries:
            try:
                async with self.spool(self._unpack_entry(user_id, archive, entry)) as one:
                    folder, _, name = entry.name.rpartition("/")
                    taken.append(await self.accept(user_id, session_id, name, one, folder=folder))
            except (WrongKind, UnprocessableFile, TooLarge) as error:
                refused.append((entry.name, error))
        if refused:
            raise partial_upload_error(refused, len(taken))
        return tuple(taken)

    async def _unpack_entry(self, user_id: str, archive: Spooled, entry: ArchiveEntry) -> AsyncIterator[bytes]:
        if entry.size > self._max_bytes:
            raise TooLarge(f"It is larger than {self._max_bytes:,} bytes.")
        unpacking = UnpackArchive(path=str(archive.path), filename=entry.name, entry=entry)
        content = (await self._sandbox.run(unpacking, UNPACK_SECONDS, user=user_id)).content
        for at in range(0, len(content), _CHUNK_BYTES):
            yield content[at : at + _CHUNK_BYTES]

    async def _check(self, user_id: str, session_id: str) -> None:
        if await self._database.read(sessions.session(user_id, session_id)) is None:
            raise Unknown("There is no such session.")

    async def _should_retry_read(self, file_id: str) -> bool:
        kept = await self._database.read(db.text(file_id))
        return kept is not None and kept.text is None and kept.reason.endswith((RETRY_HINT, PENDING))

    @script
    def _add_upload(self, upload: Upload, kept: StoredBlob, text: db.UploadText, terms: str) -> Steps[db.FileRow]:
        # Somebody may have brought it a second time meanwhile, as browsers do that try again.
        yield lock("user", upload.user_id)
        known = yield from db.same_upload(upload.user_id, upload.session_id, upload_name(upload.key), kept.hash)
        if known is not None:
            return known
        version = db.NewVersion(blob=kept, author="user", created_at=format_time(self._clock()))
        new = db.NewFile(upload.file_id, "upload", None)
        row = yield from db.add_version(
            upload.user_id, upload.session_id, upload.key, new, version, basis=None, max_bytes=self._max_user_bytes
        )
        yield from db.store_text(upload.file_id, text)
        yield from index_file(upload.session_id, upload.key, terms)
        return row


def partial_upload_error(refused: Sequence[tuple[str, E]], accepted_count: int) -> E:
    """The first of the errors, which says all that the sender has to know: of each file why it was not taken, and how
    many were."""
    said = [f"{safe_name(name.rpartition('/')[2])} was not taken: {error.message}" for name, error in refused]
    if accepted_count:
        said.append("1 other file was taken." if accepted_count == 1 else f"{accepted_count} other files were taken.")
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


def _folders(folder: str) -> str:
    """The folders of a file in an archive, each ending with a slash. Steps upwards and empty names are left out, and
    the innermost folders are kept where there are more than a path may have."""
    parts = [part for part in folder.replace("\\", "/").split("/") if part.strip(". ")]
    return "".join(f"{safe_name(part)}/" for part in parts[-_MAX_FOLDERS:])
