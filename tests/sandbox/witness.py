"""Whoever watches a process that is to hang, and to be ended."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

LONG = 30.0


class Witness:
    """Hears from a process that hangs, and sees it gone."""

    def __init__(self, folder: Path) -> None:
        path = folder / "witness"
        os.mkfifo(path)
        # Whoever reads and writes never comes to the end.
        self._fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.environ = {"TMPDIR": str(folder)}
        self.pid = 0
        self.left = Path()

    async def begun(self) -> None:
        said = b""
        async with asyncio.timeout(LONG):
            while not said.endswith(b"\n"):
                with suppress(BlockingIOError):
                    said += os.read(self._fifo, 1000)
                await asyncio.sleep(0.001)
        pid, left = said.decode().split()
        self.pid, self.left = int(pid), Path(left)
        assert self.left.read_text() == "over"

    async def gone(self) -> None:
        """The process, and what it wrote."""
        async with asyncio.timeout(LONG):
            while exists(self.pid) or self.left.exists():
                await asyncio.sleep(0.001)

    def close(self) -> None:
        os.close(self._fifo)


def exists(pid: int) -> bool:
    """A process that nobody has buried counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
