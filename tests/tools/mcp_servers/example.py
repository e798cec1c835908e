"""An MCP server on the server class of the official package: the `add` of its quickstart, and a tool for each kind of
result. Run it as a program: over stdio, or with a port over HTTP."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

server = MCPServer("Demo")
cancelled = anyio.Event()


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(title="Look  around", annotations=ToolAnnotations(read_only_hint=True))
def look() -> str:
    """Look."""
    return "nothing new"


@server.tool(annotations=ToolAnnotations(title="Set it", idempotent_hint=True, destructive_hint=False))
def put() -> str:
    return "put"


@server.tool(annotations=ToolAnnotations(idempotent_hint=True, destructive_hint=True))
def wipe() -> str:
    return "wiped"


@server.tool()
def picture() -> Image:
    return Image(data=b"png", format="png")


@server.tool(structured_output=False)
def mixed() -> list[Any]:
    link = ResourceLink(name="page", uri="https://example.invalid/page", description="A page.")
    note = TextResourceContents(uri="note://1", text="noted")
    photo = BlobResourceContents(uri="photo://1", blob="cG5n", mime_type="image/webp")
    return [
        TextContent(text="text"),
        AudioContent(data="", mime_type="audio/wav"),
        ImageContent(data="c3Zn", mime_type="image/svg+xml"),
        ImageContent(data="!", mime_type="image/png"),
        link,
        EmbeddedResource(resource=note),
        EmbeddedResource(resource=photo),
    ]


@server.tool()
def structured() -> CallToolResult:
    return CallToolResult(content=[], structured_content={"price": 26.5})


@server.tool()
def nothing() -> CallToolResult:
    return CallToolResult(content=[])


@server.tool()
def fail() -> CallToolResult:
    return CallToolResult(content=[TextContent(text="It did not work.")], is_error=True)


@server.tool()
async def count(ctx: Context) -> str:
    await ctx.report_progress(1, 3, "one")
    await ctx.report_progress(0.5, 1.0, "half")
    await ctx.report_progress(7)
    return "counted"


@server.tool()
async def hang(ctx: Context) -> str:
    """Never answers; remembers whether it was cancelled."""
    try:
        await ctx.report_progress(0, None, "hanging")
        await anyio.sleep_forever()
    finally:
        cancelled.set()
    return ""


@server.tool()
async def was_cancelled() -> str:
    await cancelled.wait()
    return "yes"


@server.tool()
def environment(name: str) -> str:
    return os.environ.get(name, "not set")


@server.tool()
def process() -> str:
    return str(os.getpid())


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def die_once(marker: str) -> str:
    """Ends the whole server at the first call."""
    if not Path(marker).exists():
        Path(marker).touch()
        os._exit(3)
    return "still here"


@server.tool()
def die() -> str:
    os._exit(3)


def serve_http(port: int) -> None:
    """Serves on the port, or on a free one for 0, and prints it.

    Requests need the TOKEN of the environment. With SESSIONS the server behaves like older versions: it does not know
    the discovery request of newer clients, and keeps a session for each client.
    """
    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        refused = _refusal(dict(scope.get("headers", []))) if scope["type"] == "http" else None
        if refused:
            await send({"type": "http.response.start", "status": refused, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", port))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listening])


def _refusal(headers: dict[bytes, bytes]) -> int | None:
    token = os.environ.get("TOKEN")
    if token and headers.get(b"authorization") != f"Bearer {token}".encode():
        return 401
    return 404 if os.environ.get("SESSIONS") and headers.get(b"mcp-method") == b"server/discover" else None


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve_http(int(sys.argv[1]))
    else:
        sys.stderr.write(f"ready, with TOKEN={os.environ.get('TOKEN')}\n")
        server.run()
