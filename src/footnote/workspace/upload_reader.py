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
from footnote.db.failures import DatabaseFailed
from footnote.db.script import Steps, script
from footnote.documents.inspection.without_text import why_no_text
from footnote.language.search_terms import file_terms
from footnote.library import Library
from footnote.library.library import file_url
from footnote.protocol.errors import FootnoteError, LimitReached, Unknown, Unworkable, WrongKind
from footnote.protocol.sources import Snapshot
from footnote.protocol.times import written
from footnote.sandbox.jobs import Inspected, Inspection, Reading, TextOf
from footnote.sandbox.pool import NotDone, NotNow, SandboxPool, Stopped
from footnote.workspace.blobs import Blobs
from footnote.workspace.paths import upload_name
from footnote.workspace.spool import Spool, Spooled
from footnote.workspace.stored import PENDING, index_file, packed, stored_workspace

READ_BYTES = 50_000_000
"""Of a file that is read for its text. What is larger is kept all the same."""
READ_SECONDS = 30.0
LOOK_SECONDS = 30.0
"""To find out what a file is."""
WAIT_SECONDS = 5.0
"""An upload waits so long for its turn to be read; then it is kept, and read in the background."""
AGAIN = "; upload it again to have that tried once more"
"""At the end of a reason that may pass. What has such a reason is read anew when it is brought again."""
UNREAD = TextOf(text=None, reason=PENDING)

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

    async def inspect(self, user_id: str, spooled: Spooled, name: str) -> Inspected:
        """What a file is. `WrongKind`, `Unworkable`: it is not taken, and why."""
        return await self._sandbox.run(
            Inspection(path=str(spooled.path), filename=name), LOOK_SECONDS, user=user_id, force=True
        )

    async def read(self, user_id: str, spooled: Spooled, name: str, inspected: Inspected) -> TextOf:
        """Its text, or why it has none; `UNREAD`: there is no room now. `Unworkable`: it is made to do harm."""
        try:
            return await self._text(user_id, spooled, name, inspected, wait=WAIT_SECONDS)
        except (LimitReached, Stopped):
            return UNREAD

    async def store(self, upload: Upload, media_type: str, said: TextOf) -> None:
        """The text of an upload that had none so far."""
        terms = await file_terms(said.text or "")
        if await self._database.write(_read_again(upload, stored_text(said), terms)):
            await self.shelve(upload, media_type, said)

    async def shelve(self, upload: Upload, media_type: str, said: TextOf) -> None:
        """In the library it can be found and quoted."""
        if not (said.text or "").strip():
            return
        name = upload_name(upload.key)
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
            kept = await self._library.of(upload.user_id).add(snapshot, upload.key)
            await self._database.write(db.name_in_library(upload.file_id, kept.url))
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
        task = asyncio.create_task(self._read_all(upload.user_id))
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

    async def _read_all(self, user_id: str) -> None:
        waiting = self._waiting[user_id]
        try:
            while waiting:
                try:
                    await self._read_kept(waiting[0])
                except Stopped:
                    return
                except Unknown:
                    log.debug("An upload was deleted before it was read.")
                except FootnoteError as error:
                    log.warning("An upload could not be read in the background: %s", error.told)
                except Exception:  # one upload must not keep the others of its user from being read
                    log.exception("An upload could not be read in the background.")
                waiting.popleft()
        finally:
            del self._waiting[user_id]

    async def _read_kept(self, upload: Upload) -> None:
        workspace = stored_workspace(self._database, self._blobs, upload.user_id, upload.session_id)
        opened = await workspace.open(upload.key)
        async with self._spool.hold(opened.read(0, None), most=opened.version.size) as spooled:
            name = opened.record.filename
            media_type = ""
            try:
                inspected = await self.inspect(upload.user_id, spooled, name)
                media_type = inspected.media_type
                said = await self._text(upload.user_id, spooled, name, inspected, wait=None)
            except Stopped:
                raise
            except (Unworkable, WrongKind) as error:
                said = TextOf(text=None, reason=_of_it(error.message, name))
            await self.store(upload, media_type, said)

    async def _text(
        self, user_id: str, spooled: Spooled, name: str, inspected: Inspected, *, wait: float | None
    ) -> TextOf:
        """`wait` None: however long it takes for its turn to come."""
        if reason := inspected.unreadable or why_no_text(inspected.media_type):
            return TextOf(text=None, reason=reason)
        if spooled.size > READ_BYTES:
            return TextOf(text=None, reason=f"it is larger than {READ_BYTES:,} bytes")
        reading = Reading(content=_mapped(spooled), filename=name, media_type=inspected.media_type)
        try:
            if wait is None:
                return await self._sandbox.run(reading, READ_SECONDS, user=user_id, force=True)
            return await self._sandbox.run(reading, READ_SECONDS, user=user_id, wait=wait)
        except NotDone as error:
            return TextOf(text=None, reason=_of_it(error.message, name))
        except NotNow as error:
            return TextOf(text=None, reason=_of_it(error.message, name).rstrip(".") + AGAIN)


@script
def _read_again(upload: Upload, text: db.UploadText, terms: str) -> Steps[bool]:
    is_read = yield from db.read_again(upload.file_id, text)
    if is_read:
        yield from index_file(upload.session_id, upload.key, terms)
    return is_read


def stored_text(said: TextOf) -> db.UploadText:
    return db.UploadText(None if said.text is None else packed(said.text), said.reason.rstrip("."))


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
