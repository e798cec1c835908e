"""The pool of sandboxed processes, which runs each job in a new process: one untrusted document, one process.

Each kind of job has a queue, so that crawling, uploads and conversions cannot starve each other. In a queue, users take
turns.
"""

import asyncio
import logging
import os
import signal
from asyncio import Future, Task
from collections import OrderedDict, deque
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypedDict, Unpack, overload

import msgspec
from msgspec import Struct

from footnote.protocol.errors import LimitReached, UnprocessableFile, WrongKind
from footnote.sandbox.client import BrokenAnswer, ForkServerClient, JobProcess, NotStarted, spawn_process
from footnote.sandbox.forkserver import OUT_OF_MEMORY, JobAnswer
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
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation

RETRY_AFTER = 30.0

WAITS = Operation("document_job_wait", "Waits of jobs for their turn in the sandbox.", "kind", buckets=SLOW_BUCKETS)
REFUSED = EventCounter("document_job_refused", "Jobs that were refused because too many were waiting.", "kind")


class QueueLimits(Struct, frozen=True):
    """`max_waiting` counts the jobs of all users, `max_waiting_per_user` those of one user. `task`: a participle for
    messages, as in "waiting to be converted"."""

    task: str
    max_running: int
    max_waiting_per_user: int
    max_waiting: int


class JobQueue:
    """The jobs of one kind: a few run, the others wait."""

    def __init__(self, kind: str, limits: QueueLimits) -> None:
        self._kind = kind
        self._limits = limits
        self._running = 0
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        """By user; the first user is served next."""
        REFUSED.add(0, kind)

    @property
    def running(self) -> int:
        return self._running

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def acquire(self, user: str, *, force: bool = False) -> None:
        """Waits for a slot. `LimitReached`: too many jobs of this user, or of all users, are waiting. `force` ignores
        those limits, for a job that is run a second time."""
        if self._running < self._limits.max_running:
            self._running += 1
            return
        if not force:
            self._check(user)
        waiter: Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(waiter)
        with WAITS(self._kind):
            try:
                await waiter
            except BaseException:
                if waiter.done() and not waiter.cancelled():
                    # The job was cancelled after it had got its slot: the slot is passed on.
                    self.release()
                else:
                    self._remove_waiter(user, waiter)
                raise

    def release(self) -> None:
        """Passes the slot on to the next waiting user."""
        self._running -= 1
        while self._waiting and self._running < self._limits.max_running:
            user, waiters = next(iter(self._waiting.items()))
            waiter = waiters.popleft()
            if waiters:
                self._waiting.move_to_end(user)
            else:
                del self._waiting[user]
            if not waiter.done():
                self._running += 1
                waiter.set_result(None)

    def _check(self, user: str) -> None:
        limits = self._limits
        own = len(self._waiting.get(user, ()))
        if own >= limits.max_waiting_per_user:
            REFUSED.add(1, self._kind)
            raise LimitReached(
                f"{own} files of yours are waiting to be {limits.task} already: wait until one of them is done, then "
                "try again.",
                retry_after=RETRY_AFTER,
                code="too_many_own_files_waiting",
                count=own,
            )
        if self.waiting >= limits.max_waiting:
            REFUSED.add(1, self._kind)
            raise LimitReached(
                f"Too many files are waiting to be {limits.task}: try again later.",
                retry_after=RETRY_AFTER,
                code="too_many_files_waiting",
            )

    def _remove_waiter(self, user: str, waiter: Future[None]) -> None:
        waiters = self._waiting.get(user)
        if waiters is None or waiter not in waiters:
            return
        waiters.remove(waiter)
        if not waiters:
            del self._waiting[user]


WORKER = "footnote.documents.worker:run"
"""A name instead of an import, because the parsers belong to a layer above this one."""

