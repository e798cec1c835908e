"""Files of a session as documents to be taken away: markdown as PDF and DOCX, uploads as markdown."""

import asyncio
import csv
import hashlib
import io
import re
import time
from collections.abc import Callable

import msgspec
from msgspec import Struct

from footnote.db import blobs as db
from footnote.db.engine import Database
from footnote.documents.addresses import image_paths
from footnote.protocol.errors import UnprocessableFile, UsageError
from footnote.protocol.files import ConvertType, FileRecord, FileVersion
from footnote.protocol.times import parse_time
from footnote.protocol.version import __version__
from footnote.sandbox.jobs import MAX_SOURCE_BYTES, ConvertDocument, ConvertedDocument, SourceNote
from footnote.sandbox.pool import SandboxPool
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import FileMissing, NotText, Workspace

MAX_IMAGE_BYTES = 50_000_000
"""Of all images of one document."""
MAX_TABLE_ROWS = 5_000
CONVERT_SECONDS = 30.0
_STEM = re.compile(r"\.[^.]{1,16}$")
_FENCE = re.compile(r"`{3,}")
_notes_decoder = msgspec.json.Decoder(tuple[str, ...])


class Rendition(Struct, frozen=True):
    """A document that was made. `notes`: what could not be shown as it was written."""

    hash: str
    filename: str
    notes: tuple[str, ...] = ()


class Renditions:
    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        blobs: Blobs,
        sandbox: SandboxPool,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._blobs = blobs
        self._sandbox = sandbox
        self._clock = clock

    async def convert(self, user_id: str, session_id: str, path: str, target: ConvertType) -> Rendition:
        """`FileMissing`: no such file. `Unworkable`: it cannot be made, and why. The same document again is the one
        that was made before, as long as it is kept."""
        await self._sessions.head(user_id, session_id)
        workspace = self._sessions.workspace(user_id, session_id)
        opened = await workspace.open(path)
        record = opened.record
        if record.filename.lower().endswith(f".{target}"):
            return Rendition(opened.version.hash, record.filename)
        markdown = await _markdown_of(workspace, record)
        filename = f"{_STEM.sub('', record.filename)}.{target}"
        if target == "md":
            key = hashlib.sha256(f"md {record.id} {markdown}".encode("utf-8", "surrogatepass")).hexdigest()
            return await self._store(session_id, record, filename, key, ConvertedDocument(content=markdown.encode()))
        conversion = ConvertDocument(
            target=target,
            markdown=markdown,
            filename=record.filename,
            images=await _images(workspace, record, markdown),
            sources=await self._sources(user_id, session_id),
            made_at=_created_at(opened.version),
        )
        return await self._render(user_id, session_id, record, filename, conversion)

    async def _render(
        self, user_id: str, session_id: str, record: FileRecord, filename: str, conversion: ConvertDocument
    ) -> Rendition:
        key = await asyncio.to_thread(_key, record.id, conversion)
        found = await self._database.read(db.rendition(session_id, key))
        if found and await self._database.write(db.touch_rendition(session_id, key, self._clock())):
            return Rendition(found.hash, filename, _notes_decoder.decode(found.notes))
        made = await self._sandbox.run(conversion, CONVERT_SECONDS, user=user_id)
        return await self._store(session_id, record, filename, key, made)

    async def _store(
        self, session_id: str, record: FileRecord, filename: str, key: str, made: ConvertedDocument
    ) -> Rendition:
        notes = msgspec.json.encode(made.notes)

        async def need(kept: db.StoredBlob) -> str:
            script = db.store_rendition(session_id, record.id, key, kept, notes, self._clock())
            if not await self._database.write(script):
                raise FileMissing(f"{record.filename} has been deleted while it was converted.")
            return kept.hash

        return Rendition(await self._blobs.store_for(made.content, need), filename, made.notes)

    async def _sources(self, user_id: str, session_id: str) -> dict[int, SourceNote]:
        sources = await self._sessions.sources(user_id, session_id)
        return {
            number: SourceNote(source.title or source.domain, source.url, source.fetched_at, source.published)
            for number, source in sources.items()
        }


def _key(file_id: str, conversion: ConvertDocument) -> str:
    """Of all that a document is made from, and of who makes it. Two files with the same content have a copy each, so
    that one goes without the other."""
    return hashlib.sha256(f"{__version__} {file_id} ".encode() + msgspec.msgpack.encode(conversion)).hexdigest()


def _created_at(version: FileVersion) -> int:
    """The date in a document is that of its text, so that the same text gives the same document."""
    return int(parse_time(version.created_at))


async def _markdown_of(workspace: Workspace, record: FileRecord) -> str:
    """What a file says, as markdown: code in a fence, a table as one."""
    if record.icon_type in ("image", "audio", "video", "archive"):
        raise UnprocessableFile(f"{record.filename} is no text, so it cannot be converted. Download it as it is.")
    try:
        text = (await workspace.extracted_text(record.path)).removeprefix("\ufeff")
    except NotText as error:
        raise UnprocessableFile(f"{error.message} It cannot be converted.") from error
    if len(text.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        raise UnprocessableFile(
            f"{record.filename} has more than {MAX_SOURCE_BYTES:,} bytes of text, which is too large to convert. "
            "Split it into smaller files, or download it as it is."
        )
    match record.icon_type:
        case "code" | "json" if not _is_page(record):
            return _code_block(text, record.filename.rpartition(".")[2])
        case "csv":
            return await asyncio.to_thread(_table, text, record.filename)
        case _:
            return text


def _is_page(record: FileRecord) -> bool:
    """An upload whose text was taken out of its markup."""
    return record.source == "upload" and record.filename.lower().endswith((".html", ".htm", ".xhtml"))


def _code_block(text: str, language: str) -> str:
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _table(text: str, filename: str) -> str:
    separator = "\t" if filename.lower().endswith(".tsv") else _separator(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    except csv.Error:
        return _code_block(text, "")
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = [
        "| " + " | ".join(map(_cell, [*row, *[""] * (width - len(row))])) + " |" for row in rows[: MAX_TABLE_ROWS + 1]
    ]
    left_out = len(rows) - len(lines)
    more = [f"\n… {left_out:,} more rows: download {_cell(filename)}."] if left_out > 0 else []
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:], *more]) + "\n"


def _separator(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)


def _cell(text: str) -> str:
    """As it stands: what looks like markup there is none."""
    plain = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|~$#])", r"\\\1", plain)


async def _images(workspace: Workspace, record: FileRecord, markdown: str) -> dict[str, bytes]:
    """The files that a document shows. One that is not there is shown as its words."""
    images: dict[str, bytes] = {}
    room = MAX_IMAGE_BYTES
    for name in await asyncio.to_thread(image_paths, markdown):
        folder = "" if record.source == "upload" else record.path.rpartition("/")[0]
        for path in dict.fromkeys((folder + name, name)):
            try:
                found = await workspace.open(path)
                if found.record.icon_type != "image" or found.version.size > room:
                    continue
                images[name] = await workspace.read(path)
            except UsageError:
                continue
            room -= len(images[name])
            break
    return images
