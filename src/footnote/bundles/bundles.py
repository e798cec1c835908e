"""`Bundles`: exports a session as a bundle, and imports a bundle as a session."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from footnote.bundles.derived import (
    SourceAddress,
    addresses_of,
    cited_snapshots,
    head_of,
    history_of,
    shown_first,
    sources_of,
    verdicts_of,
)
from footnote.bundles.importer import PreparedImport, prepare_import
from footnote.bundles.manifest import (
    MANIFEST,
    MAX_BYTES,
    MAX_ENTRIES,
    Manifest,
    ManifestEntry,
    encode_manifest,
    open_bundle,
    seal_of,
)
from footnote.bundles.schema import (
    FILES,
    FILES_FOLDER,
    HISTORY,
    PROOFS,
    README,
    README_TEXT,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    SOURCES,
    TRANSCRIPT,
    VERDICTS,
    VERSIONS_FOLDER,
    DigestRecord,
    FileEntry,
    FilesEntry,
    ProofRecord,
    ProofsEntry,
    QuestionRecord,
    RunMessageRecord,
    RunRecord,
    SessionEntry,
    SessionRecord,
    SnapshotRecord,
    SnapshotsEntry,
    UploadTextRecord,
    VersionRecord,
    encode_json,
    shared_fields,
)
from footnote.bundles.transcript import markdown
from footnote.bundles.verify import events_entry
from footnote.db import bundles as db
from footnote.db import runs
from footnote.db.blobs import BlobGone, StoredBlob
from footnote.db.engine import Database
from footnote.db.files import FileRow, VersionRow
from footnote.db.runs import RunRow
from footnote.library import Library
from footnote.protocol import __version__, format_time
from footnote.protocol.errors import Conflict, LimitReached, Unknown
from footnote.protocol.sessions import ACTIVE, ImportedSession
from footnote.protocol.sources import Snapshot
from footnote.sessions import turns as stored
from footnote.sessions.file_citations import FileCitationChecker, JudgedBy, decode_proof
from footnote.storage.base import StorageFailed
from footnote.workspace.blobs import Blobs, Spooled
from footnote.workspace.export import HarmlessNames, OutgoingZip
from footnote.workspace.files import FileMissing
from footnote.workspace.stored import decompress_text, stored_record

MAX_EVENT_ROWS = 50
JUDGE_SECONDS = 60.0
"""An export waits so long for files that are not judged yet, and is without the proofs of the others."""
MAX_CONCURRENT_IMPORTS = 2
"""One decoded bundle may need a gigabyte of memory."""
_MAX_ATTEMPTS = 5


# Records of an export ---------------------------------------------------------------------------------------


def session_entry(exported: db.ExportedRows) -> SessionEntry:
    rows = exported.rows
    return SessionEntry(
        SessionRecord(**shared_fields(rows.session, SessionRecord, titled=bool(rows.session.titled))),
        tuple(
            QuestionRecord(
                **shared_fields(
                    row,
                    QuestionRecord,
                    message=stored.question_decoder.decode(row.body),
                    attachments=stored.files_decoder.decode(row.attachments),
                )
            )
            for row in rows.questions
        ),
        tuple(_run(row, exported) for row in rows.runs),
    )


def _run(row: RunRow, exported: db.ExportedRows) -> RunRecord:
    summary = exported.rows.summaries.get(row.id)
    return RunRecord(
        **shared_fields(
            row,
            RunRecord,
            # Earlier versions of Footnote read bundles too, and do not know the state `waiting`.
            state="running" if row.state == "waiting" else row.state,
            asked=stored.request_decoder.decode(row.asked),
            ending=None if row.ending is None else stored.ending_decoder.decode(row.ending),
            events=row.state not in ACTIVE and row.pruned_to <= 0 and row.id in exported.runs_with_events,
            digest=None if summary is None else DigestRecord(summary.messages, summary.text),
            messages=tuple(
                RunMessageRecord(message.blocks, stored.message_decoder.decode(message.body))
                for message in exported.rows.messages[row.id]
            ),
        )
    )


def files_entry(exported: db.ExportedRows, user_id: str, address: str) -> FilesEntry:
    """`address`: the prefix of an upload's key in the path of its record."""
    names = HarmlessNames()
    return FilesEntry(tuple(_file(row, exported, user_id, address, names) for row in exported.rows.files))


def _file(row: FileRow, exported: db.ExportedRows, user_id: str, address: str, names: HarmlessNames) -> FileEntry:
    text = exported.rows.texts.get(row.id)
    newest, *earlier = exported.rows.versions[row.id]
    current = FILES_FOLDER + names.unique_path(row.path)
    return FileEntry(
        record=stored_record(user_id, row.session_id, row, address),
        key=row.path,
        seen=row.seen,
        versions=(
            _version(newest, exported, current),
            *(_version(version, exported, VERSIONS_FOLDER + version.hash) for version in earlier),
        ),
        text=None
        if text is None
        else UploadTextRecord(None if text.text is None else _decompress(text.text), text.reason),
    )


