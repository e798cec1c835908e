"""The fork server. It loads the parsers once, then forks for each job: the child confines itself, runs the job, answers
and exits.

The parent itself parses nothing, so no child can see a document of another job. It must not even compile a document:
the typesetter starts threads, and a process with threads cannot be forked safely. Started by `client`.
"""

import contextlib
import gc
import importlib
import math
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from struct import Struct as Packed
from typing import IO, Any, NoReturn, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.sandbox.confine import Confinement, ProcessLimits
from footnote.sandbox.jobs import (
    KINDS,
    ConvertDocument,
    ConvertedDocument,
    ExtractPage,
    ImageCheck,
    Inspection,
    Job,
    JobRefused,
    ListArchive,
    ReadTable,
    ReadText,
    Result,
    UnpackArchive,
    UnpackedFile,
)

LENGTH_BYTES = 4
READY = 0
"""The number with which the parent reports that it is ready; jobs count from 1."""

ORDER_FORMAT = Packed("<cBI")
ENDED_FORMAT = Packed("<Ii")
BEGIN, KILL = b"B", b"K"
"""Orders of the server: to begin a job of one of the `KINDS`, with the socket of the job, or to kill one. The reply is
the number of a job that ended and its exit code, negative for a signal."""

OUT_OF_MEMORY = 71
"""The exit code of a job that caught a `MemoryError`."""

GRACE_SECONDS = 2
"""Seconds after its time limit at which a job ends itself, in case the server that would kill it is gone."""

LIMITS: dict[type[Job], ProcessLimits] = {
    ConvertDocument: ProcessLimits(1_500_000_000),
    ReadText: ProcessLimits(1_000_000_000),
    ReadTable: ProcessLimits(1_000_000_000),
    ExtractPage: ProcessLimits(1_500_000_000),
    Inspection: ProcessLimits(1_000_000_000),
    ListArchive: ProcessLimits(1_000_000_000),
    UnpackArchive: ProcessLimits(1_500_000_000),
    ImageCheck: ProcessLimits(500_000_000),
}
_MAX_FAULT_CHARS = 2_000
"""Limit for the length of a fault in the log."""

Worker: TypeAlias = Callable[[Job, IO[bytes] | None], Result]
"""Runs a job. A job about a file on the disk gets the open file, since a confined process cannot open it."""
Preload: TypeAlias = Callable[[type[Job]], None]


class JobOrder(Struct, frozen=True):
    """A job without its contents, which follow as byte strings of these sizes."""

    job: Job
    sizes: tuple[int, ...]
    seconds: float


class JobAnswer(Struct, frozen=True, kw_only=True):
    """The result of a job; the content of a document follows, `size` bytes. `fault` is for the log; `missing` is an
    extra that is not installed."""

    result: Result | None = None
    size: int = 0
    fault: str = ""
    missing: str = ""


# Made in the parent: the first use of a type costs more than a small job.
_encoder = msgspec.msgpack.Encoder()
_order_decoder = msgspec.msgpack.Decoder(JobOrder)
answer_decoder = msgspec.msgpack.Decoder(JobAnswer)


def frame_message(message: JobOrder | JobAnswer) -> bytes:
    data = _encoder.encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def pack_job(job: Job, seconds: float) -> tuple[bytes, tuple[bytes, ...]]:
    """The order of a job, and the contents that follow it, without copying them."""
    parts: tuple[bytes, ...] = ()
    bare: Job = job
    if isinstance(job, ReadText | ReadTable | ExtractPage | ImageCheck):
        parts = (job.content,)
        bare = replace(job, content=b"")
    elif isinstance(job, ConvertDocument):
        parts = tuple(job.images.values())
        bare = replace(job, images=dict.fromkeys(job.images, b""))
    return frame_message(JobOrder(bare, tuple(map(len, parts)), seconds)), parts


def _unpack_job(order: JobOrder, parts: Iterable[bytes]) -> Job:
    job = order.job
    if isinstance(job, ReadText | ReadTable | ExtractPage | ImageCheck):
        return replace(job, content=next(iter(parts)))
    if isinstance(job, ConvertDocument):
        return replace(job, images=dict(zip(job.images, parts, strict=True)))
    return job


def _load_worker(worker: str) -> tuple[Worker, Preload]:
    """The function MODULE:FUNCTION, and `preload` of the same module, which loads what a kind of job needs."""
    name, _, function = worker.partition(":")
    module = importlib.import_module(name)
    return getattr(module, function), getattr(module, "preload", _no_preload)


def _no_preload(_: type[Job]) -> None:
    """For a worker module without `preload`."""


def _package_folders() -> list[str]:
    """The folders of all loaded packages, wherever they are: a package may import parts of itself later."""
    packages = [module for name, module in sys.modules.items() if "." not in name and hasattr(module, "__path__")]
    return [str(folder) for package in packages for folder in package.__path__]


# One job --------------------------------------------------------------------------------------------------------------


def run_job(worker: Worker, confinement: Confinement, request_fd: int, response_fd: int, folder: Path) -> NoReturn:
    """Reads a job, runs it confined, answers, and ends this process."""
    try:
        order = _order_decoder.decode(_read(request_fd, int.from_bytes(_read(request_fd, LENGTH_BYTES), "big")))
        _alarm(order.seconds + GRACE_SECONDS)
        file = _open_job_file(order.job)
        tempfile.tempdir = str(folder)
        os.chdir(folder)
        confinement.apply(LIMITS[type(order.job)], folder)
        answer, content = _run_worker(
            worker, _unpack_job(order, [_read(request_fd, size) for size in order.sizes]), file
        )
        _write(response_fd, frame_message(answer))
        _write(response_fd, content)
    except (EOFError, OSError):
        os._exit(1)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)


