"""Documents are taken apart in processes of their own, so that none of them can stall or end this one."""

import asyncio
import contextlib
import logging
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import msgspec

from footnote.documents.extract.document import Extracted, Unreadable
from footnote.documents.extract.worker import LENGTH, READER, Answer, Job, framed
from footnote.documents.processes import needed
from footnote.tracing import SLOW, Work

WORKERS = 2
SECONDS = 10.0
"""For one document, once it is its turn: two that hang must not keep all others waiting until their deadline."""

JOBS = 200
"""After as many documents a worker is replaced: libraries leak."""

_START = (
    "import sys; reader, *sys.path[:] = sys.argv[1:]; from footnote.documents.extract.worker import main; main(reader)"
)
"""With our own module path instead of the environment's, and without the current folder: a file there named like a
module of ours is not to be run."""

EXTRACTIONS = Work("extraction", "Documents of the web that were taken apart.", span="extract", classes=SLOW)

_BROKEN = "it could not be taken apart"

log = logging.getLogger(__name__)


class Extractor:
    """Takes documents apart in up to `WORKERS` processes, started when they are needed. `reader` names the function
    that does it, MODULE:FUNCTION. Of `environ` they get what a process needs to run, and nothing else."""

    def __init__(self, reader: str = READER, *, environ: Mapping[str, str] | None = None) -> None:
        self._reader = reader
        self._environ = needed(environ or {})
        self._turns = asyncio.Semaphore(WORKERS)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def extract(self, body: bytes, content_type: str, url: str, *, seconds: float) -> Extracted:
        """The text of a document, as `extract` has it; raises `Unreadable`. `seconds` include the wait for a turn."""
        with EXTRACTIONS():
            return await self._extract(body, content_type, url, seconds)

    async def _extract(self, body: bytes, content_type: str, url: str, seconds: float) -> Extracted:
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._turns.acquire()
        except TimeoutError:
            raise Unreadable("timeout", f"its turn to be taken apart did not come within {seconds:g} seconds") from None
        try:
            left = min(deadline - asyncio.get_running_loop().time(), SECONDS)
            answer = await self._ask(Job(body, content_type, url, max(left, 0.0)))
        finally:
            self._turns.release()
        if answer.fault:
            log.warning("Taking a document apart failed: %s", answer.fault)
        if answer.extracted is None:
            raise Unreadable(answer.failure, answer.reason)
        return answer.extracted

    async def close(self) -> None:
        """Ends all processes, also those that are at work."""
        self._closed = True
        for worker in (*self._idle, *self._busy):
            self._end(worker)
        self._idle.clear()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _ask(self, job: Job) -> Answer:
        try:
            async with asyncio.timeout(job.seconds):
                if self._idle:
                    # If it dies, then perhaps of what it read before: a fresh one decides.
                    with contextlib.suppress(EOFError, ConnectionError):
                        return await self._answer(self._idle.pop(), job)
                return await self._answer(await self._start(), job)
        except TimeoutError:
            return Answer(failure="timeout", reason=f"it could not be taken apart within {job.seconds:.3g} seconds")
        except (EOFError, ConnectionError, msgspec.DecodeError):
            return Answer(reason=_BROKEN)
        except OSError as error:
            return Answer(reason=_BROKEN, fault=f"no process could be started ({error.strerror})")

    async def _answer(self, worker: "_Worker", job: Job) -> Answer:
        self._busy.add(worker)
        try:
            answer = await worker.ask(job)
            if worker.jobs < JOBS and not self._closed:
                self._busy.discard(worker)
                self._idle.append(worker)
            return answer
        finally:
            # Late, cancelled or crashed: an answer that still came would be taken for that of the next job.
            if worker in self._busy:
                self._end(worker)

    async def _start(self) -> "_Worker":
        if self._closed:
            raise EOFError
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", _START, self._reader, *(entry for entry in sys.path if entry)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=self._environ,
            # Ctrl-C in a terminal reaches its whole process group.
            start_new_session=True,
        )
        return _Worker(process)

    def _end(self, worker: "_Worker") -> None:
        self._busy.discard(worker)
        task = asyncio.create_task(worker.end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


class _Worker:
    def __init__(self, process: Process) -> None:
        self.process = process
        self.jobs = 0

    async def ask(self, job: Job) -> Answer:
        self.jobs += 1
        questions, answers = self.process.stdin, self.process.stdout
        if questions is None or answers is None:
            raise EOFError
        questions.write(framed(job))
        await questions.drain()
        size = int.from_bytes(await answers.readexactly(LENGTH), "big")
        return msgspec.msgpack.decode(await answers.readexactly(size), type=Answer)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
            with contextlib.suppress(ConnectionError):
                await self.process.stdin.wait_closed()
