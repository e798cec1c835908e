"""One MCP server as long as it is needed: connected again when the connection was lost, and called."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from mcp import Client, MCPError, types
from mcp.shared.dispatcher import ProgressFnT

from footnote.protocol.errors import ToolFailed, TransientFailure, UpstreamError
from footnote.protocol.tools import Progress
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.mcp.adapter import Run, UnsupportedTool, adapt_tool, to_progress, to_tool_result, truncate
from footnote.tools.mcp.connection import McpConnection
from footnote.tools.mcp.settings import McpServerSettings

_MAX_PAGES = 100
_MAX_TOOLS = 128
_MAX_NAME_SHOWN = 80


class _SessionExpired(TransientFailure):
    """The server was started anew, or dropped an idle session. It refused the call before doing anything."""


class McpClient:
    def __init__(self, server: McpServerSettings, *, connect_timeout: float) -> None:
        self.server = server
        self._connect_timeout = connect_timeout
        self._connections: list[McpConnection] = []

    async def list_tools(self) -> list[types.Tool]:
        """The tools that the server offers, page by page until there are more than anyone takes; `UpstreamError` if it
        does not say."""
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
            # A RuntimeError comes of a client whose connection was lost a moment ago.
            reason = self.server.mask_secrets(str(error)).rstrip(".")
            raise UpstreamError(f"The MCP server {self.server.name} could not list its tools: {reason}.") from error
        return tools

    def tools(self, offer: list[types.Tool], used_names: set[str]) -> tuple[list[Tool], list[str]]:
        """The offered tools as ours, and a sentence for each that is left out. `taken` gets their names."""
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
            # What the `mcp` package raises for an answer that breaks the protocol or the tool's own output schema.
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
