"""A worker whose action is named by the file of the job, for tests of the sandbox around it. Before the sandbox closes,
the worker opens a FIFO in the temporary folder, to report its pid through it."""

import ctypes
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, NoReturn

from footnote.documents.worker import run
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, DocumentText, Job, JobRefused, ReadText, Result

_FIFO_PATH = Path(os.environ.get("TMPDIR", "/nowhere"), "started.fifo")
_fifo = os.open(_FIFO_PATH, os.O_WRONLY) if _FIFO_PATH.is_fifo() else -1


class Panic(BaseException):
    """An exception as extensions written in other languages raise it: not an `Exception`."""


def work(work: Job, file: IO[bytes] | None = None) -> Result:
    if file is not None:
        return run(work, file)
    if isinstance(work, ConvertDocument) and work.markdown.startswith("hang"):
        _hang(work, "")
    if isinstance(work, ConvertDocument):
        return ConvertedDocument(content=b"".join(work.images.values()) + work.markdown.encode(), notes=(*work.images,))
    name, _, argument = work.filename.partition(" ")
    return ACTIONS[name](work, argument)


def _size(reading: ReadText, _: str) -> DocumentText:
    return DocumentText(text=str(len(reading.content)), title=str(os.getpid()), author=str(os.getppid()))


def _text(_: ReadText, size: str) -> DocumentText:
    return DocumentText(text="x" * int(size))


def _hang(_: Job, __: str) -> NoReturn:
    left = Path(tempfile.mkdtemp(), "left")
    left.write_text("over")
    os.write(_fifo, f"{os.getpid()} {left}\n".encode())
    while True:
        pass


def _raise_signal(_: ReadText, name: str) -> NoReturn:
    signal.raise_signal(signal.Signals[name])
    signal.pause()
    raise AssertionError


def _memory(_: ReadText, __: str) -> DocumentText:
    return DocumentText(text=str(len(bytearray(8_000_000_000))))


def _fail(_: ReadText, __: str) -> NoReturn:
    raise ValueError("of ours")


def _panic(_: ReadText, __: str) -> NoReturn:
    raise Panic("at the library")


def _deep(_: ReadText, __: str) -> NoReturn:
    raise RecursionError


def _missing(_: ReadText, __: str) -> NoReturn:
    raise ModuleNotFoundError("No module named 'typst'")


def _refuse(_: ReadText, __: str) -> JobRefused:
    return JobRefused("It is hostile.")


def _quit(_: ReadText, __: str) -> NoReturn:
    os._exit(0)


def _noise(_: ReadText, __: str) -> DocumentText:
    sys.stdout.write("noise")
    sys.stdout.flush()
    os.write(1, b"more noise")
    return DocumentText(text="quiet")


def _return_wrong_type(_: ReadText, __: str) -> ConvertedDocument:
    return ConvertedDocument(content=b"no text")


def _environment(_: ReadText, __: str) -> DocumentText:
    return DocumentText(text=" ".join(sorted(os.environ)))


def _write(_: ReadText, path: str) -> DocumentText:
    Path(path or tempfile.mkdtemp(), "written").write_text("here")
    return DocumentText(text=tempfile.gettempdir())


def _probe(_: ReadText, path: str) -> DocumentText:
    """Tries everything that the sandbox must prevent, and returns the outcomes."""
    attempts = {
        "socket": lambda: socket.socket().close(),
        "socketpair": lambda: [end.close() for end in socket.socketpair()],
        "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "exec": lambda: os.execv("/bin/true", ["true"]),
        "fork": os.fork,
        "kill": lambda: os.kill(os.getppid(), 0),
        "kill itself by number": lambda: os.kill(os.getpid(), 0),
        "ptrace": lambda: _call("ptrace", 16, os.getppid(), 0, 0),
        "io_uring": lambda: _call("syscall", 425, 1, 0),
        "unshare": lambda: _call("unshare", 0x10000000),
        "read": lambda: Path(path).read_text(),
        "passwd": lambda: Path("/etc/passwd").read_text(),
        "list": lambda: list(Path(path).parent.iterdir()),
        "proc": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "write": lambda: Path(path).write_text("changed"),
        "create": lambda: Path(path).with_name("new").write_text("new"),
        "remove": lambda: Path(path).unlink(),
        "link": lambda: Path(tempfile.mkdtemp(), "link").hardlink_to(path),
        "read through a link": _read_through_link(path),
        "limit": lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
        "chown": lambda: os.chown(tempfile.mkdtemp(), 1, 1),
        "thread": _start_thread,
        "temporary": lambda: Path(tempfile.mkdtemp(), "file").write_text("x"),
        "random": lambda: os.urandom(1),
        "module": lambda: __import__("calendar"),
    }
    return DocumentText(text="\n".join(f"{name}: {_outcome(action)}" for name, action in attempts.items()))


def _read_through_link(path: str):
    def read() -> None:
        link = Path(tempfile.mkdtemp(), "link")
        link.symlink_to(path)
        link.read_text()

    return read


def _start_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")


def _outcome(action) -> str:
    try:
        action()
    except (PermissionError, ValueError):
        return "refused"
    except OSError as error:
        return f"error {error.errno}"
    return "done"


ACTIONS = {
    "size": _size,
    "text": _text,
    "hang": _hang,
    "killed": _raise_signal,
    "memory": _memory,
    "fail": _fail,
    "panic": _panic,
    "deep": _deep,
    "missing": _missing,
    "refuse": _refuse,
    "quit": _quit,
    "noise": _noise,
    "lie": _return_wrong_type,
    "environment": _environment,
    "write": _write,
    "probe": _probe,
}
