"""The server's end of the sandbox: the process of the fork server, the processes of jobs, and their sockets."""

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

from msgspec.structs import replace

from footnote.sandbox.forkserver import (
    BEGIN,
    ENDED_FORMAT,
    KILL,
    LENGTH_BYTES,
    ORDER_FORMAT,
    READY,
    JobAnswer,
    answer_decoder,
    pack_job,
)
from footnote.sandbox.jobs import KINDS, ConvertedDocument, Job, UnpackedFile

START_SECONDS = 60.0
"""Time limit for the fork server to start, which takes less than a second on an idle machine."""

MAX_ANSWER_BYTES = 500_000_000
"""Limit for the content of an answer: a process that a hostile document took over may send any number."""
_MAX_HEAD_BYTES = 50_000_000
"""Limit for an answer without its content: the longest text that is extracted from a file, encoded, and some more."""
_STOP_SECONDS = 5.0
_CHUNK_BYTES = 1 << 18
_START = (
    "import sys; main, worker, folder, *sys.path[:] = sys.argv[1:]; from footnote.sandbox import forkserver; "
    "getattr(forkserver, main)(worker, folder)"
)
"""With the module path of this process, and without the current folder: a file there with the name of one of our
modules must not be run."""


class NotStarted(Exception):
    """No process could be started, or it was gone before it could take a job."""


class BrokenAnswer(Exception):
    """The answer of a process is larger than any that the sandbox sends."""


@dataclass(frozen=True, slots=True)
class JobProcess:
    """A process with one job. `exit_code` None: the process is gone, and not because of the job."""

    reader: StreamReader
    writer: StreamWriter
    exit_code: Future[int | None]
    kill: Callable[[], None]
    folder: str | None = None
    """A temporary folder to be removed with the process."""

    async def run(self, job: Job, seconds: float) -> JobAnswer:
        """Sends the job, and receives the answer. `BrokenAnswer`, `EOFError` or a decoding error: there is none."""
        order, parts = pack_job(job, seconds)
        for part in (order, *parts):
            await self._send(part)
        size = int.from_bytes(await self.reader.readexactly(LENGTH_BYTES), "big")
        if size > _MAX_HEAD_BYTES:
            raise BrokenAnswer
        answer = answer_decoder.decode(await self._receive(size))
        if not isinstance(answer.result, ConvertedDocument | UnpackedFile):
            return answer
        if answer.size > MAX_ANSWER_BYTES:
            raise BrokenAnswer
        return replace(answer, result=replace(answer.result, content=await self._receive(answer.size)))

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), _CHUNK_BYTES):
            self.writer.write(view[at : at + _CHUNK_BYTES])
            await self.writer.drain()
            # `drain` returns at once while the socket accepts data; this lets other tasks run.
            await asyncio.sleep(0)

    async def _receive(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size:
            piece = await self.reader.read(min(size, _CHUNK_BYTES))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    async def terminate(self) -> None:
        """Ends the process if it still runs, and removes what it leaves behind."""
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
        """Starts the process, and waits until it is ready. Raises `NotStarted`, or `OSError` from the system."""
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
                # A retry must not use this server again, although its end has not been reported yet.
                self._is_gone = isinstance(error, ConnectionError)
                raise NotStarted from error
            raise
        return JobProcess(reader, writer, ended, lambda: self._kill(number))

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._control.close()
        if not self._is_ready:
            # It has no children yet, and does not read its socket while it loads.
            _make_killer(self._process)()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            _make_killer(self._process)()
            await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _kill(self, number: int) -> None:
        # A fork server that is gone has killed its children.
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
