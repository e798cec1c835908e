"""Jobs in, results out. Every foreign byte is parsed in a process of its own, which can do nothing else."""

import asyncio
import logging
import os
import signal
from asyncio import StreamReader, StreamWriter, Task
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypedDict, Unpack, overload

import msgspec
from msgspec.structs import replace

from footnote.protocol.errors import LimitReached, UnprocessableFile, WrongKind
from footnote.sandbox.client import ForkServerClient, JobProcess, NotStarted, spawn_process
from footnote.sandbox.forkserver import LENGTH_BYTES, OUT_OF_MEMORY, JobAnswer, answer_decoder, pack_job
from footnote.sandbox.jobs import (
    ArchiveListing,
    ConvertDocument,
    ConvertedDocument,
    DocumentText,
    ExtractedPage,
    ExtractionFailed,
    ExtractPage,
    ImageCheck,
    ImageFacts,
    Inspection,
    InspectionResult,
    Job,
    JobRefused,
    ListArchive,
    ReadTable,
    ReadText,
    Result,
    TableRows,
    UnpackArchive,
    UnpackedFile,
)
from footnote.sandbox.queue import RETRY_AFTER, JobQueue, QueueLimits
from footnote.tracing import SLOW_BUCKETS, Operation

WORKER = "footnote.documents.worker:run"
"""Named, not imported: what is parsed is the business of a layer above."""

DEFAULT_SECONDS = 30.0
"""For one job, once it is its turn."""

MAX_ANSWER_BYTES = 500_000_000
"""A process that a document took over may answer what it likes."""
_MAX_HEAD_BYTES = 50_000_000
"""Of the answer without a content: the most text that is kept of a file, as bytes, and some."""
_CHUNK_BYTES = 1 << 18

log = logging.getLogger(__name__)


JOBS = Operation(
    "document_job",
    "Jobs of the sandbox, by kind.",
    "kind",
    span="document",
    buckets=SLOW_BUCKETS,
    failures=(UnprocessableFile,),
)
_KINDS: dict[type[Job], str] = {
    ConvertDocument: "convert",
    ReadText: "read",
    ReadTable: "table",
    ExtractPage: "extract",
    **dict.fromkeys((Inspection, ListArchive, UnpackArchive, ImageCheck), "inspect"),
}
_RESULT_TYPES: dict[type[Job], tuple[type[Result], ...]] = {
    ConvertDocument: (ConvertedDocument,),
    ReadText: (DocumentText,),
    ReadTable: (TableRows,),
    ExtractPage: (ExtractedPage, ExtractionFailed),
    Inspection: (InspectionResult,),
    ListArchive: (ArchiveListing,),
    UnpackArchive: (UnpackedFile,),
    ImageCheck: (ImageFacts,),
}


def _queues(max_processes: int | None) -> dict[str, JobQueue]:
    most = max_processes or max(1, _cores() - 1)
    limits = {
        "convert": QueueLimits("converted", most, max_waiting_per_user=4, max_waiting=50),
        "read": QueueLimits("read", most, max_waiting_per_user=4, max_waiting=50),
        "table": QueueLimits("shown", most, max_waiting_per_user=8, max_waiting=50),
        # Two at least, so that one page that hangs does not hold up all others of a search.
        "extract": QueueLimits("read", max_processes or max(2, most), max_waiting_per_user=40, max_waiting=400),
        # These take milliseconds; an icon or an upload does not wait for anybody's report.
        "inspect": QueueLimits("looked at", max_processes or max(2, most), max_waiting_per_user=20, max_waiting=200),
    }
    return {kind: JobQueue(kind, limit) for kind, limit in limits.items()}


class JobOptions(TypedDict, total=False):
    """`user`: whose job it is; users take turns, and jobs of nobody share one. `wait`: seconds for its turn to come;
    `within`: seconds for its turn and the job together. `force`: it waits, however many do already."""

    user: str
    wait: float
    within: float
    force: bool


class _Broken(Exception):
    """There is no answer, or none that can be understood."""


class ParserRefused(UnprocessableFile):
    """The parser itself says why it cannot be: the file is damaged, or too large. Trying again changes nothing."""


class JobFailed(UnprocessableFile):
    """There was no answer: the process was killed or took too long, a package is missing, or there is a mistake in
    Footnote. Another time it may well be done."""


class TimedOut(JobFailed):
    """The job took longer than it may."""


class PoolClosed(UnprocessableFile):
    """The pool was closed before the job was done, which says nothing about the job."""


class QueueTimeout(LimitReached):
    """The turn of the job did not come in time."""


