"""The process in which documents of others are read and made. It loads all that is needed once, then forks for each
job: the child gives up whatever a hostile document could use, does its work, answers and ends.

The parent itself neither reads nor makes anything. It must not even compile: the typesetter starts threads, and a
process that has some cannot be forked safely. Started by `workshop`.
"""

# ruff: noqa: PLC0415 - what a job needs is loaded in the process that does it, and may not be installed

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
from typing import Any, NoReturn, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.work import Conversion, Converted, Reading, Refused, Result, Tabling, Work
from footnote.documents.workshop.sandbox import Limits, confine, die_with

WORKER = "footnote.documents.workshop.forge:worked"
LENGTH = 4
READY = 0
"""The number under which the parent says that it is ready; jobs count from 1."""

ORDER = Packed("<cI")
ENDED = Packed("<Ii")
BEGIN, KILL = b"B", b"K"
"""From the server: an order to begin a job, with the socket of the job, or to kill one. Back comes the number of a job
that ended and its exit code, negative for a signal."""

OUT_OF_MEMORY = 71
"""The exit code of a job that noticed it by itself."""

GRACE = 2
"""Seconds after which a job ends by itself if nobody is there any more to end it."""

LIMITS = {Conversion: Limits(1_500_000_000), Reading: Limits(1_000_000_000), Tabling: Limits(1_000_000_000)}
_NOTED = 2_000
"""Characters of a fault that are worth logging."""

Worker: TypeAlias = Callable[[Work], Result]


class Order(Struct, frozen=True):
    """A job without its contents, which follow in pieces of these sizes."""

    work: Work
    sizes: tuple[int, ...]
    seconds: float


class Answer(Struct, frozen=True, kw_only=True):
    """What came of a job; the content of a document follows, `size` bytes. `fault` is for the log; `missing` an extra
    that is not installed."""

    result: Result | None = None
    size: int = 0
    fault: str = ""
    missing: str = ""


def framed(message: Order | Answer) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(LENGTH, "big") + data


def packed(work: Work, seconds: float) -> tuple[bytes, tuple[bytes, ...]]:
    """The order of a job, and the contents that follow it, which are nowhere copied."""
    if isinstance(work, Reading | Tabling):
        parts = (work.content,)
        bare: Work = replace(work, content=b"")
    else:
        parts = tuple(work.images.values())
        bare = replace(work, images=dict.fromkeys(work.images, b""))
    return framed(Order(bare, tuple(map(len, parts)), seconds)), parts


def _unpacked(order: Order, parts: Iterable[bytes]) -> Work:
    if isinstance(order.work, Reading | Tabling):
        return replace(order.work, content=next(iter(parts)))
    return replace(order.work, images=dict(zip(order.work.images, parts, strict=True)))


# The work -------------------------------------------------------------------------------------------------------------


def worked(work: Work) -> Result:
    if isinstance(work, Reading):
        from footnote.documents.reading import text_of

        return text_of(work)
    if isinstance(work, Tabling):
        from footnote.documents.reading.tables import table_of

        return table_of(work)
    from footnote.documents.markdown import document_of

    document = document_of(work)
    if isinstance(document, Refused):
        return document
    if work.target == "pdf":
        from footnote.documents.pdf import pdf_of

        return pdf_of(document, work)
    from footnote.documents.docx import docx_of

    return docx_of(document, work)


def _loaded(worker: str) -> Worker:
    module, _, function = worker.partition(":")
    return getattr(importlib.import_module(module), function)


def _load_all() -> None:
    """What jobs are going to need, so that none of them has to load it. What is not installed is missed by them."""
    readers = (*("reading.word", "reading.slides", "reading.sheets"), *("extract.pdf", "extract.html", "extract.plain"))
    for name in ("markdown", "pdf", "docx", *readers):
        with contextlib.suppress(ImportError):
            importlib.import_module(f"footnote.documents.{name}")
    with contextlib.suppress(ImportError):
        from footnote.documents.fonts import fonts

        fonts()
    with contextlib.suppress(ImportError):
        from footnote.documents.docx import prepare

        prepare()


def _package_folders() -> list[str]:
    """Those of packages that are loaded, wherever they lie: parts of them are loaded when they are needed."""
    packages = [module for name, module in sys.modules.items() if "." not in name and hasattr(module, "__path__")]
    return [str(folder) for package in packages for folder in package.__path__]


# One job --------------------------------------------------------------------------------------------------------------