def _version(row: VersionRow, exported: db.ExportedRows, entry: str) -> VersionRecord:
    return VersionRecord(**shared_fields(row, VersionRecord, size=exported.sizes[row.hash], entry=entry))


def _decompress(text: bytes) -> str:
    return decompress_text(text).encode("utf-8", "replace").decode()


class BundleWriter:
    """Writes the zip of a bundle as a stream. `entries` are the entries of the manifest so far."""

    def __init__(self) -> None:
        self.entries: list[ManifestEntry] = []
        self._zip = OutgoingZip()

    async def add(self, name: str, content: bytes) -> bytes:
        """Returns the next bytes of the zip."""
        return b"".join([chunk async for chunk in self.add_chunks(name, _single(content))])

    async def add_chunks(self, name: str, content: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        if len(self.entries) >= MAX_ENTRIES:
            raise LimitReached(f"The session has more than {MAX_ENTRIES:,} entries, which is the limit of a bundle.")
        digest, size = hashlib.sha256(), 0

        async def hash_chunks() -> AsyncGenerator[bytes, None]:
            nonlocal size
            async with aclosing(content) as chunks:
                async for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    yield chunk

        async with aclosing(self._zip.add(name, hash_chunks())) as zipped:
            async for chunk in zipped:
                yield chunk
        self.entries.append(ManifestEntry(name, size, digest.hexdigest()))

    async def finish(self, manifest: bytes) -> bytes:
        """The manifest is the last entry, because it holds the hashes of all others."""
        last = [chunk async for chunk in self._zip.add(MANIFEST, _single(manifest))]
        return b"".join((*last, await self._zip.finish()))


async def _single(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content


# Export and import -----------------------------------------------------------------------------------------


class Bundles:
    """`file_bytes`: the storage quota of a user's files. `agents`: the configured agents; an imported session of an
    unknown agent gets the first of them. `file_citations` judges files that are not judged yet before an export."""

    def __init__(
        self,
        database: Database,
        library: Library,
        blobs: Blobs,
        *,
        file_bytes: int | None = None,
        agents: Sequence[str] = (),
        file_citations: FileCitationChecker | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._library = library
        self._blobs = blobs
        self._file_bytes = file_bytes
        self._agents = agents
        self._file_citations = file_citations
        self._clock = clock
        self._import_slots = asyncio.Semaphore(MAX_CONCURRENT_IMPORTS)

    # Export ---------------------------------------------------------------------------------------------------

    async def export(self, user_id: str, session_id: str) -> AsyncGenerator[bytes, None]:
        """The zip file as a stream. Raises `Unknown` if there is no such session, `LimitReached` if it is too large for
        a bundle, and `Conflict` if a file is deleted during the export."""
        if self._file_citations is not None:
            await self._file_citations.judge_all(user_id, session_id, JUDGE_SECONDS)
        exported = await self._database.read(db.load_session(user_id, session_id))
        if exported is None:
            raise Unknown("There is no such session.")
        session = await asyncio.to_thread(session_entry, exported)
        files = files_entry(exported, user_id, self._blobs.address)
        _check_size(files)
        writer = BundleWriter()
        for name, content in await asyncio.to_thread(_derived_entries, session, files):
            yield await writer.add(name, content)
        yield await writer.add(PROOFS, await asyncio.to_thread(_proofs_entry, session, exported))
        for part in (
            self._write_events(writer, session),
            self._write_files(writer, files),
            self._write_snapshots(writer, user_id, session),
        ):
            async with aclosing(part) as chunks:
                async for chunk in chunks:
                    yield chunk
        manifest = Manifest(
            footnote=__version__,
            exported_at=format_time(self._clock()),
            session=head_of(session),
            seal=seal_of(writer.entries),
            entries=tuple(sorted(writer.entries, key=lambda entry: entry.name)),
        )
        yield await writer.finish(encode_manifest(manifest))

    async def _write_events(self, writer: BundleWriter, session: SessionEntry) -> AsyncGenerator[bytes, None]:
        for run in session.runs:
            if run.events:
                async with aclosing(writer.add_chunks(events_entry(run), self._events(run.id))) as chunks:
                    async for chunk in chunks:
                        yield chunk

    async def _events(self, run_id: str) -> AsyncGenerator[bytes, None]:
        after = 0
        while rows := await self._database.read(runs.event_rows(run_id, after, MAX_EVENT_ROWS)):
            for row in rows:
                yield row.frames
                after = row.last_id

    async def _write_files(self, writer: BundleWriter, files: FilesEntry) -> AsyncGenerator[bytes, None]:
        contents = {version.entry: version.hash for file in files.files for version in file.versions}
        for name in sorted(contents):
            async with aclosing(writer.add_chunks(name, self._content(contents[name]))) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _content(self, content_hash: str) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._blobs.stream(content_hash)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except FileMissing:
            raise Conflict("A file of the session was deleted while it was exported. Export it again.") from None

    async def _write_snapshots(
        self, writer: BundleWriter, user_id: str, session: SessionEntry
    ) -> AsyncGenerator[bytes, None]:
        library, addresses = self._library.for_user(user_id), addresses_of(session)
        records: list[SnapshotRecord] = []
        missing: list[str] = []
        for snapshot_id in cited_snapshots(session):
            snapshot = await library.snapshot(snapshot_id)
            if snapshot is None:
                missing.append(snapshot_id)
                continue
            records.append(_record(snapshot, addresses.get(snapshot_id, ())))
            text = snapshot.text.encode("utf-8", "surrogatepass")
            yield await writer.add(f"{SNAPSHOTS_FOLDER}{snapshot_id}.txt", text)
        yield await writer.add(SNAPSHOTS, encode_json(SnapshotsEntry(tuple(records), tuple(missing))))

    # Import ----------------------------------------------------------------------------------------------------

    async def import_bundle(self, user_id: str, file: Path) -> ImportedSession:
        """Stores the bundle as a new session of this user, under new ids.

        Raises `NotABundle`, `BundleDamaged` or `BundleRejected` if verification fails, and `LimitReached` if the files
        exceed the quota; then nothing is stored.
        """
        async with self._import_slots:
            ready = await asyncio.to_thread(
                prepare_import, file, user_id, self._blobs.address, self._agents, self._clock()
            )
            for _ in range(_MAX_ATTEMPTS):
                rows = ready.rows_with(await self._store_contents(file, ready))
                try:
                    await self._database.write(
                        db.import_session(user_id, rows, self._clock(), max_bytes=self._file_bytes)
                    )
                except BlobGone:  # the last reference to a blob was deleted meanwhile; the next attempt stores it again
                    continue
                return ready.head
            raise StorageFailed("The files could not be stored, because they were deleted repeatedly. Try again.")

    async def _store_contents(self, file: Path, ready: PreparedImport) -> tuple[StoredBlob, ...]:
        """Stores the blobs before the rows that refer to them: after a crash the sweep removes them."""
        blobs: list[StoredBlob] = []
        with TemporaryDirectory(prefix="footnote-") as folder:
            for entry in ready.contents:
                spooled = await asyncio.to_thread(_spool_entry, file, entry, Path(folder) / "content")
                blobs.append(await self._blobs.store_for(spooled, _without_reference))
        return tuple(blobs)


async def _without_reference(blob: StoredBlob) -> StoredBlob:
    """The reference to a blob is stored later, in one transaction with the whole session."""
    return blob


def _spool_entry(file: Path, entry: str, path: Path) -> Spooled:
    """Copies an entry to a temporary file, because it may be larger than memory."""
    digest, size = hashlib.sha256(), 0
    with open_bundle(file) as bundle, path.open("wb") as target:
        for chunk in bundle.chunks(entry):
            target.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return Spooled(path, size, digest.hexdigest())


def _record(snapshot: Snapshot, addresses: Sequence[SourceAddress]) -> SnapshotRecord:
    """The library stores the last URL at which any user read a snapshot; the bundle names the URL of this session."""
    record = SnapshotRecord.of(snapshot)
    if not addresses or any(address.may_serve(record.url) for address in addresses):
        return record
    return replace(record, url=addresses[0].url)


def _derived_entries(session: SessionEntry, files: FilesEntry) -> list[tuple[str, bytes]]:
    """The entries that are derived from the session and its file records."""
    history, sources = history_of(session, files), sources_of(session)
    return [
        (README, README_TEXT.encode()),
        (TRANSCRIPT, markdown(history, sources.sources).encode("utf-8", "replace")),
        (HISTORY, encode_json(history)),
        (SESSION, encode_json(session)),
        (SOURCES, encode_json(sources)),
        (VERDICTS, encode_json(verdicts_of(session))),
        (FILES, encode_json(files)),
    ]


def _proofs_entry(session: SessionEntry, exported: db.ExportedRows) -> bytes:
    """The proofs that the messages and pages of the session still give, by path and version."""
    judged_by = JudgedBy.of(shown_first(session))
    paths = {file.id: file.path for file in exported.rows.files}
    hashes = {(file_id, row.number): row.hash for file_id, rows in exported.rows.versions.items() for row in rows}
    records = [
        ProofRecord(paths[file_id], row.number, decode_proof(row.proof).citations)
        for file_id, row in exported.rows.proofs
        if row.basis == judged_by.basis(hashes[file_id, row.number])
    ]
    return encode_json(ProofsEntry(tuple(sorted(records, key=lambda one: (one.key, one.number)))))


def _check_size(files: FilesEntry) -> None:
    contents = {version.entry: version.size for file in files.files for version in file.versions}
    if (size := sum(contents.values())) > MAX_BYTES:
        raise LimitReached(
            f"The files of this session and their versions have {size:,} bytes, and a bundle holds {MAX_BYTES:,}. "
            "Delete those that you no longer need."
        )
