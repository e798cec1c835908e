import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from footnote.sandbox import confine
from footnote.sandbox.jobs import ReadText
from footnote.sandbox.pool import SandboxPool

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="only Linux has such a sandbox"
)

REFUSED = (
    *("socket", "socketpair", "datagram", "exec", "fork", "kill", "kill itself by number"),
    *("ptrace", "io_uring", "unshare", "limit", "chown"),
)
FILES = ("read", "passwd", "list", "proc", "write", "create", "remove", "read through a link")


@pytest.mark.parametrize("forks", [True, False], ids=["forked", "alone"])
async def test_a_job_can_work_and_nothing_else(tmp_path: Path, forks: bool) -> None:
    canary = tmp_path / "canary"
    canary.write_text("canary")
    async with SandboxPool(worker="sandbox.scripted_worker:work", use_fork=forks) as sandbox:
        probe = ReadText(content=b"", filename=f"probe {canary}", media_type="")
        outcomes = dict(line.split(": ") for line in ((await sandbox.run(probe)).text or "").splitlines())
    if not landlock():
        for name in (*FILES, "link"):
            outcomes.pop(name)
    assert outcomes == {
        **dict.fromkeys(REFUSED, "refused"),
        **(dict.fromkeys(FILES, "refused") | {"link": "error 18"} if landlock() else {}),
        **dict.fromkeys(("thread", "temporary", "random", "module"), "done"),
    }
    assert canary.read_text() == "canary"


def landlock() -> bool:
    code = "import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


CONFINED = """
import sys
from pathlib import Path
from footnote.sandbox.confine import Confinement, ProcessLimits
limits = ProcessLimits(memory=500_000_000, seconds=1, file_bytes=1000, open_files=20)
Confinement().apply(limits, Path(sys.argv[1]))
"""


def run_confined(code: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", CONFINED + code, str(folder)],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stderr.decode().strip().rpartition("\n")[2]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("bytearray(600_000_000)", (1, "MemoryError")),
        ("Path(sys.argv[1], 'a').write_bytes(bytes(2000))", (1, "OSError: [Errno 27] File too large")),
        ("while True: pass", (-signal.SIGXCPU, "")),
        ("import os; os.abort()", (-signal.SIGABRT, "")),
        ("bytearray(100_000_000); Path(sys.argv[1], 'a').write_bytes(bytes(900))", (0, "")),
    ],
)
def test_a_process_gets_so_much_and_no_more(tmp_path: Path, code: str, outcome: tuple[int, str]) -> None:
    assert run_confined(code, tmp_path) == outcome


def test_a_process_opens_so_many_files_and_no_more(tmp_path: Path) -> None:
    code, output = run_confined("held = [open('/dev/null') for _ in range(30)]", tmp_path)
    assert (code, output.partition(":")[0]) == (1, "OSError")
    assert "Too many open files" in output


ALLOWED, REFUSED_CALL, MISSING = 0x7FFF0000, 0x00050001, 0x00050026


@pytest.mark.parametrize(
    ("machine", "call", "argument", "verdict"),
    [
        ("x86_64", 0, 0, ALLOWED),  # read
        ("x86_64", 1, 0, ALLOWED),  # write
        ("x86_64", 41, 2, REFUSED_CALL),  # socket
        ("x86_64", 59, 0, REFUSED_CALL),  # execve
        ("x86_64", 425, 0, REFUSED_CALL),  # io_uring_setup
        ("x86_64", 434, 0, REFUSED_CALL),  # pidfd_open
        ("x86_64", 435, 0, MISSING),  # clone3
        ("x86_64", 56, 0x3D0F00, ALLOWED),  # a thread
        ("x86_64", 56, 0x1200011, REFUSED_CALL),  # a process
        ("x86_64", 234, 4711, ALLOWED),  # a signal to itself
        ("x86_64", 234, 1, REFUSED_CALL),
        ("x86_64", 0x40000000 + 41, 2, REFUSED_CALL),
        ("aarch64", 63, 0, ALLOWED),  # read
        ("aarch64", 64, 0, ALLOWED),  # write
        ("aarch64", 198, 2, REFUSED_CALL),  # socket
        ("aarch64", 221, 0, REFUSED_CALL),  # execve
        ("aarch64", 425, 0, REFUSED_CALL),
        ("aarch64", 435, 0, MISSING),
        ("aarch64", 220, 0x3D0F00, ALLOWED),
        ("aarch64", 220, 0x11, REFUSED_CALL),
        ("aarch64", 131, 4711, ALLOWED),
        ("aarch64", 131, 1, REFUSED_CALL),
    ],
)
def test_the_filter_says_the_same_on_both_processors(machine: str, call: int, argument: int, verdict: int) -> None:
    calls = confine._CALLS[machine]
    program = list(confine._filter_instructions(calls, 4711))
    assert run(program, call, calls.architecture, argument) == verdict
    assert run(program, call, calls.architecture ^ 1, argument) == REFUSED_CALL


def run(program: list[tuple[int, int, int, int]], call: int, architecture: int, argument: int) -> int:
    """Runs the filter as the kernel does, and returns its verdict."""
    data = {0: call, 4: architecture, 16: argument}
    at = held = 0
    while True:
        code, true, false, value = program[at]
        if code == 0x06:
            return value
        if code == 0x20:
            held = data[value]
            at += 1
            continue
        holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
        at += 1 + (true if holds else false)
