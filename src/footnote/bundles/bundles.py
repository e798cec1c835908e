"""`Bundles`: a session as one file, and such a file as a session."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from footnote.bundles.contents import (
    SourceAddress,
    addresses_of,
    head_of,
    history_of,
    named_snapshots,
    sources_of,
    verdicts_of,
)
from footnote.bundles.form import (
    EVENTS_FOLDER,
    FILES,
    HISTORY,
    MOST_BYTES,
    READ_ME,
    README,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    SOURCES,
    TRANSCRIPT,
    VERDICTS,
    FilesEntry,
    Manifest,
    SessionEntry,
    SnapshotRecord,
    SnapshotsEntry,
    manifest_bytes,
    seal_of,
    written_json,
)
from footnote.bundles.opening import opened
from footnote.bundles.packing import BundleWriter
from footnote.bundles.records import files_entry, session_entry
from footnote.bundles.taking import PreparedImport, prepared
from footnote.bundles.transcript import markdown
from footnote.db import bundles as db
from footnote.db import runs
from footnote.db.blobs import BlobGone, StoredBlob
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import Conflict, LimitReached, Unknown
from footnote.protocol.sessions import ImportedSession
from footnote.protocol.sources import Snapshot
from footnote.protocol.times import format_time
from footnote.protocol.version import __version__
from footnote.storage.base import StorageFailed
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import FileMissing
from footnote.workspace.spool import Spooled

ROWS_AT_ONCE = 50
AT_ONCE = 2
"""Bundles that are taken side by side: as values, one may need a gigabyte."""
_TRIES = 5


class Bundles:
    """`file_bytes`: how much the files of one user may have together. `agents`: those that there are; a session of
    another one goes on with the first of them."""

    def __init__(
        self,
        database: Database,
        library: Library,
        blobs: Blobs,
        *,
        file_bytes: int | None = None,
        agents: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._library = library
        self._blobs = blobs
        self._file_bytes = file_bytes
        self._agents = agents
        self._clock = clock
        self._taking = asyncio.Semaphore(AT_ONCE)

    # Out ---------------------------------------------------------------------------------------------------

    async def export(self, user_id: str, session_id: str) -> AsyncGenerator[bytes, None]:
        """The bundle as it is made. `Unknown`: no such session. `LimitReached`: it is too large for one.
        `Conflict`: it was changed meanwhile."""
        whole = await self._database.read(db.load_session(user_id, session_id))
        if whole is None:
            raise Unknown("There is no such session.")
        session = await asyncio.to_thread(session_entry, whole)
        files = files_entry(whole, user_id, self._blobs.address)
        _check_size(files)
        packing = BundleWriter()
        for name, content in await asyncio.to_thread(_told, session, files):
            yield await packing.add(name, content)
        for part in (
            self._pack_events(packing, session),
            self._pack_files(packing, files),
            self._pack_snapshots(packing, user_id, session),
        ):
            async with aclosing(part) as pieces:
                async for piece in pieces:
                    yield piece
        manifest = Manifest(
            footnote=__version__,
            exported_at=format_time(self._clock()),
            session=head_of(session),
            seal=seal_of(packing.listed),
            entries=tuple(sorted(packing.listed, key=lambda entry: entry.name)),
        )
        yield await packing.end(manifest_bytes(manifest))

    async def _pack_events(self, packing: BundleWriter, session: SessionEntry) -> AsyncGenerator[bytes, None]:
        for run in session.runs:
            if run.events:
                name = f"{EVENTS_FOLDER}{run.id}.sse"
                async with aclosing(packing.add_pieces(name, self._events(run.id))) as pieces:
                    async for piece in pieces:
                        yield piece

    async def _events(self, run_id: str) -> AsyncGenerator[bytes, None]:
        after = 0
        while rows := await self._database.read(runs.event_rows(run_id, after, ROWS_AT_ONCE)):
            for row in rows:
                yield row.frames
                after = row.last_id

    async def _pack_files(self, packing: BundleWriter, files: FilesEntry) -> AsyncGenerator[bytes, None]:
        contents = {version.entry: version.hash for file in files.files for version in file.versions}
        for name in sorted(contents):
            async with aclosing(packing.add_pieces(name, self._content(contents[name]))) as pieces:
                async for piece in pieces:
                    yield piece

    async def _content(self, content_hash: str) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._blobs.stream(content_hash)) as pieces:
                async for piece in pieces:
                    yield piece
        except FileMissing:
            raise Conflict("A file of the session was deleted while it was exported. Export it again.") from None

    async def _pack_snapshots(
        self, packing: BundleWriter, user_id: str, session: SessionEntry
    ) -> AsyncGenerator[bytes, None]:
        library, addresses = self._library.for_user(user_id), addresses_of(session)
        records: list[SnapshotRecord] = []
        missing: list[str] = []
        for snapshot_id in named_snapshots(session):
            snapshot = await library.snapshot(snapshot_id)
            if snapshot is None:
                missing.append(snapshot_id)
                continue
            records.append(_record(snapshot, addresses.get(snapshot_id, ())))
            text = snapshot.text.encode("utf-8", "surrogatepass")
            yield await packing.add(f"{SNAPSHOTS_FOLDER}{snapshot_id}.txt", text)
        yield await packing.add(SNAPSHOTS, written_json(SnapshotsEntry(tuple(records), tuple(missing))))

    # In ----------------------------------------------------------------------------------------------------

    async def take(self, user_id: str, file: Path) -> ImportedSession:
        """A session of its own for this user, under new ids, with all that the bundle holds.

        `NotABundle`, `Damaged`, `NotTaken`: nothing was taken, and why. `LimitReached`: there is no room for its files.
        """
        async with self._taking:
            return await self._take(user_id, file)

    async def _take(self, user_id: str, file: Path) -> ImportedSession:
        ready = await asyncio.to_thread(prepared, file, user_id, self._blobs.address, self._agents, self._clock())
        for _ in range(_TRIES):
            kept = await self._keep_contents(file, ready)
            try:
                taken = ready.taken(kept)
                await self._database.write(db.import_session(user_id, taken, self._clock(), max_bytes=self._file_bytes))
            except BlobGone:  # the last need of a content went between the two; the next try writes it anew
                continue
            return ready.head
        raise StorageFailed("The files could not be kept, because they were deleted again and again. Try again.")

    async def _keep_contents(self, file: Path, ready: PreparedImport) -> tuple[StoredBlob, ...]:
        """Before anything needs them: what a crash leaves of them is swept."""
        kept: list[StoredBlob] = []
        with TemporaryDirectory(prefix="footnote-") as folder:
            for entry in ready.contents:
                spooled = await asyncio.to_thread(_spooled, file, entry, Path(folder) / "content")
                kept.append(await self._blobs.store_for(spooled, _ready))
        return tuple(kept)


async def _ready(kept: StoredBlob) -> StoredBlob:
    """It is settled together with all others."""
    return kept


def _spooled(file: Path, entry: str, aside: Path) -> Spooled:
    """An entry as a file of ours: it may be larger than memory."""
    digest, size = hashlib.sha256(), 0
    with opened(file) as bundle, aside.open("wb") as target:
        for piece in bundle.pieces(entry):
            target.write(piece)
            digest.update(piece)
            size += len(piece)
    return Spooled(aside, size, digest.hexdigest())


def _record(snapshot: Snapshot, addresses: Sequence[SourceAddress]) -> SnapshotRecord:
    """The library knows where a text was read last, by anybody. What matters is where this session has found it."""
    record = SnapshotRecord.of(snapshot)
    if not addresses or any(address.may_be(record.url) for address in addresses):
        return record
    return replace(record, url=addresses[0].url)


def _told(session: SessionEntry, files: FilesEntry) -> list[tuple[str, bytes]]:
    """What is written about a session."""
    history, sources = history_of(session, files), sources_of(session)
    return [
        (README, READ_ME.encode()),
        (TRANSCRIPT, markdown(history, sources.sources).encode("utf-8", "replace")),
        (HISTORY, written_json(history)),
        (SESSION, written_json(session)),
        (SOURCES, written_json(sources)),
        (VERDICTS, written_json(verdicts_of(session))),
        (FILES, written_json(files)),
    ]


def _check_size(files: FilesEntry) -> None:
    contents = {version.entry: version.size for file in files.files for version in file.versions}
    if (size := sum(contents.values())) > MOST_BYTES:
        raise LimitReached(
            f"The files of this session and their versions have {size:,} bytes, and a bundle holds {MOST_BYTES:,}. "
            "Delete those that you no longer need."
        )
