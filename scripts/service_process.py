"""One server on loopback, as a process that can be stopped, killed, paused, and restarted with its port and data."""

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
"""Below the ephemeral ports of Linux, macOS and the BSDs."""
WORKERS = 8


class ServiceNotStarted(Exception):
    """A server that ended at once or did not answer, with the end of its log."""


class Service(ABC):
    """Its output goes to `log`, its data into `folder`."""

    name: str
    stop_signal = signal.SIGTERM
    """The signal of a graceful stop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool:
        """Whether it answers requests, and not only whether its port is open."""

    def options(self) -> Mapping[str, Any]:
        """How the process is started, besides its command."""
        return {}

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def start(self) -> None:
        """Starts it and waits until it answers. Does nothing if it already runs."""
        if self.pid is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            # A process group of its own: Ctrl-C in the terminal must not reach it, because the order of stopping
            # matters.
            self._process = subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=log,
                **{"stdin": subprocess.DEVNULL, "cwd": self.folder, "process_group": 0, **self.options()},
            )
        latest = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.pid is None or time.monotonic() > latest:
                self.kill()
                log = self.log.read_text(errors="replace")[-3000:]
                raise ServiceNotStarted(f"{self.name} did not start. The end of {self.log}:\n{log}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stops gracefully; kills it after a timeout."""
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
        """Kills all of its processes at once, without a chance to write anything."""
        if self._process is None:
            return
        killed = self._signal(signal.SIGKILL)
        self._process.wait()
        # It must not be started again, nor its files read, before the process is gone.
        latest = time.monotonic() + STOP_SECONDS
        while any(map(is_alive, killed)) and time.monotonic() < latest:
            time.sleep(0.005)

    def pause(self) -> None:
        """Stops all processes with SIGSTOP, with their connections open, like a machine that hangs."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> list[int]:
        """Sends a signal to all of its processes, and returns them."""
        pid = self.pid
        if pid is None:
            return []
        # Stopped first, so that it cannot fork between the search and the signal.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        reached = [*_children(pid), pid]
        for one in reached:
            with suppress(ProcessLookupError):
                os.kill(one, number)
        return reached


def free_ports(count: int) -> list[int]:
    """Not ephemeral ports: a server is started some time after this, and again after it was killed, and meanwhile the
    system could give its port to another process."""
    chance = random.SystemRandom()
    first, last = _range_of_this_worker()
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            one = held.enter_context(socket.socket())
            port = chance.randrange(first, last)
            with suppress(OSError):  # the port is in use
                one.bind((HOST, port))
                found.append(port)
        return found


def _range_of_this_worker() -> tuple[int, int]:
    """Tests run in several processes, which must not choose the same ports at the same time."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    size = (PORTS[1] - PORTS[0]) // WORKERS
    return PORTS[0] + number * size, PORTS[0] + (number + 1) * size


def send_request(port: int, request: bytes) -> bytes:
    """The first bytes of the response to one request over TCP; none where there is no response."""
    try:
        with socket.create_connection((HOST, port), timeout=5) as connection:
            connection.sendall(request)
            return connection.recv(100)
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return not status.exists() or _fields(status)[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def _children(pid: int) -> list[int]:
    """Each process of PostgreSQL has a process group of its own, so that no signal to a group reaches all of them."""
    return [child for child, parent in process_parents().items() if parent == pid]


def process_parents() -> dict[int, int]:
    """Every process with its parent. Small CI images have no `ps`, and systems other than Linux no /proc."""
    found: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            found[int(status.parent.name)] = int(_fields(status)[1])
    if not found:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
        found = {int(child): int(parent) for child, parent in map(str.split, listed.stdout.splitlines())}
    return found


def _fields(status: Path) -> list[str]:
    """State, parent and so on. The name before them is in brackets and may contain anything, also brackets."""
    return status.read_text(errors="replace").rpartition(")")[2].split()
