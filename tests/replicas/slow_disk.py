"""Slows down the disk for a process: strace delays its writing system calls."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

CALLS = "fsync,fdatasync,sync_file_range,pwrite64,pwritev"
ATTACH_SECONDS = 60


@asynccontextmanager
async def slow_disk(pids: Sequence[int], *, seconds: float, calls: str = CALLS) -> AsyncIterator[None]:
    """Delays each of these calls by so many seconds, in these processes and their children."""
    program = shutil.which("strace")
    if program is None:
        pytest.skip("a slow disk needs strace, which is not installed")
    attached = [part for pid in pids for part in ("-p", str(pid))]
    delay = f"inject={calls}:delay_exit={int(seconds * 1e6)}"
    command = [program, "-f", "-e", f"trace={calls}", "-e", delay, "-o", "/dev/null", *attached]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        if not await _is_attached(process, pids):
            pytest.skip(f"a slow disk needs leave to trace processes: {await _read_stderr(process)}")
        yield
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await process.wait()


def process_tree(pid: int) -> list[int]:
    """The process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


async def _is_attached(process: asyncio.subprocess.Process, pids: Sequence[int]) -> bool:
    """Whether strace is attached to every process. False: strace ended."""
    async with asyncio.timeout(ATTACH_SECONDS):
        while process.returncode is None:
            if all(_tracer(pid) for pid in pids):
                return True
            await asyncio.sleep(0.02)
    return False


def _tracer(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("TracerPid:"):
            return int(line.split()[1])
    return 0


async def _read_stderr(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.read()).decode(errors="replace").strip()[-300:]
