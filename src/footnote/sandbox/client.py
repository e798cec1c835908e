"""The server's end of the fork server: its process, the jobs in it, and the sockets to both."""

import asyncio
import shutil
import socket
import sys
import tempfile
from asyncio import Future, StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Self

from footnote.sandbox.forkserver import BEGIN, ENDED_FORMAT, KILL, ORDER_FORMAT, READY
from footnote.sandbox.jobs import KINDS, Job

START_SECONDS = 60.0
"""For the fork server to be ready; it takes less than one, unless the machine is busy."""

_STOP_SECONDS = 5.0
_CHUNK_BYTES = 1 << 18
_START = (
    "import sys; main, worker, folder, *sys.path[:] = sys.argv[1:]; from footnote.sandbox import forkserver; "
    "getattr(forkserver, main)(worker, folder)"
)
"""With our own module path instead of the environment's, and without the current folder: a file there named like a
module of ours is not to be run."""


class NotStarted(Exception):
    """No process could be started, or it was gone before it could take a job."""


@dataclass(frozen=True, slots=True)
class JobProcess:
    """A process with one job. `ended` gives its exit code; None: it is gone, and not because of the job."""

    reader: StreamReader
    writer: StreamWriter
    exit_code: Future[int | None]
    kill: Callable[[], None]
    folder: str | None = None
    """What is left to be removed after it."""

    async def terminate(self) -> None:
        """Makes sure that nothing of it is left."""
        if not self.exit_code.done():
            self.kill()
        self.writer.close()
        await asyncio.wait([self.exit_code])
        with suppress(ConnectionError):
            await self.writer.wait_closed()
        if self.folder:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


async def spawn_process(worker: str, environ: Mapping[str, str]) -> JobProcess:
    """A process for one job, where there is no `fork`."""
    folder = tempfile.mkdtemp(prefix="footnote-")
    try:
        process = await asyncio.create_subprocess_exec(
            *_command("main_alone", worker, folder),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=environ,
            start_new_session=True,
            limit=_CHUNK_BYTES,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if process.stdin is None or process.stdout is None:
        raise NotStarted
    ended = asyncio.ensure_future(_code(process))
    return JobProcess(process.stdout, process.stdin, ended, _make_killer(process), folder)


async def _code(process: Process) -> int | None:
    return await process.wait()


def _command(main: str, worker: str, folder: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", _START, main, worker, folder, *(entry for entry in sys.path if entry))


def _make_killer(process: Process) -> Callable[[], None]:
    def kill() -> None:
        with suppress(ProcessLookupError):
            process.kill()

    return kill


class ForkServerClient:
    """A process that forks for each job. It ends with its control socket, and all jobs with it."""

    def __init__(self, process: Process, control: socket.socket, folder: str) -> None:
        self._process = process
        self._control = control
        self._folder = folder
        self._numbers = count(READY + 1)
        self._ready: Future[int | None] = asyncio.get_running_loop().create_future()
        self._jobs = {READY: self._ready}
        self._listening = asyncio.create_task(self._listen())
        self._is_gone = False

    @property
    def is_lost(self) -> bool:
        return self._is_gone or self._listening.done()

    @property
    def _is_ready(self) -> bool:
        return self._ready.done() and self._ready.result() is not None

    @classmethod
    async def start(cls, worker: str, environ: Mapping[str, str]) -> Self:
        """`NotStarted`, or `OSError`: this machine does not let it."""
        folder = tempfile.mkdtemp(prefix="footnote-")
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003 - the standard library's own
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *_command("main", worker, folder),
                    stdin=theirs.fileno(),
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    env=environ,
                    # Ctrl-C in a terminal reaches its whole process group.
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        server = cls(process, ours, folder)
        try:
            await asyncio.wait([server._ready], timeout=START_SECONDS)
        finally:
            if not server._is_ready:
                await server.close()
        if not server._is_ready:
            raise NotStarted
        return server

    async def start_job(self, kind: type[Job]) -> JobProcess:
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        ended = self._jobs[number] = asyncio.get_running_loop().create_future()
        try:
            with theirs:
                socket.send_fds(self._control, [ORDER_FORMAT.pack(BEGIN, KINDS.index(kind), number)], [theirs.fileno()])
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_CHUNK_BYTES)
        except BaseException as error:
            ours.close()
            self._kill(number)
            if isinstance(error, OSError):
                # Whoever tries again at once must not find it here, although nobody has heard yet that it is gone.
                self._is_gone = isinstance(error, ConnectionError)
                raise NotStarted from error
            raise
        return JobProcess(reader, writer, ended, lambda: self._kill(number))

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._control.close()
        if not self._is_ready:
            # It has no child yet, and may still be loading.
            _make_killer(self._process)()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            _make_killer(self._process)()
            await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _kill(self, number: int) -> None:
        # One that is lost has killed all that it had.
        with suppress(OSError):
            self._control.send(ORDER_FORMAT.pack(KILL, 0, number))

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        data = b""
        try:
            while piece := await loop.sock_recv(self._control, 1024):
                data += piece
                while len(data) >= ENDED_FORMAT.size:
                    number, code = ENDED_FORMAT.unpack(data[: ENDED_FORMAT.size])
                    data = data[ENDED_FORMAT.size :]
                    if ended := self._jobs.pop(number, None):
                        ended.set_result(code)
        except OSError:
            return
        finally:
            for ended in self._jobs.values():
                ended.set_result(None)
