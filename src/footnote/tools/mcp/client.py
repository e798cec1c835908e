"""One MCP server: calls, connecting again after a lost connection, and the connection itself."""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self, TextIO, cast

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT

from footnote.protocol.errors import ToolFailed, TransientFailure, UpstreamError
from footnote.protocol.tools import Progress
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.mcp.adapter import Run, UnsupportedTool, adapt_tool, to_progress, to_tool_result, truncate
from footnote.tools.mcp.settings import McpServerSettings

log = logging.getLogger(__name__)

_DRAIN_TIMEOUT_SECONDS = 1.0


@asynccontextmanager
async def log_stderr(server: McpServerSettings, last_lines: deque[str]) -> AsyncGenerator[TextIO]:
    """A file for the child's stderr. `last_lines` gets its last lines, which may say why a start failed."""
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


_HTTP_TIMEOUT_SECONDS = 30.0
_CLOSE_TIMEOUT_SECONDS = 10.0
"""More than the `mcp` package gives a child to end by itself, and then by force."""


class McpConnection:
    """One connection to a server. `ended` is set when either side has ended it; it is not opened again.

    The server has `timeout` seconds to answer anything but a call, which has its own limit.
    """

    def __init__(self, server: McpServerSettings, timeout: float) -> None:
        self.server = server
        self._timeout = timeout
        self.ended = asyncio.Event()
        self._client_future: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # A failure is also logged. Without this, asyncio reports it when no caller is left to retrieve it.
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
        """Whether it has ended, and everything is closed."""
        return self._task.done()

    @property
    def has_lost_session(self) -> bool:
        """Whether the server has dropped the session: HTTP servers with sessions answer 404 to an unknown one."""
        return self._last_status == 404 and self._client_future.result().session.initialize_result is not None

    async def close(self) -> None:
        """Ends the connection, and the child process."""
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
        # Only for our requests: the stream over which a server may push is a GET, and may fail alone.
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
    """A stream of messages that sets `ended` at its end: the `mcp` package tells only the next caller."""

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


_MAX_PAGES = 100
_MAX_TOOLS = 128
_MAX_NAME_SHOWN = 80


class _SessionExpired(TransientFailure):
    """The server was restarted, or dropped an idle session. It refused the call before doing anything."""


class McpClient:
    def __init__(self, server: McpServerSettings, *, connect_timeout: float) -> None:
        self.server = server
        self._connect_timeout = connect_timeout
        self._connections: list[McpConnection] = []

    async def list_tools(self) -> list[types.Tool]:
        """The tools that the server offers, page by page up to the limit. Raises `UpstreamError` if it does not list
        them."""
        _, client = await self._connect()
        tools: list[types.Tool] = []
        cursor: str | None = None
        try:
            for _ in range(_MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools.extend(page.tools)
                cursor = page.next_cursor
                if cursor is None or len(tools) > _MAX_TOOLS:
                    break
        except (MCPError, ValueError, RuntimeError) as error:
            # A client whose connection was just lost raises a RuntimeError.
            reason = self.server.mask_secrets(str(error)).rstrip(".")
            raise UpstreamError(f"The MCP server {self.server.name} could not list its tools: {reason}.") from error
        return tools

    def tools(self, offer: list[types.Tool], used_names: set[str]) -> tuple[list[Tool], list[str]]:
        """The offered tools as ours, and a sentence for each that is left out. `used_names` gets their names."""
        tools: list[Tool] = []
        left_out: list[str] = []
        for offered in offer[:_MAX_TOOLS]:
            try:
                tools.append(adapt_tool(offered, self.server, self._runner(offered.name), used_names))
            except UnsupportedTool as error:
                name = truncate(offered.name, _MAX_NAME_SHOWN)
                left_out.append(f"The tool {name} of the MCP server {self.server.name} is left out: {error}.")
        if len(offer) > _MAX_TOOLS:
            left_out.append(
                f"The MCP server {self.server.name} offers more than {_MAX_TOOLS} tools; all after these are left out."
            )
        return tools, left_out

    def _runner(self, tool: str) -> Run:
        """The `run` of one of the server's tools."""

        async def run(arguments: dict[str, Any], _: ToolContext) -> AsyncIterator[Outcome]:
            # The call runs beside the generator: its cancel scopes may not stay open over a yield.
            steps: asyncio.Queue[Progress | None] = asyncio.Queue()

            async def report(progress: float, total: float | None, message: str | None) -> None:
                steps.put_nowait(to_progress(progress, total, message))

            call = asyncio.create_task(self._call(tool, arguments, report))
            call.add_done_callback(lambda _: steps.put_nowait(None))
            try:
                while (step := await steps.get()) is not None:
                    yield step
                yield to_tool_result(await call)
            finally:
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)

        return run

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections))

    async def _connect(self) -> tuple[McpConnection, Client]:
        if not self._connections or self._connections[-1].ended.is_set():
            self._connections = [connection for connection in self._connections if not connection.is_closed]
            self._connections.append(McpConnection(self.server, self._connect_timeout))
        connection = self._connections[-1]
        return connection, await connection.client()

    async def _call(self, tool: str, arguments: dict[str, Any], report: ProgressFnT) -> types.CallToolResult:
        try:
            return await self._call_once(tool, arguments, report)
        except _SessionExpired:
            return await self._call_once(tool, arguments, report)

    async def _call_once(self, tool: str, arguments: dict[str, Any], report: ProgressFnT) -> types.CallToolResult:
        try:
            connection, client = await self._connect()
        except UpstreamError as error:
            raise TransientFailure(error.message) from None
        try:
            return await client.call_tool(tool, arguments, self.server.timeout, report)
        except MCPError as error:
            failure = self._failure(error, connection)
            if isinstance(failure, TransientFailure):
                connection.ended.set()
            raise failure from None
        except (ValueError, RuntimeError) as error:
            # The `mcp` package raises these for an answer that breaks the protocol or the tool's own output schema.
            raise ToolFailed(f"The MCP server {self.server.name} gave an invalid answer to the call.") from error

    def _failure(self, error: MCPError, connection: McpConnection) -> ToolFailed:
        title = f"The MCP server {self.server.name}"
        if error.code == types.CONNECTION_CLOSED:
            return TransientFailure(
                f"{title} ended during this call, so it is unknown whether the call had an effect. The next call will"
                " connect again."
            )
        if connection.has_lost_session:
            return _SessionExpired(f"{title} keeps forgetting the session.")
        if error.code == types.REQUEST_TIMEOUT:
            return ToolFailed(f"{title} did not answer within {self.server.timeout:g} s.")
        return ToolFailed(f"{title} refused the call: {self.server.mask_secrets(error.message)}")
