"""Files of a session in other forms: markdown as PDF or DOCX, uploads as markdown, tables page by page."""

import asyncio
import csv
import hashlib
import io
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.db import blobs as db
from footnote.db.engine import Database
from footnote.documents.images import image_paths
from footnote.evidence.proof import BEST_FIRST, statement_verdict
from footnote.protocol import __version__, parse_time
from footnote.protocol.errors import StatementRefusal, UnprocessableFile, UsageError, WrongKind
from footnote.protocol.files import ConvertType, FileRecord, FileTable, FileVersion, ProofOption
from footnote.protocol.sources import Citation, ProofCounts
from footnote.sandbox.jobs import (
    MAX_SOURCE_BYTES,
    ConvertDocument,
    ConvertedDocument,
    DocumentProof,
    DoubtfulStatement,
    ReadTable,
    SourceNote,
    TableRows,
)
from footnote.sandbox.pool import SandboxPool
from footnote.sessions.file_citations import FileCitationChecker
from footnote.sessions.store import Sessions
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import FileMissing, NotText, OpenedFile, Workspace

MAX_IMAGE_BYTES = 50_000_000
"""The limit for all images of one document together."""
MAX_TABLE_ROWS = 5_000
CONVERT_SECONDS = 30.0
_STEM = re.compile(r"\.[^.]{1,16}$")
_FENCE = re.compile(r"`{3,}")
_notes_decoder = msgspec.json.Decoder(tuple[str, ...])


class Rendition(Struct, frozen=True):
    """A converted document. `notes`: what the conversion had to change or leave out."""

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
        file_citations: FileCitationChecker,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._file_citations = file_citations
        self._blobs = blobs
        self._sandbox = sandbox
        self._clock = clock

    async def convert(
        self, user_id: str, session_id: str, path: str, target: ConvertType, proof: ProofOption = "mark"
    ) -> Rendition:
        """`FileMissing`: there is no such file. `UnprocessableFile` says why it cannot be converted, and lists the
        statements for which it is refused. A conversion that was made before is returned again while it is stored."""
        await self._sessions.head(user_id, session_id)
        workspace = self._sessions.workspace(user_id, session_id)
        opened = await workspace.open(path)
        record = opened.record
        if record.filename.lower().endswith(f".{target}"):
            await self._proof(user_id, session_id, opened, target, proof)
            return Rendition(opened.version.hash, record.filename)
        markdown = await _markdown_of(workspace, opened)
        proven = await self._proof(user_id, session_id, opened, target, proof)
        filename = f"{_STEM.sub('', record.filename)}.{target}"
        if target == "md":
            plain = markdown.removeprefix("\ufeff")
            key = hashlib.sha256(f"md {record.id} {plain}".encode("utf-8", "surrogatepass")).hexdigest()
            return await self._store(session_id, record, filename, key, ConvertedDocument(content=plain.encode()))
        conversion = ConvertDocument(
            target=target,
            markdown=markdown,
            filename=record.filename,
            images=await _images(workspace, record, markdown),
            sources=await self._sources(user_id, session_id),
            proof=proven,
            made_at=_created_at(opened.version),
        )
        return await self._render(user_id, session_id, record, filename, conversion)

    async def _proof(
        self, user_id: str, session_id: str, opened: OpenedFile, target: ConvertType, option: ProofOption
    ) -> DocumentProof | None:
        """The verdicts on the footnotes of a text. None: it has none, or they are not asked for."""
        record = opened.record
        if option == "plain" or (option == "mark" and target == "md") or record.source == "upload":
            return None
        try:
            judged = await self._file_citations.citations(user_id, session_id, record.path, opened.version.number)
        except WrongKind:
            return None
        doubtful = doubtful_statements(judged.citations)
        if option == "refuse" and doubtful:
            content = b"".join([piece async for piece in opened.read(0, None)])
            raise _refusal(record.filename, content.decode("utf-8", "replace"), doubtful, judged.counts)
        return DocumentProof(judged.counts, doubtful)

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

        async def store(blob: db.StoredBlob) -> str:
            script = db.store_rendition(session_id, record.id, key, blob, notes, self._clock())
            if not await self._database.write(script):
                raise FileMissing(
                    f"{record.filename} has been deleted while it was converted.",
                    code="file_deleted",
                    name=record.filename,
                )
            return blob.hash

        return Rendition(await self._blobs.store_for(made.content, store), filename, made.notes)

    async def _sources(self, user_id: str, session_id: str) -> dict[int, SourceNote]:
        sources = await self._sessions.sources(user_id, session_id)
        return {
            number: SourceNote(source.title or source.domain, source.url, source.fetched_at, source.published)
            for number, source in sources.items()
        }


