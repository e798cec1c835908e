"""The proof of files: a verdict for each statement of a version, with the passage that it rests on, judged in the
background and stored with the version."""

import asyncio
import hashlib
import logging
import zlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Literal, TypeAlias
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.db import proofs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.evidence.file_proof import (
    FileProof,
    LookedStatements,
    apply_looked,
    has_footnotes,
    judge_piece,
    looked_statements,
    merge_looked,
    pieces_of,
    statement_keys,
    unsettled,
)
from footnote.evidence.page_index import PageIndexes
from footnote.evidence.pointers import StatementPointers, written_pointers
from footnote.evidence.proof import count_verdicts
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.protocol import __version__
from footnote.protocol.errors import FootnoteError, UnprocessableFile, UsageError, WrongKind
from footnote.protocol.files import FileCitations, FileRecord
from footnote.protocol.messages import Message, ToolResultMessage, Usage
from footnote.protocol.sources import Citation, Snapshot
from footnote.sessions.history import snapshot_ids_by_number
from footnote.sessions.store import Sessions
from footnote.tools.base import ReviewedFile
from footnote.tracing import Operation
from footnote.workspace.files import OpenedFile
from footnote.workspace.paths import LARGE_RESULTS

MAX_TEXT_BYTES = 2_000_000
"""The page shows larger texts without verdicts."""
MAX_LOADED_FILES = 4
"""Files whose text and pages are in memory to be judged."""
MAX_BACKGROUND_FILES = 50
"""Versions of one user that wait to be judged in the background. Any other one is judged when it is asked for."""
MAX_PAGE_CHARACTERS = 4_000_000
"""Pages whose indexes are kept: those of some sessions."""
_OTHER_PROOFS = 3
"""The newest proofs of a file have all statements for which there was a second look."""
_CHECKED_TYPES = frozenset({"md", "txt"})

Lane: TypeAlias = Literal["asked", "background"]
FILES_JUDGED = Operation("file_judged", "Versions of files whose statements were judged.", span="judge_file")
log = logging.getLogger(__name__)
_proof_decoder = msgspec.json.Decoder(FileProof)


class JudgedBy(Struct, frozen=True):
    """What the files of a session are judged by, beside the texts of the user from before a version was written. A
    snapshot id stands for its text."""

    snapshot_ids: Mapping[int, Sequence[str]]
    pointers: StatementPointers

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "JudgedBy":
        """`messages` of all branches, those of the shown branch first."""
        return cls(snapshot_ids_by_number(messages), written_pointers(messages))

    def basis(self, content_hash: str) -> str:
        """A hash of this and of the content of a version."""
        judged_by = (__version__, content_hash, sorted(self.snapshot_ids.items()), sorted(self.pointers.items()))
        return hashlib.sha256(msgspec.json.encode(judged_by)).hexdigest()


class _Material(Struct, frozen=True):
    opened: OpenedFile
    messages: tuple[Message, ...]
    given: tuple[str, ...]
    judged_by: JudgedBy
    basis: str


