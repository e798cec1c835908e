"""Documents of users and models are read and made in processes of their own, which can do nothing else."""

import asyncio
import logging
import os
import signal
from asyncio import StreamReader, StreamWriter, Task
from collections.abc import Mapping
from types import TracebackType
from typing import Self, overload

import msgspec
from msgspec.structs import replace

from footnote.documents.processes import needed
from footnote.documents.work import Conversion, Converted, Reading, Refused, TableOf, Tabling, TextOf, Work
from footnote.documents.workshop.forge import LENGTH, OUT_OF_MEMORY, WORKER, Answer, packed
from footnote.documents.workshop.forging import Forge, Job, NotStarted, start_alone
from footnote.protocol.errors import LimitReached, Unworkable
from footnote.tracing import SLOW
from footnote.tracing import Work as Measured

SECONDS = 30.0
"""For one job, once it is its turn."""

MOST_WAITING = 50
RETRY_AFTER = 30.0

MOST_ANSWERED = 200_000_000
"""Bytes: a process that a document took over may answer what it likes."""
_MOST_SAID = 50_000_000
"""Of the answer without a content: the most text that is kept of a file, as bytes, and some."""
_PIECE = 1 << 18

log = logging.getLogger(__name__)


JOBS = Measured(
    "document_job", "Files that were converted or read.", "kind", span="document", classes=SLOW, failures=(Unworkable,)
)
_KINDS: dict[type[Work], str] = {Conversion: "convert", Reading: "read", Tabling: "table"}


class _Broken(Exception):
    """There is no answer, or none that can be understood."""


class NotDone(Unworkable):
    """The reader itself says why it cannot be: the file is damaged, or too large. Trying again changes nothing."""


class NotNow(Unworkable):
    """There was no answer: the process was killed or took too long, a package is missing, or there is a mistake in
    Footnote. Another time it may well be done."""


