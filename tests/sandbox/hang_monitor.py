"""Observes a worker process that hangs, until it is killed."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

TIMEOUT_SECONDS = 30.0


class HangMonitor:
    """The worker reports its pid through a FIFO; the monitor waits for that, and for the end of the process."""

    def __init__(self, folder: Path) -> None:
        path = folder / "started.fifo"
        os.mkfifo(path)
        # A descriptor open for reading and writing never returns end of file.
        self._fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.environ = {"TMPDIR": str(folder)}
        self.pid = 0
        self.leftover = Path()

    async def wait_started(self) -> None:
        received = b""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not received.endswith(b"\n"):
                with suppress(BlockingIOError):
                    received += os.read(self._fifo, 1000)
                await asyncio.sleep(0.001)
        pid, left = received.decode().split()
        self.pid, self.leftover = int(pid), Path(left)
        assert self.leftover.read_text() == "over"

    async def wait_gone(self) -> None:
        """Waits until the process has ended and its temporary files are deleted."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while is_running(self.pid) or self.leftover.exists():
                await asyncio.sleep(0.001)

    def close(self) -> None:
        os.close(self._fifo)


def is_running(pid: int) -> bool:
    """A zombie counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
