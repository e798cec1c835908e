"""One life of the connection to one MCP server.

The task groups of the `mcp` package must be left by the task that entered them, while calls come from many tasks.
So a connection lives in a task of its own, which opens it, waits until it is over, and closes it.
"""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self, TextIO, cast

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from footnote.protocol.errors import UpstreamError
from footnote.tools.mcp.settings import McpServerSettings

_DRAIN_TIMEOUT_SECONDS = 1.0


@asynccontextmanager
async def log_stderr(server: McpServerSettings, last_lines: deque[str]) -> AsyncGenerator[TextIO]:
    """A file to give to the child. Its last lines stay in `last_lines`, to say why a start failed."""
    reading, writing = os.pipe()
    # A thread, because event loops cannot watch a pipe on every system; a daemon, because a grandchild may keep
    # the pipe open after the server has gone.
    reader = threading.Thread(target=_drain, args=(reading, server, last_lines), daemon=True)
    reader.start()
    try:
        with os.fdopen(writing, "w") as file:
            yield file
    finally:
        await asyncio.to_thread(reader.join, _DRAIN_TIMEOUT_SECONDS)


def _drain(reading: int, server: McpServerSettings, last_lines: deque[str]) -> None:
    with os.fdopen(reading, errors="replace") as lines:
        for line in lines:
            if text := server.mask_secrets(line.rstrip()):
                log.debug("MCP server %s: %s", server.name, text)
                last_lines.append(text)


log = logging.getLogger(__name__)

_HTTP_TIMEOUT_SECONDS = 30.0
_CLOSE_TIMEOUT_SECONDS = 10.0
"""More than the `mcp` package gives a child to end by itself, and then by force."""


class McpConnection:
    """`over` is set when it has ended, by either side; it does not come back to life.

    The server has `seconds` to answer to anything but a call, which has its own limit.
    """

    def __init__(self, server: McpServerSettings, timeout: float) -> None:
        self.server = server
        self._timeout = timeout
        self.ended = asyncio.Event()
        self._client_future: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # A failure is also logged; nobody may be left to fetch it from here.
        self._client_future.add_done_callback(lambda opened: opened.exception())
        self._last_lines: deque[str] = deque(maxlen=5)
        self._last_status = 0
        self._task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    async def client(self) -> Client:
        """The client, once the server has answered; `UpstreamError` if it fails or takes too long."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._client_future), self._timeout)
        except TimeoutError:
            self._task.cancel()
            raise UpstreamError(
                f"{self._title} did not answer within {self._timeout:g} s.{self._stderr_hint()}"
            ) from None

    @property
    def is_closed(self) -> bool:
        """Over, and everything closed."""
        return self._task.done()

    @property
    def has_lost_session(self) -> bool:
        """An HTTP server of the kind that keeps sessions says 404 when it does not know one."""
        return self._last_status == 404 and self._client_future.result().session.initialize_result is not None

    async def close(self) -> None:
        """End it, and the child with it."""
        self.ended.set()
        if not self._client_future.done():
            self._task.cancel()
        _, unfinished = await asyncio.wait({self._task}, timeout=_CLOSE_TIMEOUT_SECONDS)
        for task in unfinished:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        try:
            async with self._transport() as transport:
                info = types.Implementation(name="footnote", version=version("footnote"))
                watched = _watch(transport, self.ended)
                async with Client(watched, client_info=info, read_timeout_seconds=self._timeout) as client:
                    self._client_future.set_result(client)
                    await self.ended.wait()
        except Exception as error:  # noqa: BLE001 - transports raise groups of whatever their libraries raise
            self._fail(_root_error(error))
        finally:
            self.ended.set()
            if not self._client_future.done():
                self._client_future.set_exception(UpstreamError(f"{self._title} was given up before it answered."))

    def _fail(self, error: BaseException) -> None:
        reason = f"{self._title} {self._describe_failure(error)}.{self._stderr_hint()}"
        if self._client_future.done():
            log.warning("%s", reason)
        else:
            self._client_future.set_exception(UpstreamError(reason))

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Transport]:
        server = self.server
        async with AsyncExitStack() as stack:
            if server.command:
                errors = await stack.enter_async_context(log_stderr(server, self._last_lines))
                child = StdioServerParameters(
                    command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
                )
                yield cast("Transport", stdio_client(child, errlog=errors))
            else:
                http = httpx2.AsyncClient(
                    headers=dict(server.headers),
                    timeout=httpx2.Timeout(_HTTP_TIMEOUT_SECONDS, read=max(_HTTP_TIMEOUT_SECONDS, server.timeout)),
                    event_hooks={"response": [self._record_status]},
                )
                await stack.enter_async_context(http)
                yield cast("Transport", streamable_http_client(server.url or "", http_client=http))

    async def _record_status(self, response: httpx2.Response) -> None:
        # Only of what we asked: the stream that a server may push over is fetched with GET, and may fail alone.
        if response.request.method == "POST":
            self._last_status = response.status_code

    @property
    def _title(self) -> str:
        return f"The MCP server {self.server.name} ({self.server.location})"

    def _describe_failure(self, error: BaseException) -> str:
        if isinstance(error, FileNotFoundError):
            missing = "command" if self.server.cwd is None else "command or folder"
            return f"could not be started: there is no such {missing}"
        if isinstance(error, httpx2.ConnectError):
            return "could not be reached: nothing answers there"
        if self._last_status >= 400 and not self._client_future.done():
            hint = "; check its headers" if self._last_status in {401, 403} else ""
            return f"answered with HTTP status {self._last_status}{hint}"
        if isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED:
            return "ended before it answered"
        return self.server.mask_secrets(f"failed: {error or type(error).__name__}").rstrip(".")

    def _stderr_hint(self) -> str:
        return f" It said: {self._last_lines[-1].rstrip('.')}." if self._last_lines else ""


@asynccontextmanager
async def _watch(transport: Transport, ended: asyncio.Event) -> AsyncGenerator[tuple[Any, Any]]:
    async with transport as (reading, writing):
        yield _WatchedStream(reading, ended), writing


class _WatchedStream:
    """A stream of messages that says when it has ended: the `mcp` package tells only the next caller."""

    def __init__(self, stream: Any, ended: asyncio.Event) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> "_WatchedStream":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._ended.set()
            raise

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


def _root_error(error: BaseException) -> BaseException:
    """The first real error inside groups of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
