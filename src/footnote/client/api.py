"""The client of the server's HTTP API: sessions, their files, and runs that are followed through lost connections."""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import replace

from footnote.client import DownloadableDocument, read_chunks
from footnote.client.transport import RETRYABLE_STATUSES, Transport, quote_segment
from footnote.net import ConnectionFailed
from footnote.net.client import Net
from footnote.protocol import new_id
from footnote.protocol.errors import LimitReached, UpstreamError
from footnote.protocol.events import Event, MessageStop
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
    FileVersion,
    FileVersions,
    ProofOption,
    Unpacking,
)
from footnote.protocol.history import History, SessionHead
from footnote.protocol.plans import PlanChanges, PlanView, Steering
from footnote.protocol.sessions import (
    Approval,
    ImportedSession,
    NewCheck,
    NewMessage,
    NewSession,
    RunView,
    SessionPage,
    StartedRun,
)
from footnote.protocol.sse import EventDecoder

STALL_SECONDS = 60.0
"""The server sends pings more often; a connection that is silent for longer is dead."""
log = logging.getLogger(__name__)


class RetryPolicy(Struct, frozen=True):
    """Seconds before the first attempt, at most before any other, and in total until a lost server is given up."""

    first: float = 0.25
    longest: float = 4.0
    total: float = 60.0


class ServerApi:
    """The API at `base_url`. `files`: the files of sessions, and sessions as bundles."""

    def __init__(self, net: Net, base_url: str, token: str | None, *, retry_policy: RetryPolicy | None = None) -> None:
        self._transport = Transport(net, base_url, token)
        self.base_url = self._transport.base_url
        self.files = FilesApi(self._transport)
        self._retry_policy = retry_policy or RetryPolicy()

    async def create_session(self, new: NewSession) -> SessionHead:
        return await self._transport.request("POST", "/v2/sessions", SessionHead, new)

    async def sessions(self, query: str | None = None, cursor: str | None = None) -> SessionPage:
        parameters = {name: value for name, value in (("query", query), ("cursor", cursor)) if value is not None}
        return await self._transport.request(
            "GET", f"/v2/sessions{'?' if parameters else ''}{urlencode(parameters)}", SessionPage
        )

    async def history(self, session_id: str) -> History:
        return await self._transport.request(
            "GET", f"/v2/sessions/{quote_segment(session_id)}/history?turns=true", History
        )

    async def delete_session(self, session_id: str) -> None:
        await self._transport.request_bytes("DELETE", f"/v2/sessions/{quote_segment(session_id)}")

    async def start(self, session_id: str, new: NewMessage) -> StartedRun:
        """Posts a question. The server executes the run whether it is followed or not.

        The message gets a `client_id`, so that a request whose response was lost can be sent again: the server stores
        the message once. A server that refuses the first connection is reported at once."""
        new = new if new.client_id is not None else replace(new, client_id=new_id("msg"))
        path = f"/v2/sessions/{quote_segment(session_id)}/messages"
        outage = _Reconnect(self.base_url, self._retry_policy)
        while True:
            try:
                return await self._transport.request("POST", path, StartedRun, new)
            except UpstreamError as error:
                cause = error.__cause__
                if isinstance(cause, ConnectionFailed):
                    if not outage.has_begun and not cause.was_connected:
                        raise
                elif error.status not in RETRYABLE_STATUSES:
                    raise
                reason = error.message
            await outage.wait(reason, None)

    async def check(self, new: NewCheck) -> StartedRun:
        """Starts a check. A request whose response was lost is not sent again: it would be a second session."""
        return await self._transport.request("POST", "/v2/checks", StartedRun, new)

    async def cancel(self, run_id: str) -> RunView:
        return await self._transport.request("POST", f"/v2/runs/{quote_segment(run_id)}/cancel", RunView)

    async def decide(self, run_id: str, call_id: str, approval: Approval) -> RunView:
        """Sends the decision of the user on a call that waits for approval."""
        return await self._transport.request(
            "POST", f"/v2/runs/{quote_segment(run_id)}/approvals/{quote_segment(call_id)}", RunView, approval
        )

    async def finish(self, run_id: str) -> RunView:
        """Makes a run answer with what it has: a research run writes its report now."""
        return await self._transport.request("POST", f"/v2/runs/{quote_segment(run_id)}/finish", RunView)

    async def plan(self, run_id: str) -> PlanView:
        """The plan of a research run; without items while it is being made."""
        return await self._transport.request("GET", _plan_of(run_id), PlanView)

    async def change_plan(self, run_id: str, changes: PlanChanges) -> PlanView:
        return await self._transport.request("PATCH", _plan_of(run_id), PlanView, changes)

    async def steer(self, run_id: str, steering: Steering) -> PlanView:
        """Tells a research run something while it goes on."""
        return await self._transport.request("POST", f"/v2/runs/{quote_segment(run_id)}/steer", PlanView, steering)

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[tuple[int, Event], None]:
        """The events of a run with their ids, from the one after `after` to the last, each once and in order,
        however often the connection breaks. `UpstreamError`: the server did not come back."""
        outage = _Reconnect(self.base_url, self._retry_policy)
        while True:
            try:
                async with aclosing(self._stream_events(run_id, after)) as events:
                    async for number, event in events:
                        outage.reset()
                        after = number
                        yield number, event
                        if isinstance(event, MessageStop):
                            return
                reason, wait = "the stream ended before the run", None
            except LimitReached as error:
                reason, wait = error.message, error.retry_after
            except UpstreamError as error:
                if error.status not in RETRYABLE_STATUSES and not isinstance(error, ConnectionFailed):
                    raise
                reason, wait = error.message, None
            await outage.wait(reason, wait)

    async def _stream_events(self, run_id: str, after: int) -> AsyncGenerator[tuple[int, Event], None]:
        """The events of one connection."""
        decoder = EventDecoder()
        path = f"/v2/runs/{quote_segment(run_id)}/events"
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        async with self._transport.open_response("GET", path, headers=headers) as response:
            while chunk := await response.read_chunk():
                for numbered in decoder.push(chunk):
                    yield numbered