def _key(file_id: str, conversion: ConvertDocument) -> str:
    """The cache key: a hash of everything that the document depends on, the version of Footnote included. Two files
    with the same content have a copy each, so that deleting one keeps the other's."""
    return hashlib.sha256(f"{__version__} {file_id} ".encode() + msgspec.msgpack.encode(conversion)).hexdigest()


def doubtful_statements(citations: Sequence[Citation]) -> tuple[DoubtfulStatement, ...]:
    """The statements that their citations do not support, in the order of the text, each with its verdict and the
    citation that it rests on first."""
    by_place: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        by_place.setdefault((citation.start, citation.end), []).append(citation)
    found: list[DoubtfulStatement] = []
    for (start, end), cited in sorted(by_place.items()):
        verdict = statement_verdict(citation.verdict for citation in cited)
        cited.sort(key=lambda citation: (citation.verdict != verdict, BEST_FIRST.index(citation.verdict)))
        if verdict != "supported":
            found.append(DoubtfulStatement(start, end, verdict, tuple(cited)))
    return tuple(found)


def _refusal(filename: str, text: str, doubtful: Sequence[DoubtfulStatement], counts: ProofCounts) -> UnprocessableFile:
    some = "One statement" if len(doubtful) == 1 else f"{len(doubtful):,} statements"
    error = UnprocessableFile(
        f"{some} of {filename} {'is' if len(doubtful) == 1 else 'are'} not supported by its sources. Correct them, or "
        "convert it with these statements marked (mark) or as it is (plain).",
        code="convert_unsupported",
        name=filename,
        count=len(doubtful),
        statements=counts.statements,
    )
    error.refused_statements = tuple(
        StatementRefusal(
            text[statement.start : statement.end],
            statement.verdict,
            statement.start,
            statement.end,
            tuple(dict.fromkeys(citation.number for citation in statement.citations if citation.number)),
            statement.citations[0].missing,
            statement.citations[0].quote,
        )
        for statement in doubtful
    )
    return error


def _created_at(version: FileVersion) -> int:
    """The date in a document is that of its text, so that the same text gives the same bytes."""
    return int(parse_time(version.created_at))


