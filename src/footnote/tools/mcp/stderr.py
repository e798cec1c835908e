"""What a server writes to its standard error, line by line into the log."""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TextIO

from footnote.tools.mcp.server import McpServer

log = logging.getLogger(__name__)

_WAIT_FOR_LAST_LINES = 1.0


@asynccontextmanager
async def logged_stderr(server: McpServer, last_lines: deque[str]) -> AsyncGenerator[TextIO]:
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
        await asyncio.to_thread(reader.join, _WAIT_FOR_LAST_LINES)


def _drain(reading: int, server: McpServer, last_lines: deque[str]) -> None:
    with os.fdopen(reading, errors="replace") as lines:
        for line in lines:
            if text := server.without_secrets(line.rstrip()):
                log.debug("MCP server %s: %s", server.name, text)
                last_lines.append(text)