class FilesApi:
    """The files of sessions, and sessions as bundles: sent and fetched in chunks, never whole in memory."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, session_id: str) -> tuple[FileRecord, ...]:
        return (await self._transport.request("GET", _files(session_id), FileList)).files

    async def upload(self, session_id: str, file: Path) -> FileRecord:
        boundary = secrets.token_hex(16)
        head = _part_head(boundary, file.name)
        tail = f"\r\n--{boundary}--\r\n".encode()
        size = (await asyncio.to_thread(file.stat)).st_size
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(head) + size + len(tail)),
        }
        body = _multipart_body(head, file, size, tail)
        response = await self._transport.send("POST", _files(session_id), body, headers)
        [record] = self._transport.decode(response, FileList).files
        return record

    async def content(self, session_id: str, path: str, version: int | None = None) -> AsyncGenerator[bytes, None]:
        wanted = {"file_path": path, **({} if version is None else {"version": version})}
        found = await self._transport.request("GET", f"{_files(session_id)}/content?{urlencode(wanted)}", FileContent)
        if found.content is not None:
            yield found.content.encode()
            return
        if found.download_url is None:
            raise UpstreamError(f"{self._transport.base_url} does not say where the file is.")
        async with aclosing(self._transport.download(found.download_url)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def put(self, session_id: str, path: str, content: str, base_hash: str | None) -> FileRecord:
        """A user's edit of the version with this hash; None: there is no such file yet."""
        edit = FileEdit(path, content, base_hash)
        return await self._transport.request("PUT", f"{_files(session_id)}/content", FileRecord, edit)

    async def versions(self, session_id: str, path: str) -> tuple[FileVersion, ...]:
        """The newest first."""
        listed = await self._transport.request("GET", f"{_files(session_id)}/versions?{_path(path)}", FileVersions)
        return listed.versions

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

    async def convert(
        self, session_id: str, path: str, target: ConvertType, proof: ProofOption = "mark"
    ) -> DownloadableDocument:
        request = FileConversion(path, target, proof)
        converted = await self._transport.request("POST", f"{_files(session_id)}/convert", ConvertedFile, request)
        return DownloadableDocument(
            converted.filename, converted.notes, self._transport.download(converted.download_url)
        )

    def export(self, session_id: str) -> AsyncGenerator[bytes, None]:
        return self._transport.stream_chunks(f"/v2/sessions/{quote_segment(session_id)}/export")

    async def import_bundle(self, file: Path) -> ImportedSession:
        size = (await asyncio.to_thread(file.stat)).st_size
        headers = {"Content-Type": "application/zip", "Content-Length": str(size)}
        response = await self._transport.send("POST", "/v2/bundles", read_chunks(file), headers)
        return self._transport.decode(response, ImportedSession)


class _Reconnect:
    """The retries of one outage: from the first failure to the next event."""

    def __init__(self, base_url: str, retry_policy: RetryPolicy) -> None:
        self._base_url = base_url
        self._retry_policy = retry_policy
        self.reset()

    def reset(self) -> None:
        self._delay = self._retry_policy.first
        self._lost_at: float | None = None

    @property
    def has_begun(self) -> bool:
        return self._lost_at is not None

    async def wait(self, reason: str, retry_after: float | None) -> None:
        """Waits before the next attempt, or gives up."""
        now = asyncio.get_running_loop().time()
        if self._lost_at is None:
            self._lost_at = now
            log.warning("The connection to %s was lost (%s); trying again.", self._base_url, reason)
        delay = max(self._delay, retry_after or 0)
        if now + delay - self._lost_at > self._retry_policy.total:
            raise UpstreamError(
                f"The connection to {self._base_url} was lost and did not come back: {reason}. The run continues on "
                "the server; `footnote sessions show` will show its result."
            )
        self._delay = min(self._delay * 2, self._retry_policy.longest)
        await asyncio.sleep(delay)


async def _multipart_body(head: bytes, file: Path, size: int, tail: bytes) -> AsyncGenerator[bytes, None]:
    """A form with one file. Its length was sent before in a header: a file that grows meanwhile is cut there."""
    yield head
    left = size
    async with aclosing(read_chunks(file)) as chunks:
        async for chunk in chunks:
            yield chunk[:left]
            left -= min(left, len(chunk))
    if left:
        raise UpstreamError(f"{file.name} became shorter while it was being sent.")
    yield tail


def _part_head(boundary: str, filename: str) -> bytes:
    """The filename in ASCII for old servers, and exactly, percent-encoded (RFC 5987)."""
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in filename)
    disposition = f'form-data; name="file"; filename="{plain}"; filename*=UTF-8\'\'{quote(filename, safe="")}'
    return f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n".encode()


def _files(session_id: str) -> str:
    return f"/v2/sessions/{quote_segment(session_id)}/files"


def _plan_of(run_id: str) -> str:
    return f"/v2/runs/{quote_segment(run_id)}/plan"


def _path(path: str) -> str:
    return urlencode({"file_path": path})
