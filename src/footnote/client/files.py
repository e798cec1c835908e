"""The files of sessions over the API, and sessions as bundles: sent and fetched in pieces, never whole in memory."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote, urlencode

from footnote.client.transport import Transport, quote_segment
from footnote.protocol.errors import UpstreamError
from footnote.protocol.files import (
    ConvertedFile,
    ConvertType,
    FileContent,
    FileConversion,
    FileDiff,
    FileEdit,
    FileList,
    FileRecord,
    FileRestore,
    FileVersions,
    Unpacking,
)
from footnote.protocol.sessions import ImportedSession

CHUNK_BYTES = 256 * 1024


class FilesApi:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, session_id: str) -> tuple[FileRecord, ...]:
        return (await self._transport.request("GET", _files(session_id), FileList)).files

    async def upload(self, session_id: str, file: Path, filename: str) -> FileRecord:
        boundary = secrets.token_hex(16)
        head = _part_head(boundary, filename)
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = (await asyncio.to_thread(file.stat)).st_size
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(head) + size + len(tail)),
        }
        answer = await self._transport.send(
            "POST", _files(session_id), _multipart_body(head, file, size, tail), headers
        )
        [record] = self._transport.decode(answer, FileList).files
        return record

    async def content(self, session_id: str, path: str, version: int | None = None) -> AsyncGenerator[bytes, None]:
        wanted = {"file_path": path, **({} if version is None else {"version": version})}
        found = await self._transport.request("GET", f"{_files(session_id)}/content?{urlencode(wanted)}", FileContent)
        if found.content is not None:
            yield found.content.encode()
            return
        if found.download_url is None:
            raise UpstreamError(f"{self._transport.base_url} does not say where the file is.")
        async with aclosing(self._transport.download(found.download_url)) as pieces:
            async for piece in pieces:
                yield piece

    async def put(self, session_id: str, path: str, content: str, base_hash: str | None) -> FileRecord:
        edit = FileEdit(path, content, base_hash)
        return await self._transport.request("PUT", f"{_files(session_id)}/content", FileRecord, edit)

    async def versions(self, session_id: str, path: str) -> FileVersions:
        return await self._transport.request("GET", f"{_files(session_id)}/versions?{_path(path)}", FileVersions)

    async def diff(self, session_id: str, path: str, older: int | None, newer: int | None) -> FileDiff:
        numbers = {name: number for name, number in (("from", older), ("to", newer)) if number is not None}
        query = urlencode({"file_path": path, **numbers})
        return await self._transport.request("GET", f"{_files(session_id)}/diff?{query}", FileDiff)

    async def restore(self, session_id: str, path: str, number: int) -> FileRecord:
        return await self._transport.request(
            "POST", f"{_files(session_id)}/restore", FileRecord, FileRestore(path, number)
        )

    async def delete(self, session_id: str, path: str) -> None:
        await self._transport.request_bytes("DELETE", f"{_files(session_id)}?{_path(path)}")

    async def unpack(self, session_id: str, path: str) -> tuple[FileRecord, ...]:
        return (await self._transport.request("POST", f"{_files(session_id)}/unpack", FileList, Unpacking(path))).files

    async def convert(self, session_id: str, path: str, target: ConvertType) -> ConvertedFile:
        wanted = FileConversion(path, target)
        return await self._transport.request("POST", f"{_files(session_id)}/convert", ConvertedFile, wanted)

    def download(self, converted: ConvertedFile) -> AsyncGenerator[bytes, None]:
        return self._transport.download(converted.download_url)

    # Bundles -----------------------------------------------------------------------------------------------

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]:
        return self._transport.stream_chunks(f"/v2/sessions/{quote_segment(session_id)}/export")

    async def import_bundle(self, file: Path) -> ImportedSession:
        size = (await asyncio.to_thread(file.stat)).st_size
        headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
        answer = await self._transport.send("POST", "/v2/bundles", read_chunks(file), headers)
        return self._transport.decode(answer, ImportedSession)


async def read_chunks(file: Path) -> AsyncGenerator[bytes, None]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        while piece := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield piece


async def _multipart_body(head: bytes, file: Path, size: int, tail: bytes) -> AsyncGenerator[bytes, None]:
    """A form with one file. It has as many bytes as were announced, whatever becomes of the file meanwhile."""
    yield head
    left = size
    async with aclosing(read_chunks(file)) as pieces:
        async for piece in pieces:
            yield piece[:left]
            left -= min(left, len(piece))
    if left:
        raise UpstreamError(f"{file.name} became shorter while it was sent.")
    yield tail


def _part_head(boundary: str, filename: str) -> bytes:
    """The name in both forms: the second one is exact, whatever stands in it."""
    plain = "".join(one if one.isascii() and one.isprintable() and one not in '"\\%' else "_" for one in filename)
    disposition = f'form-data; name="file"; filename="{plain}"; filename*=UTF-8\'\'{quote(filename, safe="")}'
    return f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n".encode()


def _files(session_id: str) -> str:
    return f"/v2/sessions/{quote_segment(session_id)}/files"


def _path(path: str) -> str:
    return urlencode({"file_path": path})
