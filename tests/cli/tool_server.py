"""An MCP server, run as a program: one tool that never returns, and one that does."""

import asyncio

from mcp.server import MCPServer

server = MCPServer("tools")


@server.tool()
async def wait(reason: str) -> str:
    await asyncio.Event().wait()
    return reason


@server.tool()
async def shout(text: str) -> str:
    return text.upper()


if __name__ == "__main__":
    server.run("stdio")
