"""Files that users send: received, read in the sandbox, stored and put into the library."""

import asyncio
import logging
import mmap
import time
import unicodedata
from asyncio import Task
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar, cast
from uuid import uuid4

from msgspec import Struct

from footnote.db import files as db
from footnote.db import sessions
from footnote.db.blobs import StoredBlob
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.script import Steps, lock, script
from footnote.documents.inspection import no_text_reason
from footnote.library import Library, file_url
from footnote.protocol import format_time
from footnote.protocol.errors import (
    FileRefusal,
    FootnoteError,
    LimitReached,
    TooLarge,
    Unknown,
    UnprocessableFile,
    UsageError,
    WrongKind,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.sources import Snapshot
from footnote.sandbox.jobs import (
    ArchiveEntry,
    DocumentText,
    Inspection,
    InspectionResult,
    ListArchive,
    ReadText,
    UnpackArchive,
)
from footnote.sandbox.pool import JobFailed, ParserRefused, PoolClosed, SandboxPool
from footnote.text.search_terms import file_terms
from footnote.workspace.blobs import Blobs, Spool, Spooled
from footnote.workspace.export import safe_name
from footnote.workspace.paths import PathRefused, filename_of, upload_key, upload_name
from footnote.workspace.stored import PENDING, compress_text, index_file, stored_record, stored_workspace

MAX_READ_BYTES = 50_000_000
"""The maximum size of a file whose text is extracted. Larger files are stored without a text."""
READ_SECONDS = 30.0
INSPECT_SECONDS = 30.0
"""The time limit for inspecting what kind of file an upload is."""
WAIT_SECONDS = 5.0
"""How long an upload waits for its turn in the sandbox; after that it is stored, and read in the background."""
RETRY_HINT = "; upload it again to have that tried once more"
"""The end of a temporary reason. A file with such a reason is read again when it is uploaded again."""
PENDING_TEXT = DocumentText(text=None, reason=PENDING)

log = logging.getLogger(__name__)


class Upload(Struct, frozen=True):
    """An upload that is stored."""

    user_id: str
    session_id: str
    key: str
    file_id: str


class UploadReader:
    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        library: Library,
        sandbox: SandboxPool,
        spool: Spool,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._library = library
        self._sandbox = sandbox
        self._spool = spool
        self._clock = clock
        self._waiting: dict[str, deque[Upload]] = {}
        """The queue of each user. Each user has one task, and so at most one upload in the queue of the sandbox."""
        self._tasks: set[Task[None]] = set()

    async def inspect(self, user_id: str, spooled: Spooled, name: str) -> InspectionResult:
        """The kind of a file. `WrongKind` and `UnprocessableFile` say why it is refused."""
        return await self._sandbox.run(
            Inspection(path=str(spooled.path), filename=name), INSPECT_SECONDS, user=user_id, force=True
        )

    async def read(self, user_id: str, spooled: Spooled, name: str, inspected: InspectionResult) -> DocumentText:
        """The text of a file, or why it has none; `PENDING_TEXT`: the sandbox is busy. `UnprocessableFile`: the file is
        hostile."""
        try:
            return await self._extract_text(user_id, spooled, name, inspected, wait=WAIT_SECONDS)
        except (LimitReached, PoolClosed):
            return PENDING_TEXT

    async def store(self, upload: Upload, media_type: str, document_text: DocumentText) -> None:
        """Stores the text of an upload that had none so far."""
        terms = await file_terms(document_text.text or "")
        if await self._database.write(_store_text(upload, to_upload_text(document_text), terms)):
            await self.add_to_library(upload, media_type, document_text)

    async def add_to_library(self, upload: Upload, media_type: str, document_text: DocumentText) -> None:
        """Adds the text to the library, where it can be found and quoted."""
        if not (document_text.text or "").strip():
            return
        name = upload_name(upload.key)
        snapshot = Snapshot(
            url=file_url(name),
            text=document_text.text or "",
            title=document_text.title or name,
            author=document_text.author,
            published=document_text.published,
            language=document_text.language,
            media_type=media_type,
            fetched_at=format_time(self._clock()),
            links=document_text.links,
            pages=document_text.pages,
        )
        try:
            stored = await self._library.for_user(upload.user_id).add(snapshot, upload.key)
            await self._database.write(db.set_library_url(upload.file_id, stored.url))
        except DatabaseFailed as error:  # the upload itself is stored, and can be read by its path
            log.warning("An upload could not be put into the library: %s", error.message)

    # In the background -------------------------------------------------------------------------------------

    def read_later(self, upload: Upload) -> None:
        waiting = self._waiting.get(upload.user_id)
        if waiting is not None:
            if upload not in waiting:
                waiting.append(upload)
            return
        self._waiting[upload.user_id] = deque([upload])
        task = asyncio.create_task(self._read_queued(upload.user_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def resume(self) -> None:
        """Reads the uploads that an earlier process or a dead replica has not read. If that replica is alive, an upload
        may be read twice, and the first text stays."""
        for row in await self._database.read(db.unread_uploads(PENDING)):
            self.read_later(Upload(row.user_id, row.session_id, row.path, row.file_id))

    async def close(self) -> None:
        """Uploads that are not read yet are left to the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_queued(self, user_id: str) -> None:
        waiting = self._waiting[user_id]
        try:
            while waiting:
                try:
                    await self._read_stored(waiting[0])
                except PoolClosed:
                    return
                except Unknown:
                    log.debug("An upload was deleted before it was read.")
                except FootnoteError as error:
                    log.warning("An upload could not be read in the background: %s", error.public_message)
                except Exception:  # one upload must not block the others of its user
                    log.exception("An upload could not be read in the background.")
                waiting.popleft()
        finally:
            del self._waiting[user_id]

    async def _read_stored(self, upload: Upload) -> None:
        workspace = stored_workspace(self._database, self._blobs, upload.user_id, upload.session_id)
        opened = await workspace.open(upload.key)
        async with self._spool.receive(opened.read(0, None), max_bytes=opened.version.size) as spooled:
            name = opened.record.filename
            media_type = ""
            try:
                inspected = await self.inspect(upload.user_id, spooled, name)
                media_type = inspected.media_type
                document_text = await self._extract_text(upload.user_id, spooled, name, inspected, wait=None)
            except PoolClosed:
                raise
            except (UnprocessableFile, WrongKind) as error:
                document_text = DocumentText(text=None, reason=_as_reason(error.message, name))
            await self.store(upload, media_type, document_text)

    async def _extract_text(
        self, user_id: str, spooled: Spooled, name: str, inspected: InspectionResult, *, wait: float | None
    ) -> DocumentText:
        """`wait`: how long it may wait for its turn; None: without limit."""
        if reason := inspected.unreadable or no_text_reason(inspected.media_type):
            return DocumentText(text=None, reason=reason)
        if spooled.size > MAX_READ_BYTES:
            return DocumentText(text=None, reason=f"it is larger than {MAX_READ_BYTES:,} bytes")
        reading = ReadText(content=_map_file(spooled), filename=name, media_type=inspected.media_type)
        try:
            if wait is None:
                return await self._sandbox.run(reading, READ_SECONDS, user=user_id, force=True)
            return await self._sandbox.run(reading, READ_SECONDS, user=user_id, wait=wait)
        except ParserRefused as error:
            return DocumentText(text=None, reason=_as_reason(error.message, name))
        except JobFailed as error:
            return DocumentText(text=None, reason=_as_reason(error.message, name).rstrip(".") + RETRY_HINT)


@script
def _store_text(upload: Upload, text: db.UploadText, terms: str) -> Steps[bool]:
    is_read = yield from db.update_text(upload.file_id, text)
    if is_read:
        yield from index_file(upload.session_id, upload.key, terms)
    return is_read


def to_upload_text(document_text: DocumentText) -> db.UploadText:
    return db.UploadText(
        None if document_text.text is None else compress_text(document_text.text), document_text.reason.rstrip(".")
    )


def _as_reason(message: str, name: str) -> str:
    """Rewords a message about this file so that it can follow "it has no text: "."""
    predicate = message.removeprefix(f"{name} ")
    for verb in ("cannot be read: ", "could not be read: "):
        if predicate.startswith(verb):
            return predicate.removeprefix(verb)
    return f"{message[:1].lower()}{message[1:]}" if predicate == message else f"it {predicate}"


def _map_file(spooled: Spooled) -> bytes:
    """The bytes of the file, mapped into memory and not read as a whole."""
    if not spooled.size:
        return b""
    with spooled.path.open("rb") as file:
        return cast("bytes", mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


E = TypeVar("E", bound=FootnoteError)
UNPACK_SECONDS = 30.0
"""The time limit for listing an archive, and for unpacking one of its files."""
_CHUNK_BYTES = 1 << 18
_MAX_FOLDERS = 6
"""The maximum depth of folders of an archive. Each name has at most 120 bytes, so that the path fits into a key."""


class Uploads:
    """`max_bytes`: the limit of one upload; `max_user_bytes`: the quota of all files of a user; None: no quota."""

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
        """Reads in the background the uploads that were not read before this start."""
        await self._reader.resume()

    async def close(self) -> None:
        """Leaves the uploads that are not read yet to the next start."""
        await self._reader.close()

    def spool(self, pieces: AsyncIterator[bytes]) -> AbstractAsyncContextManager[Spooled]:
        """Receives the bytes of an upload as a temporary file. `TooLarge`: they exceed the limit of one upload."""
        return self._spool.receive(pieces, max_bytes=self._max_bytes)

    async def accept(
        self, user_id: str, session_id: str, filename: str, spooled: Spooled, *, folder: str = ""
    ) -> FileRecord:
        """Stores an upload in the session, below `folder` if it comes from an archive. The same file with the same name
        is not stored again, and is read again if that failed for a temporary reason.

        An upload whose text cannot be read is stored with the reason; one that has to wait for the sandbox is read in
        the background. `WrongKind`, `UnprocessableFile` say why it is refused. `Unknown`: there is no such session.
        `LimitReached`: the quota is used up.
        """
        await self._check(user_id, session_id)
        file_id, name = str(uuid4()), _folders(folder) + _name(filename)
        key = upload_key(user_id, file_id, name)
        known = await self._database.read(db.same_upload(user_id, session_id, name, spooled.sha256))
        if known is not None and not await self._should_retry_read(known.id):
            return stored_record(user_id, session_id, known, self._blobs.address)
        inspected = await self._reader.inspect(user_id, spooled, filename_of(name))
        document_text = await self._reader.read(user_id, spooled, filename_of(name), inspected)
        if known is not None:
            upload = Upload(user_id, session_id, known.path, known.id)
            await self._reader.store(upload, inspected.media_type, document_text)
            row = known
        else:
            upload = Upload(user_id, session_id, key, file_id)
            terms = await file_terms(document_text.text or "")
            row = await self._blobs.store_for(
                spooled,
                lambda blob: self._database.write(self._add_upload(upload, blob, to_upload_text(document_text), terms)),
            )
            if row.id == file_id:
                await self._reader.add_to_library(upload, inspected.media_type, document_text)
        if document_text is PENDING_TEXT and row.id == upload.file_id:
            self._reader.read_later(upload)
        return stored_record(user_id, session_id, row, self._blobs.address)

    async def unpack(self, user_id: str, session_id: str, path: str) -> tuple[FileRecord, ...]:
        """Stores the files of a zip file, each as an upload. A refused file does not stop the others; the error then
        names it, and says how many were stored."""
        workspace = stored_workspace(self._database, self._blobs, user_id, session_id)
        opened = await workspace.open(path)
        async with self.spool(opened.read(0, None)) as archive:
            listing = ListArchive(path=str(archive.path), filename=opened.record.filename)
            listed = await self._sandbox.run(listing, UNPACK_SECONDS, user=user_id)
            return await self._accept_each(user_id, session_id, archive, listed.entries)

    async def used_bytes(self, user_id: str) -> int:
        """The bytes of all files of a user, uploaded or written, each content counted once."""
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
            raise TooLarge(
                f"It is larger than {self._max_bytes:,} bytes.", code="upload_too_large", max=self._max_bytes
            )
        unpacking = UnpackArchive(path=str(archive.path), filename=entry.name, entry=entry)
        content = (await self._sandbox.run(unpacking, UNPACK_SECONDS, user=user_id)).content
        for at in range(0, len(content), _CHUNK_BYTES):
            yield content[at : at + _CHUNK_BYTES]

    async def _check(self, user_id: str, session_id: str) -> None:
        if await self._database.read(sessions.session(user_id, session_id)) is None:
            raise Unknown("There is no such session.", code="session_not_found")

    async def _should_retry_read(self, file_id: str) -> bool:
        row = await self._database.read(db.text(file_id))
        return row is not None and row.text is None and row.reason.endswith((RETRY_HINT, PENDING))

    @script
    def _add_upload(self, upload: Upload, blob: StoredBlob, text: db.UploadText, terms: str) -> Steps[db.ListedFile]:
        # The same upload may have been stored meanwhile, by a browser that tried again.
        yield lock("user", upload.user_id)
        known = yield from db.same_upload(upload.user_id, upload.session_id, upload_name(upload.key), blob.hash)
        if known is not None:
            return known
        version = db.NewVersion(blob=blob, author="user", created_at=format_time(self._clock()))
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
    files = tuple(
        FileRefusal(safe_name(name.rpartition("/")[2]), error.message, error.code, error.params)
        for name, error in refused
    )
    sentences = [f"{file.name} was not taken: {file.message}" for file in files]
    if accepted_count:
        sentences.append(
            "1 other file was taken." if accepted_count == 1 else f"{accepted_count} other files were taken."
        )
    first = refused[0][1]
    first.message = " ".join(sentences)
    first.code = "files_refused"
    first.params = {"refused": len(files), "accepted": accepted_count}
    first.refused_files = files
    return first


def _name(filename: str) -> str:
    """The last part of the name that a client sent, in characters that a key can have."""
    last = filename.replace("\\", "/").rstrip("/").rpartition("/")[2]
    try:
        upload_key("user", "file", last)
    except PathRefused:
        return safe_name(last)
    return unicodedata.normalize("NFC", last)


def _folders(folder: str) -> str:
    """The folders of a file in an archive, each ending with a slash, without steps upwards and empty names; of too many
    folders, the innermost ones."""
    parts = [part for part in folder.replace("\\", "/").split("/") if part.strip(". ")]
    return "".join(f"{safe_name(part)}/" for part in parts[-_MAX_FOLDERS:])
