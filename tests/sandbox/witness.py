"""Whoever watches a process that is to hang, and to be ended."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

TIMEOUT_SECONDS = 30.0


class Witness:
    """Hears from a process that hangs, and sees it gone."""

    def __init__(self, folder: Path) -> None:
        path = folder / "witness"
        os.mkfifo(path)
        # Whoever reads and writes never comes to the end.
        self._fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.environ = {"TMPDIR": str(folder)}
        self.pid = 0
        self.leftover = Path()

    async def wait_started(self) -> None:
        said = b""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not said.endswith(b"\n"):
                with suppress(BlockingIOError):
                    said += os.read(self._fifo, 1000)
                await asyncio.sleep(0.001)
        pid, left = said.decode().split()
        self.pid, self.leftover = int(pid), Path(left)
        assert self.leftover.read_text() == "over"

    async def wait_gone(self) -> None:
        """The process, and what it wrote."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while is_running(self.pid) or self.leftover.exists():
                await asyncio.sleep(0.001)

    def close(self) -> None:
        os.close(self._fifo)


def is_running(pid: int) -> bool:
    """A process that nobody has buried counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
