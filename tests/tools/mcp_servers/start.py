"""The settings of the MCP servers of the tests: as a command, or over HTTP in a process of their own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from footnote.tools.base import Tool
from footnote.tools.mcp import McpServerSettings, McpSource

_HERE = Path(__file__).parent
EXAMPLE = McpServerSettings("demo", command=sys.executable, args=(str(_HERE / "example.py"),))
ODD = McpServerSettings("odd", command=sys.executable, args=(str(_HERE / "odd.py"),))


@asynccontextmanager
async def serve_example(port: int = 0, **environment: str) -> AsyncIterator[McpServerSettings]:
    """Runs the example server over HTTP; port 0 takes a free one."""
    environment = {"PATH": os.environ["PATH"], **environment}
    program = [sys.executable, str(_HERE / "example.py"), str(port)]
    process = await asyncio.create_subprocess_exec(*program, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    try:
        yield McpServerSettings("demo", url=f"http://127.0.0.1:{port}/mcp")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def port_of(server: McpServerSettings) -> int:
    return urlsplit(server.location).port or 0


def tool(source: McpSource, name: str) -> Tool:
    """The tool that the example server calls `name`."""
    return next(tool for tool in source.tools if tool.name == f"mcp__demo__{name}")