class SandboxPool:
    """Does jobs of each kind in up to `at_once` processes, the first of which starts with the first job. `worker` names
    the function that does them, MODULE:FUNCTION. Of `environ` they get what a process needs to run, and nothing else.
    `forks`: a job's process is a copy of one that is ready; where a system has no such thing, each starts from
    nothing."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        worker: str = WORKER,
        max_processes: int | None = None,
        use_fork: bool = hasattr(os, "fork"),
    ) -> None:
        # Each thread of the typesetter would reserve memory of its own, which counts as if it were used.
        self._environ = {**_minimal_environ(environ or {}), "MALLOC_ARENA_MAX": "2"}
        self._worker = worker
        self.queues = _queues(max_processes)
        """By kind of job."""
        self._use_fork = use_fork
        self._server: ForkServerClient | None = None
        self._starting = asyncio.Lock()
        self._processes: set[JobProcess] = set()
        self._ending: set[Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def run(
        self, job: ConvertDocument, seconds: float = ..., **options: Unpack[JobOptions]
    ) -> ConvertedDocument: ...
    @overload
    async def run(self, job: ReadText, seconds: float = ..., **options: Unpack[JobOptions]) -> DocumentText: ...
    @overload
    async def run(self, job: ReadTable, seconds: float = ..., **options: Unpack[JobOptions]) -> TableRows: ...
    @overload
    async def run(
        self, job: ExtractPage, seconds: float = ..., **options: Unpack[JobOptions]
    ) -> ExtractedPage | ExtractionFailed: ...
    @overload
    async def run(self, job: Inspection, seconds: float = ..., **options: Unpack[JobOptions]) -> InspectionResult: ...
    @overload
    async def run(self, job: ListArchive, seconds: float = ..., **options: Unpack[JobOptions]) -> ArchiveListing: ...
    @overload
    async def run(self, job: UnpackArchive, seconds: float = ..., **options: Unpack[JobOptions]) -> UnpackedFile: ...
    @overload
    async def run(self, job: ImageCheck, seconds: float = ..., **options: Unpack[JobOptions]) -> ImageFacts: ...
    async def run(self, job: Job, seconds: float = DEFAULT_SECONDS, **options: Unpack[JobOptions]) -> Result:
        """`seconds` are for the job once it is its turn. Cancelling drops it from its queue, or kills its process.

        `Unworkable` says why it is not done, for the user; `NotDone`: why it cannot be; `NotNow`: why it could not this
        time; `WrongKind`: files of this kind are not taken. `LimitReached`: too much is waiting already; `NoTurn`: its
        turn did not come.
        """
        kind = _KINDS[type(job)]
        with JOBS(kind):
            queue, user = self.queues[kind], options.get("user", "")
            seconds = await _acquire_turn(queue, seconds, options)
            answer = await self._run_process(job, seconds, queue)
            if answer is None and not self._closed:
                # Somebody, or the system for want of memory, ended its process: that says nothing about the job.
                await queue.acquire(user, force=True)
                answer = await self._run_process(job, seconds, queue)
            if self._closed:
                raise PoolClosed(
                    f"{_display_name(job)} was not {_done_verb(job)}: the server is being stopped. Try again later."
                )
            if answer is None:
                log.warning("A file could not be %s: its process was ended from outside", _done_verb(job))
                raise JobFailed(
                    f"{_display_name(job)} could not be {_done_verb(job)}: "
                    "the process that does it was ended from outside."
                )
            return _unwrap_result(job, answer)

    async def close(self) -> None:
        """Ends all processes, also those that are at work."""
        self._closed = True
        for process in self._processes:
            process.kill()
        if self._server is not None:
            await self._server.close()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _run_process(self, job: Job, seconds: float, queue: JobQueue) -> JobAnswer | None:
        """What comes of a job, whose turn ends here; None: its process was lost."""
        try:
            process = await self._start_process(job)
        except (NotStarted, OSError) as error:
            queue.release()
            return None if isinstance(error, NotStarted) else JobAnswer(fault=f"no process could be started: {error}")
        except BaseException:
            queue.release()
            raise
        try:
            async with asyncio.timeout(seconds):
                return await _exchange(process, job, seconds)
        except TimeoutError:
            raise TimedOut(_timeout_message(job)) from None
        except UnicodeEncodeError:
            return JobAnswer(result=JobRefused(f"{_display_name(job)} holds characters that are none: remove them."))
        except (EOFError, ConnectionError, _Broken, msgspec.DecodeError):
            await asyncio.wait([process.exit_code], timeout=seconds)
            code = process.exit_code.result() if process.exit_code.done() else 0
            return None if code is None or self._closed else _exit_answer(job, code)
        finally:
            self._end_process(process, queue)

    async def _start_process(self, job: Job) -> JobProcess:
        if self._closed:
            raise NotStarted
        if self._use_fork:
            process = await (await self._ready_server()).start_job(type(job))
        else:
            process = await spawn_process(self._worker, self._environ)
        self._processes.add(process)
        if self._closed:
            process.kill()
        return process

    async def _ready_server(self) -> ForkServerClient:
        async with self._starting:
            lost, self._server = self._server, None
            if lost is not None and not lost.is_lost:
                self._server = lost
                return lost
            if lost is not None:
                await lost.close()
            server = await ForkServerClient.start(self._worker, self._environ)
            if self._closed:
                await server.close()
                raise NotStarted
            self._server = server
            return server

    def _end_process(self, process: JobProcess, queue: JobQueue) -> None:
        """The turn is free when the process is gone, and nobody waits for that."""

        async def end() -> None:
            await process.terminate()
            self._processes.discard(process)
            queue.release()

        task = asyncio.create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _acquire_turn(queue: JobQueue, seconds: float, options: JobOptions) -> float:
    """Waits for the turn of a job, and says how many seconds are then left for it."""
    within = options.get("within")
    now = asyncio.get_running_loop().time
    began = now()
    try:
        async with asyncio.timeout(options.get("wait") if within is None else within):
            await queue.acquire(options.get("user", ""), force=options.get("force", False))
        return seconds if within is None else min(seconds, max(0.0, began + within - now()))
    except TimeoutError:
        raise QueueTimeout("Too many files are being worked on: try again later.", retry_after=RETRY_AFTER) from None


_ENVIRON_NAMES = frozenset(
    ("PATH", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
)


def _minimal_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """What a process needs of our environment to run: never a key, since what it reads may take it over."""
    return {name: value for name, value in environ.items() if name.upper() in _ENVIRON_NAMES or name.startswith("LC_")}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Over the wire --------------------------------------------------------------------------------------------------------


async def _exchange(process: JobProcess, job: Job, seconds: float) -> JobAnswer:
    order, parts = pack_job(job, seconds)
    for part in (order, *parts):
        await _send(process.writer, part)
    size = int.from_bytes(await process.reader.readexactly(LENGTH_BYTES), "big")
    if size > _MAX_HEAD_BYTES:
        raise _Broken
    answer = answer_decoder.decode(await _receive(process.reader, size))
    if not isinstance(answer.result, ConvertedDocument | UnpackedFile):
        return answer
    if answer.size > MAX_ANSWER_BYTES:
        raise _Broken
    return replace(answer, result=replace(answer.result, content=await _receive(process.reader, answer.size)))


async def _send(writer: StreamWriter, data: bytes) -> None:
    view = memoryview(data)
    for at in range(0, len(view), _CHUNK_BYTES):
        writer.write(view[at : at + _CHUNK_BYTES])
        await writer.drain()
        # What goes through at once waits for nobody; the others are to have their turn all the same.
        await asyncio.sleep(0)


async def _receive(reader: StreamReader, size: int) -> bytes:
    pieces: list[bytes] = []
    while size:
        piece = await reader.read(min(size, _CHUNK_BYTES))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


# What to say ----------------------------------------------------------------------------------------------------------

_EXTRAS = {"convert": "Converting", "documents": "Reading such files"}


def _unwrap_result(job: Job, answer: JobAnswer) -> Result:
    match answer:
        case JobAnswer(result=JobRefused(reason, is_hostile, is_wrong_kind)):
            raise (
                WrongKind(reason)
                if is_wrong_kind
                else UnprocessableFile(reason)
                if is_hostile
                else ParserRefused(reason)
            )
        case JobAnswer(result=result) if isinstance(result, _RESULT_TYPES[type(job)]):
            return result
        case JobAnswer(missing=extra) if extra in _EXTRAS:
            raise JobFailed(f'{_EXTRAS[extra]} needs packages that are not installed: pip install "footnote[{extra}]"')
        case _:
            fault = answer.fault or "the answer makes no sense"
            log.warning("A file could not be %s: %s", _done_verb(job), fault)
            raise JobFailed(
                f"{_display_name(job)} could not be {_done_verb(job)}: "
                "it is damaged, or there is a mistake in Footnote."
            )


def _exit_answer(job: Job, code: int) -> JobAnswer:
    """What an exit code says about a job that did not answer. `NotNow`: somebody else may have ended it."""
    too_large = f"{_display_name(job)} is too large to be {_done_verb(job)}: split it into smaller files."
    if code == OUT_OF_MEMORY:
        return JobAnswer(result=JobRefused(too_large))
    if -code in _TIMEOUT_SIGNALS:
        raise TimedOut(_timeout_message(job))
    if -code in _MEMORY_SIGNALS:
        raise JobFailed(too_large)
    return JobAnswer(fault=f"its process ended with {code}")


_TIMEOUT_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGXCPU", "SIGALRM")) - {0}
_MEMORY_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGABRT", "SIGKILL", "SIGXFSZ", "SIGBUS")) - {0}
"""Where memory ends, libraries abort; what the system kills, it kills for want of memory."""


def _timeout_message(job: Job) -> str:
    return f"{_display_name(job)} takes too long to be {_done_verb(job)}: split it into smaller files."


def _done_verb(job: Job) -> str:
    return "converted" if isinstance(job, ConvertDocument) else "read"


def _display_name(job: Job) -> str:
    return job.filename.encode("utf-8", "replace").decode() or "The file"