DEFAULT_SECONDS = 30.0
"""Time limit of one job; the wait in the queue does not count."""

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
    processes = max_processes or max(1, _cores() - 1)
    limits = {
        "convert": QueueLimits("converted", processes, max_waiting_per_user=4, max_waiting=50),
        "read": QueueLimits("read", processes, max_waiting_per_user=4, max_waiting=50),
        "table": QueueLimits("shown", processes, max_waiting_per_user=8, max_waiting=50),
        # At least two, so that a page that hangs does not block all other pages of a search.
        "extract": QueueLimits("read", max_processes or max(2, processes), max_waiting_per_user=40, max_waiting=400),
        # These take milliseconds: an icon or an upload does not wait for the conversion of a report.
        "inspect": QueueLimits(
            "looked at", max_processes or max(2, processes), max_waiting_per_user=20, max_waiting=200
        ),
    }
    return {kind: JobQueue(kind, limit) for kind, limit in limits.items()}


class JobOptions(TypedDict, total=False):
    """`user`: the user for whom the job runs; users take turns, and jobs without a user count as one. `wait`: the time
    limit in seconds in the queue; `within`: the limit for the queue and the job together. `force`: the job is queued
    however many are waiting."""

    user: str
    wait: float
    within: float
    force: bool


class ParserRefused(UnprocessableFile):
    """The parser refused the file, because it is damaged or too large. A retry would fail again."""


class JobFailed(UnprocessableFile):
    """The process gave no result: it was killed or timed out, a package is missing, or there is a bug in Footnote. A
    retry may succeed."""


class TimedOut(JobFailed):
    """The job exceeded its time limit."""


class PoolClosed(UnprocessableFile):
    """The pool was closed before the job was done; the file may be fine."""


class QueueTimeout(LimitReached):
    """The job waited in its queue for too long."""


class SandboxPool:
    """Runs jobs of each kind in up to `max_processes` processes; nothing is started before the first job. `worker`
    names the function that runs them, MODULE:FUNCTION. Processes get those variables of `environ` that any process
    needs, and no others. `use_fork`: a job's process is forked from one that has the parsers loaded; without `fork`,
    each process is started from scratch."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        worker: str = WORKER,
        max_processes: int | None = None,
        use_fork: bool = hasattr(os, "fork"),
    ) -> None:
        # By default, each thread of the typesetter reserves an arena, which counts towards the memory limit.
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
        """`seconds` is the time limit without the wait in the queue. Cancelling removes the job from its queue, or
        kills its process.

        All errors have a sentence for the user. `UnprocessableFile`: the file is hostile; of its subclasses,
        `ParserRefused` is final and `JobFailed` may be retried. `WrongKind`: files of this kind are not accepted.
        `LimitReached`: the queue is full; `QueueTimeout`: the wait in it was too long.
        """
        kind = _KINDS[type(job)]
        with JOBS(kind):
            queue, user = self.queues[kind], options.get("user", "")
            seconds = await _acquire_slot(queue, seconds, options)
            answer = await self._run_process(job, seconds, queue)
            if answer is None and not self._closed:
                # The process was killed from outside, perhaps by the OOM killer: the job is run once more.
                await queue.acquire(user, force=True)
                answer = await self._run_process(job, seconds, queue)
            if self._closed:
                raise PoolClosed(
                    f"{_display_name(job)} was not {_done_verb(job)}: the server is being stopped. Try again later.",
                    code="server_stopping",
                    name=_display_name(job),
                )
            if answer is None:
                log.warning("A file could not be %s: its process was ended from outside", _done_verb(job))
                raise JobFailed(
                    f"{_display_name(job)} could not be {_done_verb(job)}: "
                    "the process that does it was ended from outside.",
                    code="file_processing_failed",
                    name=_display_name(job),
                )
            return _unwrap_result(job, answer)

    async def close(self) -> None:
        """Ends all processes, including those with a running job."""
        self._closed = True
        for process in self._processes:
            process.kill()
        if self._server is not None:
            await self._server.close()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _run_process(self, job: Job, seconds: float, queue: JobQueue) -> JobAnswer | None:
        """Runs a job in a new process, and releases the slot. None: the process was lost."""
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
                return await process.run(job, seconds)
        except TimeoutError:
            raise _timeout_error(job) from None
        except UnicodeEncodeError:
            return JobAnswer(result=JobRefused(f"{_display_name(job)} holds characters that are none: remove them."))
        except (EOFError, ConnectionError, BrokenAnswer, msgspec.DecodeError):
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
        """Ends the process in the background, and then releases the slot, so that the caller does not wait for that."""

        async def end() -> None:
            await process.terminate()
            self._processes.discard(process)
            queue.release()

        task = asyncio.create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _acquire_slot(queue: JobQueue, seconds: float, options: JobOptions) -> float:
    """Waits in the queue; returns the seconds that are left for the job."""
    within = options.get("within")
    now = asyncio.get_running_loop().time
    started_at = now()
    try:
        async with asyncio.timeout(options.get("wait") if within is None else within):
            await queue.acquire(options.get("user", ""), force=options.get("force", False))
        return seconds if within is None else min(seconds, max(0.0, started_at + within - now()))
    except TimeoutError:
        raise QueueTimeout(
            "Too many files are being worked on: try again later.",
            retry_after=RETRY_AFTER,
            code="too_many_files_waiting",
        ) from None


_ENVIRON_NAMES = frozenset(
    ("PATH", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
)


def _minimal_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a process needs to run. Never a key: a hostile document may take the process over."""
    return {name: value for name, value in environ.items() if name.upper() in _ENVIRON_NAMES or name.startswith("LC_")}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Results and messages for the user ------------------------------------------------------------------------------------