def one_job(worker: Worker, questions: int, answers: int, folder: Path) -> NoReturn:
    """Reads a job, does it with little more than its own memory, answers, and ends this process."""
    try:
        order = msgspec.msgpack.decode(_read(questions, int.from_bytes(_read(questions, LENGTH), "big")), type=Order)
        _alarm(order.seconds + GRACE)
        tempfile.tempdir = str(folder)
        os.chdir(folder)
        confine(LIMITS[type(order.work)], folder, _package_folders())
        answer, content = _answer(worker, _unpacked(order, [_read(questions, size) for size in order.sizes]))
        _write(answers, framed(answer))
        _write(answers, content)
    except (EOFError, OSError):
        os._exit(1)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)


def _answer(worker: Worker, work: Work) -> tuple[Answer, bytes]:
    try:
        result = worker(work)
        if isinstance(result, Converted):
            return Answer(result=replace(result, content=b""), size=len(result.content)), result.content
        return Answer(result=result), b""
    except MemoryError:
        raise
    except RecursionError:
        return Answer(result=Refused(f"{work.filename} is nested too deeply: make it flatter.")), b""
    except ModuleNotFoundError as error:
        return Answer(missing="convert" if isinstance(work, Conversion) else "documents", fault=str(error)), b""
    except BaseException as error:  # noqa: BLE001 - a mistake of ours, or a panic in a library, costs one job and is told
        return Answer(fault=f"{type(error).__name__}: {error}"[:_NOTED]), b""


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
    """Kills this process after that time, also in the middle of C code. A parent that was killed cannot do it."""
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(math.ceil(seconds))


# The processes --------------------------------------------------------------------------------------------------------


def main_alone(worker: str, folder: str) -> NoReturn:
    """One job of a process of its own, where there is no `fork`."""
    questions, answers = os.dup(0), os.dup(1)
    # What a library prints goes to the error output, never into the answer.
    os.dup2(2, 1)
    one_job(_loaded(worker), questions, answers, Path(folder))


def main(worker: str, folder: str) -> None:
    """Forks for each job until the server is gone: the control socket is the standard input."""
    # Ctrl-C is for the program that asked; it ends this one when it wants to.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    work = _loaded(worker)
    if worker == WORKER:
        _load_all()
    # What is there by now is not looked at again by any child, and so not copied.
    gc.collect()
    gc.freeze()
    try:
        Forge(control, work, Path(folder)).serve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Gone(Exception):
    """The server is no more."""


class Forge:
    """The parent: it forks, kills and buries, and says which job ended how."""

    def __init__(self, control: socket.socket, worker: Worker, folder: Path) -> None:
        self._control = control
        self._worker = worker
        self._folder = folder
        self._jobs: dict[int, int] = {}
        """The number of each job by its process."""

    def serve(self) -> None:
        woken, waking = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(waking, False)
        signal.signal(signal.SIGCHLD, _noticed)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector, contextlib.suppress(_Gone, ConnectionError):
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            self._control.sendall(ENDED.pack(READY, 0))
            while True:
                for key, _ in selector.select():
                    if key.fd == woken:
                        os.read(woken, 512)
                        self._bury()
                    else:
                        self._obey()
        for process in self._jobs:
            _kill(process)
        for process in self._jobs:
            os.waitpid(process, 0)

    def _obey(self) -> None:
        message, descriptors, *_ = socket.recv_fds(self._control, ORDER.size, 1)
        if len(message) < ORDER.size:
            raise _Gone
        order, number = ORDER.unpack(message)
        if order == BEGIN:
            self._begin(number, *descriptors)
            return
        for process, job in self._jobs.items():
            if job == number:
                _kill(process)

    def _begin(self, number: int, channel: int) -> None:
        folder = self._folder / str(number)
        own = os.getpid()
        try:
            folder.mkdir(mode=0o700)
            process = os.fork()
        except OSError:
            os.close(channel)
            self._told(number, 1)
            return
        if process:
            os.close(channel)
            self._jobs[process] = number
            return
        die_with(own)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        one_job(self._worker, channel, channel, folder)

    def _bury(self) -> None:
        while self._jobs:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            number = self._jobs.pop(process)
            shutil.rmtree(self._folder / str(number), ignore_errors=True)
            self._told(number, os.waitstatus_to_exitcode(status))

    def _told(self, number: int, code: int) -> None:
        self._control.sendall(ENDED.pack(number, code))


def _kill(process: int) -> None:
    # Not buried yet, so that no other process can have its id.
    os.kill(process, signal.SIGKILL)


def _noticed(*_: Any) -> None:
    """A signal that has a handler wakes the loop."""