class Workshop:
    """Does work of each kind in up to `at_once` processes, the first of which starts with the first job. `worker` names
    the function that does it, MODULE:FUNCTION. Of `environ` they get what a process needs to run, and nothing else.
    `forks`: a job's process is a copy of one that is ready; where a system has no such thing, each starts from
    nothing."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        worker: str = WORKER,
        at_once: int | None = None,
        forks: bool = hasattr(os, "fork"),
    ) -> None:
        # Each thread of the typesetter would reserve memory of its own, which counts as if it were used.
        self._environ = {**needed(environ or {}), "MALLOC_ARENA_MAX": "2"}
        self._worker = worker
        # Reading has turns of its own: who brings a file does not wait for somebody's long report.
        most = at_once or max(1, _cores() - 1)
        self._turns = {kind: asyncio.Semaphore(most) for kind in (Conversion, Reading, Tabling)}
        self._waiting = 0
        self._forks = forks
        self._forge: Forge | None = None
        self._starting = asyncio.Lock()
        self._jobs: set[Job] = set()
        self._ending: set[Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def do(self, work: Conversion, seconds: float = SECONDS) -> Converted: ...
    @overload
    async def do(self, work: Reading, seconds: float = SECONDS) -> TextOf: ...
    @overload
    async def do(self, work: Tabling, seconds: float = SECONDS) -> TableOf: ...
    async def do(self, work: Work, seconds: float = SECONDS) -> Converted | TextOf | TableOf:
        """`Unworkable` says why it is not done, for the user; `NotDone`: why it cannot be; `NotNow`: why it could not
        this time. `LimitReached`: too much is waiting already."""
        with JOBS(_KINDS[type(work)]):
            return await self._do(work, seconds)

    async def _do(self, work: Work, seconds: float) -> Converted | TextOf | TableOf:
        if self._waiting >= MOST_WAITING:
            raise LimitReached("Too many files are waiting to be worked on: try again later.", retry_after=RETRY_AFTER)
        turns = self._turns[type(work)]
        self._waiting += 1
        try:
            await turns.acquire()
        finally:
            self._waiting -= 1
        answer = await self._answer(work, seconds)
        if answer is None and not self._closed:
            # Somebody, or the system for want of memory, ended what was to do it: that says nothing about the work.
            await turns.acquire()
            answer = await self._answer(work, seconds)
        if self._closed:
            raise Unworkable(f"{_shown(work)} was not {_done(work)}: the server is being stopped. Try again later.")
        if answer is None:
            log.warning("A file could not be %s: the process that does the work was ended from outside", _done(work))
            raise NotNow(f"{_shown(work)} could not be {_done(work)}: the process that does it was ended from outside.")
        return _result(work, answer)

    async def close(self) -> None:
        """Ends all processes, also those that are at work."""
        self._closed = True
        for job in self._jobs:
            job.kill()
        if self._forge is not None:
            await self._forge.close()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _answer(self, work: Work, seconds: float) -> Answer | None:
        """What comes of a job, whose turn ends here; None: its process was lost."""
        turns = self._turns[type(work)]
        try:
            job = await self._begin()
        except (NotStarted, OSError) as error:
            turns.release()
            return None if isinstance(error, NotStarted) else Answer(fault=f"no process could be started: {error}")
        except BaseException:
            turns.release()
            raise
        try:
            async with asyncio.timeout(seconds):
                return await _asked(job, work, seconds)
        except TimeoutError:
            raise NotNow(_too_long(work)) from None
        except UnicodeEncodeError:
            return Answer(result=Refused(f"{_shown(work)} holds characters that are none: remove them."))
        except (EOFError, ConnectionError, _Broken, msgspec.DecodeError):
            await asyncio.wait([job.ended], timeout=seconds)
            code = job.ended.result() if job.ended.done() else 0
            return None if code is None or self._closed else _ended(work, code)
        finally:
            self._end(job, turns)

    async def _begin(self) -> Job:
        if self._closed:
            raise NotStarted
        if self._forks:
            job = await (await self._ready_forge()).begin()
        else:
            job = await start_alone(self._worker, self._environ)
        self._jobs.add(job)
        if self._closed:
            job.kill()
        return job

    async def _ready_forge(self) -> Forge:
        async with self._starting:
            lost, self._forge = self._forge, None
            if lost is not None and not lost.is_lost:
                self._forge = lost
                return lost
            if lost is not None:
                await lost.close()
            forge = await Forge.start(self._worker, self._environ)
            if self._closed:
                await forge.close()
                raise NotStarted
            self._forge = forge
            return forge

    def _end(self, job: Job, turns: asyncio.Semaphore) -> None:
        """The turn is free when the process is gone, and nobody waits for that."""

        async def end() -> None:
            await job.end()
            self._jobs.discard(job)
            turns.release()

        task = asyncio.create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Over the wire --------------------------------------------------------------------------------------------------------


async def _asked(job: Job, work: Work, seconds: float) -> Answer:
    order, parts = packed(work, seconds)
    for part in (order, *parts):
        await _send(job.writer, part)
    size = int.from_bytes(await job.reader.readexactly(LENGTH), "big")
    if size > _MOST_SAID:
        raise _Broken
    answer = msgspec.msgpack.decode(await _receive(job.reader, size), type=Answer)
    if not isinstance(answer.result, Converted):
        return answer
    if answer.size > MOST_ANSWERED:
        raise _Broken
    return replace(answer, result=replace(answer.result, content=await _receive(job.reader, answer.size)))


async def _send(writer: StreamWriter, data: bytes) -> None:
    view = memoryview(data)
    for at in range(0, len(view), _PIECE):
        writer.write(view[at : at + _PIECE])
        await writer.drain()
        # What goes through at once waits for nobody; the others are to have their turn all the same.
        await asyncio.sleep(0)


async def _receive(reader: StreamReader, size: int) -> bytes:
    pieces: list[bytes] = []
    while size:
        piece = await reader.read(min(size, _PIECE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


# What to say ----------------------------------------------------------------------------------------------------------

_EXTRAS = {"convert": "Converting", "documents": "Reading such files"}


def _result(work: Work, answer: Answer) -> Converted | TextOf | TableOf:
    match answer:
        case Answer(result=Refused(reason, is_hostile)):
            raise Unworkable(reason) if is_hostile else NotDone(reason)
        case Answer(result=Converted() as result) if isinstance(work, Conversion):
            return result
        case Answer(result=TextOf() as result) if isinstance(work, Reading):
            return result
        case Answer(result=TableOf() as result) if isinstance(work, Tabling):
            return result
        case Answer(missing=extra) if extra in _EXTRAS:
            raise NotNow(f'{_EXTRAS[extra]} needs packages that are not installed: pip install "footnote[{extra}]"')
        case _:
            fault = answer.fault or "the answer makes no sense"
            log.warning("A file could not be %s: %s", _done(work), fault)
            raise NotNow(
                f"{_shown(work)} could not be {_done(work)}: it is damaged, or there is a mistake in Footnote."
            )


def _ended(work: Work, code: int) -> Answer:
    """What an exit code says about a job that did not answer. `NotNow`: somebody else may have ended it."""
    too_large = f"{_shown(work)} is too large to be {_done(work)}: split it into smaller files."
    if code == OUT_OF_MEMORY:
        return Answer(result=Refused(too_large))
    if -code in _TOO_LONG:
        raise NotNow(_too_long(work))
    if -code in _TOO_LARGE:
        raise NotNow(too_large)
    return Answer(fault=f"its process ended with {code}")


_TOO_LONG = frozenset(getattr(signal, name, 0) for name in ("SIGXCPU", "SIGALRM")) - {0}
_TOO_LARGE = frozenset(getattr(signal, name, 0) for name in ("SIGABRT", "SIGKILL", "SIGXFSZ", "SIGBUS")) - {0}
"""Where memory ends, libraries abort; what the system kills, it kills for want of memory."""


def _too_long(work: Work) -> str:
    return f"{_shown(work)} takes too long to be {_done(work)}: split it into smaller files."


def _done(work: Work) -> str:
    return "converted" if isinstance(work, Conversion) else "read"


def _shown(work: Work) -> str:
    return work.filename.encode("utf-8", "replace").decode() or "The file"