_EXTRAS = {"convert": "Converting", "documents": "Reading such files"}


def _unwrap_result(job: Job, answer: JobAnswer) -> Result:
    match answer:
        case JobAnswer(result=JobRefused() as refused):
            kind = WrongKind if refused.is_wrong_kind else UnprocessableFile if refused.is_hostile else ParserRefused
            error = kind(refused.reason, code=refused.code)
            error.params = refused.params  # not as arguments: the names come from the sandbox
            raise error
        case JobAnswer(result=result) if isinstance(result, _RESULT_TYPES[type(job)]):
            return result
        case JobAnswer(missing=extra) if extra in _EXTRAS:
            raise JobFailed(
                f'{_EXTRAS[extra]} needs packages that are not installed: pip install "footnote[{extra}]"',
                code="packages_missing",
                extra=extra,
            )
        case _:
            fault = answer.fault or "the result is of another kind"
            log.warning("A file could not be %s: %s", _done_verb(job), fault)
            raise JobFailed(
                f"{_display_name(job)} could not be {_done_verb(job)}: "
                "it is damaged, or there is a mistake in Footnote.",
                code="file_processing_failed",
                name=_display_name(job),
            )


def _exit_answer(job: Job, code: int) -> JobAnswer:
    """What the exit code of a process without an answer means. `JobFailed`: it may have been killed from outside."""
    too_large = f"{_display_name(job)} is too large to be {_done_verb(job)}: split it into smaller files."
    if code == OUT_OF_MEMORY:
        refused = JobRefused(too_large, code="file_processing_too_large", params={"name": _display_name(job)})
        return JobAnswer(result=refused)
    if -code in _TIMEOUT_SIGNALS:
        raise _timeout_error(job)
    if -code in _MEMORY_SIGNALS:
        raise JobFailed(too_large, code="file_processing_too_large", name=_display_name(job))
    return JobAnswer(fault=f"its process ended with {code}")


_TIMEOUT_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGXCPU", "SIGALRM")) - {0}
_MEMORY_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGABRT", "SIGKILL", "SIGXFSZ", "SIGBUS")) - {0}
"""Libraries abort when an allocation fails; the system sends SIGKILL when memory runs out."""


def _timeout_error(job: Job) -> TimedOut:
    return TimedOut(
        f"{_display_name(job)} takes too long to be {_done_verb(job)}: split it into smaller files.",
        code="file_processing_timeout",
        name=_display_name(job),
    )


def _done_verb(job: Job) -> str:
    return "converted" if isinstance(job, ConvertDocument) else "read"


def _display_name(job: Job) -> str:
    return job.filename.encode("utf-8", "replace").decode() or "The file"
