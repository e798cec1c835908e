"""A worker that behaves as if a document had taken over its parser. The URL names the action, its fragment the
argument. Before the sandbox closes, the worker opens a FIFO in the temporary folder, to report its pid through it."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from footnote.sandbox.jobs import ExtractedPage, ExtractionFailed, ExtractPage, Job, Result

_FIFO_PATH = Path(os.environ.get("TMPDIR", "/nowhere"), "started.fifo")
_fifo = os.open(_FIFO_PATH, os.O_WRONLY) if _FIFO_PATH.is_fifo() else -1

_seen: list[bytes] = []
"""Contents of earlier documents that are still in memory."""


def work(job: Job, _: object = None) -> Result:
    assert isinstance(job, ExtractPage)
    name, _, argument = job.url.partition("#")
    if name == "unreadable":
        return ExtractionFailed("consent_wall", "it asks for consent first")
    if name in ACTIONS:
        return ExtractedPage(text=ACTIONS[name](job, argument))
    return ExtractedPage(text=f"{job.url} {len(job.content)}", title=str(os.getpid()), author=str(os.getppid()))


def _hang(_: ExtractPage, __: str) -> NoReturn:
    left = Path(tempfile.mkdtemp(), "left")
    left.write_text("over")
    os.write(_fifo, f"{os.getpid()} {left}\n".encode())
    while True:
        pass


def _abort(_: ExtractPage, __: str) -> NoReturn:
    os.abort()


def _killed(_: ExtractPage, __: str) -> NoReturn:
    signal.raise_signal(signal.SIGKILL)
    raise AssertionError


def _memory(_: ExtractPage, __: str) -> str:
    return str(len(bytearray(8_000_000_000)))


def _mistake(_: ExtractPage, __: str) -> NoReturn:
    raise ValueError("of ours")


def _noise(_: ExtractPage, __: str) -> str:
    sys.stdout.write("noise")
    sys.stdout.flush()
    os.write(1, b"more noise")
    return "quiet"


def _environment(_: ExtractPage, __: str) -> str:
    return "\n".join(sorted(os.environ))


def _remember(job: ExtractPage, _: str) -> str:
    """Returns what earlier documents left behind, and leaves this one behind."""
    remembered = b" ".join(_seen).decode()
    _seen.append(job.content)
    left = Path(tempfile.gettempdir(), "left")
    found = left.read_text() if left.exists() else ""
    left.write_bytes(job.content)
    return remembered + found


def _stay(_: ExtractPage, __: str) -> str:
    """Tries to leave a process behind for the next document."""
    return _outcome(os.fork)


def _break_out(_: ExtractPage, home: str) -> str:
    """Tries what an exploit of the parser would do, and returns the outcomes."""
    folder = Path(home)
    attempts: dict[str, Callable[[], object]] = {
        "read the settings": (folder / "config.json").read_text,
        "list the home folder": lambda: list(folder.iterdir()),
        "open the database": lambda: sqlite3.connect(folder / "footnote.db").execute("SELECT 1 FROM secret").fetchall(),
        "write to the home folder": lambda: (folder / "config.json").write_text("{}"),
        "connect": lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        "start a program": lambda: subprocess.run(["/bin/true"], check=True),
        "signal the parent": lambda: os.kill(os.getppid(), signal.SIGTERM),
        "read the parent's environment": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    }
    return "\n".join(f"{name}: {_outcome(action)}" for name, action in attempts.items())


def _outcome(action: Callable[[], object]) -> str:
    try:
        action()
    except (PermissionError, sqlite3.OperationalError, BlockingIOError):
        return "refused"
    return "done"


ACTIONS: dict[str, Callable[[ExtractPage, str], str]] = {
    "hang": _hang,
    "abort": _abort,
    "killed": _killed,
    "memory": _memory,
    "mistake": _mistake,
    "noise": _noise,
    "environment": _environment,
    "remember": _remember,
    "stay": _stay,
    "break-out": _break_out,
}