class FileCitationChecker:
    """Judges the versions of files, each once. The CPU-bound work is done in a thread, one piece of a file at a time;
    users take turns after each piece, so that neither a long file nor many of them hold up other users."""

    def __init__(
        self, database: Database, sessions: Sessions, library: Library, pages: PageIndexes | None = None
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._library = library
        self._pages = pages or PageIndexes(MAX_PAGE_CHARACTERS)
        self._judging: dict[tuple[str, int, str], asyncio.Task[FileProof]] = {}
        self._background: dict[str, set[asyncio.Task[None]]] = {}
        self._loaded_files = asyncio.Semaphore(MAX_LOADED_FILES)
        self._piece_lock = asyncio.Lock()
        self._user_locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def citations(
        self, user_id: str, session_id: str, path: str, version: int | None = None, *, lane: Lane = "asked"
    ) -> FileCitations:
        """`Unknown`: there is no such session, file or version. `WrongKind`: the file is no text with footnotes.

        What is stored is returned at once; otherwise the version is judged, also if the caller does not wait."""
        opened = await self._sessions.workspace(user_id, session_id).open(path, version)
        _check_kind(opened)
        if not _is_judged(opened.record):
            return _file_citations(opened, ())
        material = await self._load_material(user_id, session_id, opened)
        return _file_citations(opened, (await self._proof(user_id, material, lane)).citations)

    def judge_later(self, user_id: str, session_id: str, path: str) -> None:
        """Judges the newest version in the background, if the file is a text."""
        waiting = self._background.setdefault(user_id, set())
        if len(waiting) < MAX_BACKGROUND_FILES:
            task = asyncio.create_task(self._judge_quietly(user_id, session_id, path), name=f"judge {path}")
            waiting.add(task)
            task.add_done_callback(waiting.discard)

    async def judge_all(self, user_id: str, session_id: str, max_seconds: float) -> None:
        """Judges the newest version of each file of a session that is not judged yet, as far as the time is enough."""
        proofs = SessionProofs(self, user_id, session_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(max_seconds):
                for record in await self._sessions.workspace(user_id, session_id).list_visible():
                    if _is_judged(record) and record.icon_type in _CHECKED_TYPES:
                        await proofs.judge(record.path, max_seconds)

    async def _judge_quietly(self, user_id: str, session_id: str, path: str) -> None:
        try:
            await self.citations(user_id, session_id, path, lane="background")
        except UsageError:
            log.debug("A file is not judged: it is no text, or it was deleted.")
        except FootnoteError as error:
            log.warning("A file could not be judged, and is when it is shown: %s", error.message)

    async def review(
        self,
        user_id: str,
        session_id: str,
        path: str,
        second_look: SecondLook | None,
        cancel: CancelScope,
        artifact: dict[str, Any] | None = None,
    ) -> ReviewedFile | None:
        """The newest version with its verdicts after a second look, which only statements get that had none before.
        None: the file is not judged. `artifact`: that of a call whose result is not stored yet."""
        opened = await self._sessions.workspace(user_id, session_id).open(path)
        try:
            _check_kind(opened)
        except FootnoteError:
            return None
        if not _is_judged(opened.record):
            return None
        material = await self._load_material(user_id, session_id, opened, artifact)
        proof = await self._proof(user_id, material, "asked")
        if second_look is None or not any(one.verdict != "supported" for one in proof.citations):
            return ReviewedFile(_file_citations(opened, proof.citations))
        text = await _text(opened)
        sources = await self._sources(user_id, material)
        keys = await asyncio.to_thread(statement_keys, text, proof.citations, sources)
        questionable = unsettled(proof.citations, keys, proof.looked)
        if not questionable:
            return ReviewedFile(_file_citations(opened, proof.citations))
        result = await second_look.review(text, questionable, sources, cancel)
        if result.usage != Usage():
            looked = merge_looked(dict(looked_statements(result.citations, keys)), proof.looked)
            proof = FileProof(apply_looked(proof.citations, keys, looked), looked)
            await self._store(material, proof)
        return ReviewedFile(_file_citations(opened, proof.citations), result.usage, result.cost)

    @property
    def is_busy(self) -> bool:
        """A version is being judged, or waits for it."""
        return bool(self._judging)

    async def close(self) -> None:
        tasks: list[asyncio.Task[Any]] = [
            *self._judging.values(),
            *(task for waiting in self._background.values() for task in waiting),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # What a version is judged by -----------------------------------------------------------------------------

    async def _load_material(
        self, user_id: str, session_id: str, opened: OpenedFile, artifact: dict[str, Any] | None = None
    ) -> _Material:
        messages = await self._sessions.messages(user_id, session_id)
        if artifact is not None:
            messages = (*messages, ToolResultMessage("", "", (), artifact=artifact))
        given = await self._sessions.asked_before(user_id, session_id, opened.version.created_at)
        return await asyncio.to_thread(_material, opened, messages, given)

    async def _sources(self, user_id: str, material: _Material) -> Sources:
        wanted = {snapshot_id for ids in material.judged_by.snapshot_ids.values() for snapshot_id in ids}
        snapshots = await self._library.for_user(user_id).snapshots(wanted) if wanted else {}
        return await asyncio.to_thread(self._index_sources, material.messages, snapshots)

    def _index_sources(self, messages: Sequence[Message], snapshots: Mapping[str, Snapshot]) -> Sources:
        return Sources.from_messages(messages, snapshots, self._pages.index)

    # Judging -------------------------------------------------------------------------------------------------

    async def _proof(self, user_id: str, material: _Material, lane: Lane) -> FileProof:
        """The stored proof of a version, or one that is judged now. Callers of the same version share the work, and it
        goes on without them."""
        file_id, number = material.opened.record.id, material.opened.version.number
        rows = await self._database.read(db.proofs_around(file_id, number, _OTHER_PROOFS))
        stored = [(row.number, row.basis, await asyncio.to_thread(decode_proof, row.proof)) for row in rows]
        if stored and stored[0][:2] == (number, material.basis):
            return stored[0][2]
        key = (file_id, number, material.basis)
        task = self._judging.get(key)
        if task is None:
            looked = merge_looked(*(proof.looked for *_, proof in stored))
            task = asyncio.create_task(self._judge(user_id, material, looked, lane))
            self._judging[key] = task
            task.add_done_callback(partial(self._forget, key))
        return await asyncio.shield(task)

    def _forget(self, key: tuple[str, int, str], task: asyncio.Task[FileProof]) -> None:
        del self._judging[key]
        if not task.cancelled():
            task.exception()  # it is raised for those who wait, of whom there may be none

    async def _judge(self, user_id: str, material: _Material, looked: LookedStatements, lane: Lane) -> FileProof:
        async with self._user_locks.setdefault((user_id, lane), asyncio.Lock()), self._loaded_files:
            with FILES_JUDGED():
                text = await _text(material.opened)
                if not await asyncio.to_thread(has_footnotes, text):
                    proof = FileProof((), dict(looked))
                else:
                    sources = await self._sources(user_id, material)
                    citations: list[Citation] = []
                    for piece in await asyncio.to_thread(pieces_of, text):
                        async with self._turn(user_id):
                            citations += await asyncio.to_thread(
                                judge_piece,
                                text,
                                piece,
                                sources,
                                material.judged_by.pointers,
                                uncited=True,
                                given=material.given,
                            )
                    proof = await asyncio.to_thread(_complete, text, citations, sources, looked)
        await self._store(material, proof)
        return proof

    @asynccontextmanager
    async def _turn(self, user_id: str) -> AsyncGenerator[None, None]:
        """The turn of a user: all wait in the order in which they came, each with one piece at a time."""
        async with self._user_locks.setdefault((user_id, "piece"), asyncio.Lock()), self._piece_lock:
            yield

    async def _store(self, material: _Material, proof: FileProof) -> None:
        file_id, number = material.opened.record.id, material.opened.version.number
        row = db.ProofRow(number, material.basis, await asyncio.to_thread(encode_proof, proof))
        try:
            await self._database.write(db.store_proof(file_id, row))
        except DatabaseFailed as error:
            log.warning("The verdicts on a file could not be stored, and are found again: %s", error.message)


def _check_kind(opened: OpenedFile) -> None:
    record = opened.record
    if record.icon_type not in _CHECKED_TYPES:
        raise WrongKind(
            f"{record.filename} is neither Markdown nor plain text, so it has no footnotes.",
            code="citations_not_text",
            name=record.filename,
        )
    if opened.version.size > MAX_TEXT_BYTES:
        raise UnprocessableFile(
            f"{record.filename} has more than {MAX_TEXT_BYTES:,} bytes, too many to judge its footnotes.",
            code="citations_too_large",
            name=record.filename,
            max=MAX_TEXT_BYTES,
        )


def _is_judged(record: FileRecord) -> bool:
    """Only what was written in the session: numbers in brackets of an upload, or of the result of a tool, are its
    own."""
    return record.source == "generated" and not record.path.startswith(LARGE_RESULTS)


async def _text(opened: OpenedFile) -> str:
    return b"".join([piece async for piece in opened.read(0, None)]).decode("utf-8", "replace")


def _material(opened: OpenedFile, messages: tuple[Message, ...], given: tuple[str, ...]) -> _Material:
    judged_by = JudgedBy.of(messages)
    return _Material(opened, messages, given, judged_by, judged_by.basis(opened.version.hash))


def _complete(text: str, citations: Sequence[Citation], sources: Sources, looked: LookedStatements) -> FileProof:
    keys = statement_keys(text, citations, sources)
    return FileProof(apply_looked(citations, keys, looked), dict(looked))


def encode_proof(proof: FileProof) -> bytes:
    return zlib.compress(msgspec.json.encode(proof), 6)


def decode_proof(proof: bytes) -> FileProof:
    return _proof_decoder.decode(zlib.decompress(proof))


def _file_citations(opened: OpenedFile, citations: tuple[Citation, ...]) -> FileCitations:
    return FileCitations(opened.record.path, opened.version.number, count_verdicts(citations), citations)


class SessionProofs:
    """The proofs of the files of one session, for its runs."""

    def __init__(self, checker: FileCitationChecker, user_id: str, session_id: str) -> None:
        self._checker = checker
        self._user_id = user_id
        self._session_id = session_id

    async def judge(self, path: str, max_seconds: float) -> FileCitations | None:
        judging = self._checker.citations(self._user_id, self._session_id, path)
        try:
            return await asyncio.wait_for(judging, max_seconds)
        except TimeoutError:
            return None
        except FootnoteError as error:
            log.debug("A written file was not judged: %s", error.message)
            return None

    async def review(
        self,
        path: str,
        second_look: SecondLook | None,
        cancel: CancelScope,
        artifact: dict[str, Any] | None = None,
    ) -> ReviewedFile | None:
        try:
            return await self._checker.review(self._user_id, self._session_id, path, second_look, cancel, artifact)
        except FootnoteError as error:
            log.warning("A written file was not judged: %s", error.message)
            return None
