"""The footnotes of files: a verdict for each of them, with the passage that it rests on."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from weakref import WeakValueDictionary

import msgspec

from footnote.evidence.claims import Claim, extract_claims
from footnote.evidence.pointers import find_pointers, written_pointers
from footnote.evidence.proof import count_verdicts, judge_text
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.files import FileCitations
from footnote.protocol.messages import AssistantMessage, Message
from footnote.protocol.sources import Citation, Snapshot
from footnote.sessions.history import snapshot_ids_by_number
from footnote.sessions.store import Sessions
from footnote.workspace.files import OpenedFile

MAX_TEXT_BYTES = 2_000_000
"""The page shows larger texts without verdicts."""
MAX_STATEMENTS = 400
"""A statement takes up to about 12 ms of CPU on long pages, so that a file takes at most some seconds of a thread."""
MAX_CACHED_FILES = 64
_CHECKED_TYPES = frozenset({"md", "txt"})


class FileCitationChecker:
    """Judges the footnotes of a file on request. The work is CPU-bound in a thread, so one file is judged at a time;
    each user has one place in the queue, so that many requests of one user do not delay others."""

    def __init__(self, sessions: Sessions, library: Library) -> None:
        self._sessions = sessions
        self._library = library
        self._check_lock = asyncio.Lock()
        self._user_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._cache: OrderedDict[str, tuple[Citation, ...]] = OrderedDict()

    async def citations(self, user_id: str, session_id: str, path: str, version: int | None = None) -> FileCitations:
        """`Unknown`: there is no such session, file or version. `WrongKind`: the file is no text with footnotes."""
        opened = await self._sessions.workspace(user_id, session_id).open(path, version)
        text = await _text(opened)
        messages = await self._sessions.messages(user_id, session_id)
        snapshot_ids = await asyncio.to_thread(snapshot_ids_by_number, messages)
        key = _key(opened.version.hash, snapshot_ids, messages)
        judged = self._get_cached(key)
        if judged is None:
            async with self._user_locks.setdefault(user_id, asyncio.Lock()), self._check_lock:
                judged = self._get_cached(key)
                if judged is None:
                    judged = await self._check(user_id, text, messages, snapshot_ids)
                    self._cache_result(key, judged)
        return FileCitations(opened.record.path, opened.version.number, count_verdicts(judged), judged)

    async def _check(
        self, user_id: str, text: str, messages: Sequence[Message], snapshot_ids: Mapping[int, Sequence[str]]
    ) -> tuple[Citation, ...]:
        found = await asyncio.to_thread(_statements, text)
        numbers = {cite.number for claim in found for cite in claim.cites}
        wanted = [snapshot_id for number in numbers for snapshot_id in snapshot_ids.get(number, ())]
        snapshots = await self._library.for_user(user_id).snapshots(wanted)
        return await asyncio.to_thread(_check_text, text, found, messages, snapshots)

    def _get_cached(self, key: str) -> tuple[Citation, ...] | None:
        judged = self._cache.get(key)
        if judged is not None:
            self._cache.move_to_end(key)
        return judged

    def _cache_result(self, key: str, judged: tuple[Citation, ...]) -> None:
        self._cache[key] = judged
        while len(self._cache) > MAX_CACHED_FILES:
            self._cache.popitem(last=False)


async def _text(opened: OpenedFile) -> str:
    """The text of a file that was written in the session; numbers in brackets of an upload are its own."""
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
    if record.source == "upload":
        return ""
    return b"".join([piece async for piece in opened.read(0, None)]).decode("utf-8", "replace")


def _statements(text: str) -> tuple[Claim, ...]:
    """One more than is judged, as the end of the text that is."""
    return extract_claims(text)[: MAX_STATEMENTS + 1]


def _key(file_hash: str, snapshot_ids: Mapping[int, Sequence[str]], messages: Iterable[Message]) -> str:
    """The cache key: a hash of everything that a verdict and its passage depend on. A snapshot id stands for its text,
    and a call for what it wrote."""
    pointing = [
        (call.id, call.pointers)
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
        if call.pointers
    ]
    return hashlib.sha256(msgspec.json.encode((file_hash, sorted(snapshot_ids.items()), pointing))).hexdigest()


def _check_text(
    text: str, found: Sequence[Claim], messages: Sequence[Message], snapshots: Mapping[str, Snapshot]
) -> tuple[Citation, ...]:
    judged_text = text[: found[MAX_STATEMENTS].start] if len(found) > MAX_STATEMENTS else text
    pointers = find_pointers(found, written_pointers(messages))
    return judge_text(judged_text, Sources.from_messages(messages, snapshots), pointers)