def _open_job_file(job: Job) -> IO[bytes] | None:
    return Path(job.path).open("rb") if isinstance(job, Inspection | ListArchive | UnpackArchive) else None


def _run_worker(worker: Worker, job: Job, file: IO[bytes] | None) -> tuple[JobAnswer, bytes]:
    try:
        result = worker(job, file)
        if isinstance(result, ConvertedDocument | UnpackedFile):
            return JobAnswer(result=replace(result, content=b""), size=len(result.content)), result.content
        return JobAnswer(result=result), b""
    except MemoryError:
        raise
    except RecursionError:
        return JobAnswer(result=JobRefused(f"{job.filename} is nested too deeply: make it flatter.")), b""
    except ModuleNotFoundError as error:
        return JobAnswer(missing="convert" if isinstance(job, ConvertDocument) else "documents", fault=str(error)), b""
    except BaseException as error:  # noqa: BLE001 - a bug, or a panic in a library, fails one job and is reported
        return JobAnswer(fault=f"{type(error).__name__}: {error}"[:_MAX_FAULT_CHARS]), b""


def _read(descriptor: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(descriptor, min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[: 1 << 20]) :]


def _alarm(seconds: float) -> None:
    """Kills this process after that time, also inside C code, in case its parent was killed."""
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(math.ceil(seconds))


# The processes --------------------------------------------------------------------------------------------------------


def main_alone(worker: str, folder: str) -> NoReturn:
    """Runs one job in a separate process, on systems without `fork`."""
    request_fd, response_fd = os.dup(0), os.dup(1)
    # What a library prints goes to the error output, never into the answer.
    os.dup2(2, 1)
    run, _ = _load_worker(worker)
    run_job(run, Confinement(_package_folders()), request_fd, response_fd, Path(folder))


def main(worker: str, folder: str) -> None:
    """Forks for each job until the server closes the control socket, which is the standard input."""
    # Ctrl-C is handled by the server, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    run, preload = _load_worker(worker)
    try:
        ForkServer(control, run, preload, Path(folder)).serve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Gone(Exception):
    """The server closed the control socket."""


class ForkServer:
    """The parent process: it forks, kills and reaps, and reports the exit code of each job."""

    def __init__(self, control: socket.socket, worker: Worker, preload: Preload, folder: Path) -> None:
        self._control = control
        self._worker = worker
        self._preload = preload
        self._folder = folder
        self._confinement = Confinement(_package_folders())
        self._loaded_kinds: set[type[Job]] = set()
        """The kinds of jobs whose parsers are in memory."""
        self._jobs: dict[int, int] = {}
        """Job numbers by process id."""

    def serve(self) -> None:
        wakeup_read, wakeup_write = os.pipe()
        os.set_blocking(wakeup_read, False)
        os.set_blocking(wakeup_write, False)
        signal.signal(signal.SIGCHLD, _on_child_exit)
        signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector, contextlib.suppress(_Gone, ConnectionError):
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(wakeup_read, selectors.EVENT_READ)
            self._control.sendall(ENDED_FORMAT.pack(READY, 0))
            while True:
                for key, _ in selector.select():
                    if key.fd == wakeup_read:
                        os.read(wakeup_read, 512)
                        self._reap()
                    else:
                        self._handle_order()
        for process in self._jobs:
            _kill(process)
        for process in self._jobs:
            os.waitpid(process, 0)

    def _handle_order(self) -> None:
        message, descriptors, *_ = socket.recv_fds(self._control, ORDER_FORMAT.size, 1)
        if len(message) < ORDER_FORMAT.size:
            raise _Gone
        order, kind, number = ORDER_FORMAT.unpack(message)
        if order == BEGIN:
            self._ensure_loaded(KINDS[int(kind)])
            self._fork_job(number, *descriptors)
            return
        for process, job in self._jobs.items():
            if job == number:
                _kill(process)

    def _ensure_loaded(self, kind: type[Job]) -> None:
        """Loads the parsers with the first job of a kind, so that a search does not wait for fonts. A package that is
        not installed is reported by the job itself."""
        if kind in self._loaded_kinds:
            return
        self._loaded_kinds.add(kind)
        with contextlib.suppress(ImportError):
            self._preload(kind)
        self._confinement.close()
        self._confinement = Confinement(_package_folders())
        # The garbage collector of a child skips frozen objects, and so does not copy their memory pages.
        gc.collect()
        gc.freeze()

    def _fork_job(self, number: int, channel: int) -> None:
        folder = self._folder / str(number)
        parent = os.getpid()
        try:
            folder.mkdir(mode=0o700)
            process = os.fork()
        except OSError:
            os.close(channel)
            self._report(number, 1)
            return
        if process:
            os.close(channel)
            self._jobs[process] = number
            return
        self._confinement.exit_with_parent(parent)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        run_job(self._worker, self._confinement, channel, channel, folder)

    def _reap(self) -> None:
        while self._jobs:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            number = self._jobs.pop(process)
            shutil.rmtree(self._folder / str(number), ignore_errors=True)
            self._report(number, os.waitstatus_to_exitcode(status))

    def _report(self, number: int, code: int) -> None:
        self._control.sendall(ENDED_FORMAT.pack(number, code))


def _kill(process: int) -> None:
    # The process is not reaped yet, so that its id cannot belong to another one.
    os.kill(process, signal.SIGKILL)


def _on_child_exit(*_: Any) -> None:
    """Does nothing: a signal needs a handler to wake the selector."""
