"""All MCP servers of an agent, and the tools that they bring."""

import asyncio
import logging
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from footnote.protocol.errors import ConfigError, UpstreamError
from footnote.tools.base import Tool
from footnote.tools.mcp.server import McpServer

if TYPE_CHECKING:
    from mcp import types

    from footnote.tools.mcp.link import Link

log = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0


class McpSource:
    """`async with McpSource(servers) as source:` connects to all servers at once; `source.tools` are theirs.

    A server that cannot be reached has no tools; a warning says why.
    """

    def __init__(self, servers: Sequence[McpServer], *, connect_seconds: float = CONNECT_SECONDS) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._servers = servers
        self._connect_seconds = connect_seconds
        self._links: list[Link] = []

    async def __aenter__(self) -> Self:
        self._links = [_link(server, self._connect_seconds) for server in self._servers]
        try:
            offers = await asyncio.gather(*(self._offer(link) for link in self._links))
        except BaseException:
            await self._close()
            raise
        taken: set[str] = set()
        self.tools = tuple(
            tool for link, offer in zip(self._links, offers, strict=True) for tool in self._fit(link, offer, taken)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _offer(self, link: "Link") -> "list[types.Tool]":
        try:
            return await link.list_tools()
        except UpstreamError as error:
            log.warning("%s Its tools are left out.", error.message)
            return []

    def _fit(self, link: "Link", offer: "list[types.Tool]", taken: set[str]) -> list[Tool]:
        tools, left_out = link.tools(offer, taken)
        for reason in left_out:
            log.warning("%s", reason)
        return tools

    async def _close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links))


async def probe(server: McpServer, *, connect_seconds: float = CONNECT_SECONDS) -> list[str]:
    """The names of the server's tools; `UpstreamError` says why there are none to be had."""
    link = _link(server, connect_seconds)
    try:
        return [tool.name for tool in await link.list_tools()]
    finally:
        await link.close()


def _link(server: McpServer, connect_seconds: float) -> "Link":
    try:
        from footnote.tools.mcp.link import Link  # noqa: PLC0415 - the `mcp` package is an extra, and slow to load
    except ImportError as error:
        raise ConfigError(
            f"The MCP server {server.name} needs a package that is not installed ({error.name})."
            ' Install it with: pip install "footnote[mcp]"'
        ) from None
    return Link(server, connect_seconds=connect_seconds)