async def _markdown_of(workspace: Workspace, opened: OpenedFile) -> str:
    """The text of a file as markdown: code in a fence, CSV as a table. Other text is exactly as it was written, so that
    the offsets of its citations hold."""
    record = opened.record
    if record.icon_type in ("image", "audio", "video", "archive"):
        raise UnprocessableFile(
            f"{record.filename} is no text, so it cannot be converted. Download it as it is.",
            code="convert_not_text",
            name=record.filename,
        )
    try:
        if record.source == "upload":
            text = await workspace.extracted_text(record.path)
        else:
            text = await workspace.read_text(record.path, opened.version.number)
    except NotText as error:
        raise UnprocessableFile(
            f"{error.message} It cannot be converted.", code="convert_not_text", name=record.filename
        ) from error
    if len(text.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        raise UnprocessableFile(
            f"{record.filename} has more than {MAX_SOURCE_BYTES:,} bytes of text, which is too large to convert. "
            "Split it into smaller files, or download it as it is.",
            code="convert_too_large",
            name=record.filename,
            max=MAX_SOURCE_BYTES,
        )
    match record.icon_type:
        case "code" | "json" if not _is_page(record):
            return _code_block(text.removeprefix("\ufeff"), record.filename.rpartition(".")[2])
        case "csv":
            return await asyncio.to_thread(_table, text.removeprefix("\ufeff"), record.filename)
        case _:
            return text


def _is_page(record: FileRecord) -> bool:
    """True of an upload whose text was extracted from markup."""
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
    """Plain text as markdown that shows the same characters."""
    plain = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|~$#])", r"\\\1", plain)


async def _images(workspace: Workspace, record: FileRecord, markdown: str) -> dict[str, bytes]:
    """The image files of a document by path. An image without a file is shown as its alternative text."""
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


# Tables, page by page ------------------------------------------------------------------------------------


MAX_TABLE_BYTES = 50_000_000
"""The maximum size of a file that is shown as a table."""
TABLE_SECONDS = 20.0
TABLE_PAGE_ROWS = 1_000
"""The rows of one page: a reader of some rows goes on to the next ones."""
MAX_CACHED_TABLE_PAGES = 16
"""The number of cached pages, so that scrolling back costs nothing."""
_MAX_CACHED_CELLS = 50_000
_FORMS: dict[str, Literal["csv", "tsv", "workbook"]] = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("xlsx", "xls", "ods"), "workbook"),
}


class Tables:
    """A cache of the last pages, by content hash."""

    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox
        self._cache: OrderedDict[tuple[str, str, str | None, int], TableRows] = OrderedDict()

    async def rows(
        self, opened: OpenedFile, *, sheet: str | None, offset: int, limit: int, user_id: str = ""
    ) -> FileTable:
        """`WrongKind`: the file is no table. `UnprocessableFile` says why it cannot be shown."""
        name = opened.record.filename
        form = _FORMS.get(name.lower().rpartition(".")[2])
        if form is None:
            raise WrongKind(f"{name} is no table: CSV, TSV, XLSX and ODS are.", code="not_a_table", name=name)
        if opened.version.size > MAX_TABLE_BYTES:
            raise UnprocessableFile(
                f"{name} is larger than {MAX_TABLE_BYTES:,} bytes, and too large to be shown: download it.",
                code="table_too_large",
                name=name,
                max=MAX_TABLE_BYTES,
            )
        job = ReadTable(content=b"", filename=name, form=form, sheet=sheet, limit=TABLE_PAGE_ROWS)
        start = offset // TABLE_PAGE_ROWS * TABLE_PAGE_ROWS
        first = await self._load_page(opened, replace(job, offset=start), user_id)
        rows = first.rows[offset - start :]
        if len(rows) < limit and offset + len(rows) < first.total:
            following = await self._load_page(opened, replace(job, offset=start + TABLE_PAGE_ROWS), user_id)
            rows += following.rows
        return FileTable(
            file_path=opened.record.path,
            filename=name,
            sheets=first.sheets,
            sheet=first.sheet,
            columns=first.columns,
            left_out=first.left_out,
            rows=rows[:limit],
            offset=offset,
            total=first.total,
        )

    async def _load_page(self, opened: OpenedFile, job: ReadTable, user_id: str) -> TableRows:
        key = (opened.version.hash, job.form, job.sheet, job.offset)
        if (known := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return known
        content = b"".join([piece async for piece in opened.read(0, None)])
        piece = await self._sandbox.run(replace(job, content=content), TABLE_SECONDS, user=user_id)
        if sum(map(len, piece.rows)) <= _MAX_CACHED_CELLS:
            self._cache[key] = piece
            while len(self._cache) > MAX_CACHED_TABLE_PAGES:
                self._cache.popitem(last=False)
        return piece
