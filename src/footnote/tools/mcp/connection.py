"""One life of the connection to one MCP server.

The task groups of the `mcp` package must be left by the task that entered them, while calls come from many tasks.
So a connection lives in a task of its own, which opens it, waits until it is over, and closes it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self, cast

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from footnote.protocol.errors import UpstreamError
from footnote.tools.mcp.server import McpServer
from footnote.tools.mcp.stderr import logged_stderr

log = logging.getLogger(__name__)

_HTTP_SECONDS = 30.0
_CLOSE_SECONDS = 10.0
"""More than the `mcp` package gives a child to end by itself, and then by force."""


class Connection:
    """`over` is set when it has ended, by either side; it does not come back to life.

    The server has `seconds` to answer to anything but a call, which has its own limit.
    """

    def __init__(self, server: McpServer, seconds: float) -> None:
        self.server = server
        self._seconds = seconds
        self.over = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # A failure is also logged; nobody may be left to fetch it from here.
        self._opened.add_done_callback(lambda opened: opened.exception())
        self._last_lines: deque[str] = deque(maxlen=5)
        self._last_status = 0
        self._life = asyncio.create_task(self._live(), name=f"mcp {server.name}")

    async def client(self) -> Client:
        """The client, once the server has answered; `UpstreamError` if it fails or takes too long."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._opened), self._seconds)
        except TimeoutError:
            self._life.cancel()
            raise UpstreamError(f"{self._title} did not answer within {self._seconds:g} s.{self._said()}") from None

    @property
    def is_gone(self) -> bool:
        """Over, and everything closed."""
        return self._life.done()

    @property
    def has_lost_its_session(self) -> bool:
        """An HTTP server of the kind that keeps sessions says 404 when it does not know one."""
        return self._last_status == 404 and self._opened.result().session.initialize_result is not None

    async def close(self) -> None:
        """End it, and the child with it."""
        self.over.set()
        if not self._opened.done():
            self._life.cancel()
        _, unfinished = await asyncio.wait({self._life}, timeout=_CLOSE_SECONDS)
        for task in unfinished:
            task.cancel()
            await asyncio.wait({task})

    async def _live(self) -> None:
        try:
            async with self._transport() as transport:
                info = types.Implementation(name="footnote", version=version("footnote"))
                watched = _watched(transport, self.over)
                async with Client(watched, client_info=info, read_timeout_seconds=self._seconds) as client:
                    self._opened.set_result(client)
                    await self.over.wait()
        except Exception as error:  # noqa: BLE001 - transports raise groups of whatever their libraries raise
            self._fail(_leaf(error))
        finally:
            self.over.set()
            if not self._opened.done():
                self._opened.set_exception(UpstreamError(f"{self._title} was given up before it answered."))

    def _fail(self, error: BaseException) -> None:
        reason = f"{self._title} {self._why(error)}.{self._said()}"
        if self._opened.done():
            log.warning("%s", reason)
        else:
            self._opened.set_exception(UpstreamError(reason))

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Transport]:
        server = self.server
        async with AsyncExitStack() as stack:
            if server.command:
                errors = await stack.enter_async_context(logged_stderr(server, self._last_lines))
                child = StdioServerParameters(
                    command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
                )
                yield cast("Transport", stdio_client(child, errlog=errors))
            else:
                http = httpx2.AsyncClient(
                    headers=dict(server.headers),
                    timeout=httpx2.Timeout(_HTTP_SECONDS, read=max(_HTTP_SECONDS, server.timeout)),
                    event_hooks={"response": [self._note_status]},
                )
                await stack.enter_async_context(http)
                yield cast("Transport", streamable_http_client(server.url or "", http_client=http))

    async def _note_status(self, response: httpx2.Response) -> None:
        # Only of what we asked: the stream that a server may push over is fetched with GET, and may fail alone.
        if response.request.method == "POST":
            self._last_status = response.status_code

    @property
    def _title(self) -> str:
        return f"The MCP server {self.server.name} ({self.server.place})"

    def _why(self, error: BaseException) -> str:
        if isinstance(error, FileNotFoundError):
            missing = "command" if self.server.cwd is None else "command or folder"
            return f"could not be started: there is no such {missing}"
        if isinstance(error, httpx2.ConnectError):
            return "could not be reached: nothing answers there"
        if self._last_status >= 400 and not self._opened.done():
            hint = "; check its headers" if self._last_status in {401, 403} else ""
            return f"answered with HTTP status {self._last_status}{hint}"
        if isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED:
            return "ended before it answered"
        return self.server.without_secrets(f"failed: {error or type(error).__name__}").rstrip(".")

    def _said(self) -> str:
        return f" It said: {self._last_lines[-1].rstrip('.')}." if self._last_lines else ""


@asynccontextmanager
async def _watched(transport: Transport, over: asyncio.Event) -> AsyncGenerator[tuple[Any, Any]]:
    async with transport as (reading, writing):
        yield _Watched(reading, over), writing


class _Watched:
    """A stream of messages that says when it has ended: the `mcp` package tells only the next caller."""

    def __init__(self, stream: Any, over: asyncio.Event) -> None:
        self._stream = stream
        self._over = over

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._over.set()
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


def _leaf(error: BaseException) -> BaseException:
    """The first real error inside groups of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
