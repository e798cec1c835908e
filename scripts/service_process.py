"""One server on loopback, as a process that is stopped, killed, paused, and started again with its port and data."""

import os
import random
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

START_SECONDS = 120
STOP_SECONDS = 20
HOST = "127.0.0.1"
PORTS = (20_000, 32_000)
"""Below those that Linux, macOS and the BSDs give away."""
WORKERS = 8


class NotStarted(Exception):
    """A server that ended at once or did not answer, with the last of what it said."""


class Service(ABC):
    """What it writes goes to `log`, its data into `folder`."""

    name: str
    stop_signal = signal.SIGTERM
    """The signal after which it closes its files and ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool:
        """Whether it does its work by now, not only whether its port is open."""

    def options(self) -> Mapping[str, Any]:
        """How the process is started, beside its command."""
        return {}

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def start(self) -> None:
        """Returns when it answers. Does nothing where it runs already."""
        if self.pid is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as said:
            # A group of its own: Ctrl-C in our terminal is ours, and they end in the order that we choose.
            self._process = subprocess.Popen(
                self.command(),
                stdout=said,
                stderr=said,
                **{"stdin": subprocess.DEVNULL, "cwd": self.folder, "process_group": 0, **self.options()},
            )
        latest = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.pid is None or time.monotonic() > latest:
                self.kill()
                said = self.log.read_text(errors="replace")[-3000:]
                raise NotStarted(f"{self.name} did not start. The end of {self.log}:\n{said}")
            time.sleep(0.05)

    def stop(self) -> None:
        """As an operator does: it finishes what it does and closes its files. After a while it is killed."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self.go_on()
            self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """All of its processes at once, without a chance to write anything."""
        if self._process is None:
            return
        killed = self._signal(signal.SIGKILL)
        self._process.wait()
        # Nobody may start it again, or look at its files, beside a process that has not gone yet.
        latest = time.monotonic() + STOP_SECONDS
        while any(map(is_alive, killed)) and time.monotonic() < latest:
            time.sleep(0.005)

    def pause(self) -> None:
        """It stands still with all connections open, as on a machine that hangs."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> list[int]:
        """To all of its processes, which it returns."""
        pid = self.pid
        if pid is None:
            return []
        # Stopped first, so that it has no more children than those that are found now.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        reached = [*_children(pid), pid]
        for one in reached:
            with suppress(ProcessLookupError):
                os.kill(one, number)
        return reached


def free_ports(count: int) -> list[int]:
    """None of those that the system gives to whoever asks for any one: a server is started some time after this, and
    again after it was killed, and until then another process would be given its port."""
    chance = random.SystemRandom()
    first, last = _range_of_this_worker()
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            one = held.enter_context(socket.socket())
            port = chance.randrange(first, last)
            with suppress(OSError):  # somebody has it
                one.bind((HOST, port))
                found.append(port)
        return found


def _range_of_this_worker() -> tuple[int, int]:
    """Tests run in several processes: of two that choose a port at the same time, neither sees the other's choice."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    size = (PORTS[1] - PORTS[0]) // WORKERS
    return PORTS[0] + number * size, PORTS[0] + (number + 1) * size


def send_request(port: int, request: bytes) -> bytes:
    """The first bytes of the answer to one request over TCP; none where there is no answer."""
    try:
        with socket.create_connection((HOST, port), timeout=5) as connection:
            connection.sendall(request)
            return connection.recv(100)
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    """One that has ended and that nobody has asked about yet does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return not status.exists() or _fields(status)[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def _children(pid: int) -> list[int]:
    """Each process of PostgreSQL has a group of its own, so that no signal reaches all of them."""
    return [child for child, parent in process_parents().items() if parent == pid]


def process_parents() -> dict[int, int]:
    """Every process with its parent. Small machines of CI have no `ps`, and other systems than Linux no /proc."""
    found: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            found[int(status.parent.name)] = int(_fields(status)[1])
    if not found:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
        found = {int(child): int(parent) for child, parent in map(str.split, listed.stdout.splitlines())}
    return found


def _fields(status: Path) -> list[str]:
    """State, parent and so on. The name before them stands in brackets and may hold anything, also brackets."""
    return status.read_text(errors="replace").rpartition(")")[2].split()
