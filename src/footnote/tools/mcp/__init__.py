"""MCP servers as a source of tools, through the official `mcp` package, which is loaded when it is first needed.

- `settings`  the settings of a server
- `client`    one server: its connection, calls, and connecting again
- `adapter`   its tools and results in our form
"""

import asyncio
import logging
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from footnote.protocol.errors import ConfigError, UpstreamError
from footnote.tools.base import Tool
from footnote.tools.mcp.settings import McpServerSettings

if TYPE_CHECKING:
    from mcp import types

    from footnote.tools.mcp.client import McpClient

__all__ = ["McpServerSettings", "McpSource", "probe"]

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 30.0


class McpSource:
    """`async with McpSource(servers) as source:` connects to all servers at once; `source.tools` are theirs.

    A server that cannot be reached has no tools; a warning says why.
    """

    def __init__(
        self, servers: Sequence[McpServerSettings], *, connect_timeout: float = CONNECT_TIMEOUT_SECONDS
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._servers = servers
        self._connect_timeout = connect_timeout
        self._clients: list[McpClient] = []

    async def __aenter__(self) -> Self:
        self._clients = [_make_client(server, self._connect_timeout) for server in self._servers]
        try:
            offers = await asyncio.gather(*(self._list_tools(client) for client in self._clients))
        except BaseException:
            await self._close()
            raise
        used_names: set[str] = set()
        self.tools = tuple(
            tool
            for client, offer in zip(self._clients, offers, strict=True)
            for tool in self._adapt_tools(client, offer, used_names)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _list_tools(self, client: "McpClient") -> "list[types.Tool]":
        try:
            return await client.list_tools()
        except UpstreamError as error:
            log.warning("%s Its tools are left out.", error.message)
            return []

    def _adapt_tools(self, client: "McpClient", offer: "list[types.Tool]", used_names: set[str]) -> list[Tool]:
        tools, left_out = client.tools(offer, used_names)
        for reason in left_out:
            log.warning("%s", reason)
        return tools

    async def _close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients))


async def probe(server: McpServerSettings, *, connect_timeout: float = CONNECT_TIMEOUT_SECONDS) -> list[str]:
    """The names of the server's tools. Raises `UpstreamError` if it cannot be reached, or does not list them."""
    client = _make_client(server, connect_timeout)
    try:
        return [tool.name for tool in await client.list_tools()]
    finally:
        await client.close()


def _make_client(server: McpServerSettings, connect_timeout: float) -> "McpClient":
    try:
        from footnote.tools.mcp.client import McpClient  # noqa: PLC0415 - the `mcp` package is an extra, and slow to load
    except ImportError as error:
        raise ConfigError(
            f"The MCP server {server.name} needs a package that is not installed ({error.name})."
            ' Install it with: pip install "footnote[mcp]"'
        ) from None
    return McpClient(server, connect_timeout=connect_timeout)
