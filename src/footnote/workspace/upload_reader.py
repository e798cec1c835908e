"""Reads the text of uploads: at once where there is room, and otherwise in the background. Which uploads still have to
be read stands in the database, so that a restart loses none."""

import asyncio
import logging
import mmap
from asyncio import Task
from collections import deque
from collections.abc import Callable
from typing import cast

from msgspec import Struct

from footnote.db import files as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.script import Steps, script
from footnote.documents.inspection.without_text import no_text_reason
from footnote.library import Library
from footnote.library.library import file_url
from footnote.protocol.errors import FootnoteError, LimitReached, Unknown, UnprocessableFile, WrongKind
from footnote.protocol.sources import Snapshot
from footnote.protocol.times import format_time
from footnote.sandbox.jobs import DocumentText, Inspection, InspectionResult, ReadText
from footnote.sandbox.pool import JobFailed, ParserRefused, PoolClosed, SandboxPool
from footnote.text.search_terms import file_terms
from footnote.workspace.blobs import Blobs
from footnote.workspace.paths import upload_name
from footnote.workspace.spool import Spool, Spooled
from footnote.workspace.stored import PENDING, compress_text, index_file, stored_workspace

MAX_READ_BYTES = 50_000_000
"""Of a file that is read for its text. What is larger is kept all the same."""
READ_SECONDS = 30.0
INSPECT_SECONDS = 30.0
"""To find out what a file is."""
WAIT_SECONDS = 5.0
"""An upload waits so long for its turn to be read; then it is kept, and read in the background."""
RETRY_HINT = "; upload it again to have that tried once more"
"""At the end of a reason that may pass. What has such a reason is read anew when it is brought again."""
PENDING_TEXT = DocumentText(text=None, reason=PENDING)

log = logging.getLogger(__name__)


class Upload(Struct, frozen=True):
    """One that is kept."""

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
        """By user. Each user has one task, and so at most one upload in the queue of the sandbox."""
        self._tasks: set[Task[None]] = set()

    async def inspect(self, user_id: str, spooled: Spooled, name: str) -> InspectionResult:
        """What a file is. `WrongKind`, `Unworkable`: it is not taken, and why."""
        return await self._sandbox.run(
            Inspection(path=str(spooled.path), filename=name), INSPECT_SECONDS, user=user_id, force=True
        )

    async def read(self, user_id: str, spooled: Spooled, name: str, inspected: InspectionResult) -> DocumentText:
        """Its text, or why it has none; `UNREAD`: there is no room now. `Unworkable`: it is made to do harm."""
        try:
            return await self._extract_text(user_id, spooled, name, inspected, wait=WAIT_SECONDS)
        except (LimitReached, PoolClosed):
            return PENDING_TEXT

    async def store(self, upload: Upload, media_type: str, document_text: DocumentText) -> None:
        """The text of an upload that had none so far."""
        terms = await file_terms(document_text.text or "")
        if await self._database.write(_store_text(upload, to_upload_text(document_text), terms)):
            await self.add_to_library(upload, media_type, document_text)

    async def add_to_library(self, upload: Upload, media_type: str, document_text: DocumentText) -> None:
        """In the library it can be found and quoted."""
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
            kept = await self._library.for_user(upload.user_id).add(snapshot, upload.key)
            await self._database.write(db.set_library_url(upload.file_id, kept.url))
        except DatabaseFailed as error:  # it is kept, and can be read by its path
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
        """Goes on with what an earlier process, or another replica that is gone, has not read. If that replica lives,
        an upload may be read twice, and the first text is kept."""
        for row in await self._database.read(db.unread_uploads(PENDING)):
            self.read_later(Upload(row.user_id, row.session_id, row.path, row.file_id))

    async def close(self) -> None:
        """What is not read yet is left for the next start."""
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
                except Exception:  # one upload must not keep the others of its user from being read
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
                said = await self._extract_text(upload.user_id, spooled, name, inspected, wait=None)
            except PoolClosed:
                raise
            except (UnprocessableFile, WrongKind) as error:
                said = DocumentText(text=None, reason=_as_reason(error.message, name))
            await self.store(upload, media_type, said)

    async def _extract_text(
        self, user_id: str, spooled: Spooled, name: str, inspected: InspectionResult, *, wait: float | None
    ) -> DocumentText:
        """`wait` None: however long it takes for its turn to come."""
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
    """A sentence about the file of this name, as one that goes on from "it has no text"."""
    said = message.removeprefix(f"{name} ")
    for verb in ("cannot be read: ", "could not be read: "):
        if said.startswith(verb):
            return said.removeprefix(verb)
    return f"{message[:1].lower()}{message[1:]}" if said == message else f"it {said}"


def _map_file(spooled: Spooled) -> bytes:
    """Its bytes, of which no more are in memory at once than are being handed on."""
    if not spooled.size:
        return b""
    with spooled.path.open("rb") as file:
        return cast("bytes", mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
