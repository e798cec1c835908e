"""A server in a process of its own, and what the system says that it has used. Linux: the figures are in /proc."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop
import venvs
from followers import Ask, Follower, follow_all

TOKEN = "bench-token-bench-token-bench-token"
AUTHORISED = (f"authorization: Bearer {TOKEN}", "accept: application/json")
FOLLOWING = (AUTHORISED[0], "accept: text/event-stream")
START_SECONDS = 60.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Watched:
    """A process that is measured from outside."""

    def __init__(self, process: subprocess.Popen[Any], port: int) -> None:
        self._process = process
        self._place = Path(f"/proc/{process.pid}")
        self.port = port

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """With no time to say goodbye."""
        self._process.kill()
        self._process.wait()

    def cpu(self) -> float:
        """Seconds, of all threads."""
        spent = 0
        for thread in (self._place / "task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                spent += int((thread / "schedstat").read_text().split()[0])
        return spent / 1e9

    def memory(self) -> float:
        """Bytes in use."""
        return int((self._place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def settled_memory(self) -> float:
        """Once it does not grow any more."""
        before, now = 0.0, self.memory()
        until = time.monotonic() + 5
        while now != before and time.monotonic() < until:
            time.sleep(0.3)
            before, now = now, self.memory()
        return now


class Server(Watched):
    """`footnote serve`, with its database in `home`."""

    def __init__(self, process: subprocess.Popen[Any], port: int, home: Path) -> None:
        super().__init__(process, port)
        self.home = home

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of one answer."""
        asked = Ask(method, path, b"" if body is None else json.dumps(body).encode(), AUTHORISED)
        return self.ask_all([asked])[0]

    def ask_all(self, asks: list[Ask]) -> list[Any]:
        """One after the other."""
        answers = uvloop.run(_send_in_turn(self.port, asks))
        for asked, answer in zip(asks, answers, strict=True):
            if not 200 <= answer.status < 300:
                raise SystemExit(f"{asked.method} {asked.path}: {answer.received[:1000].decode(errors='replace')}")
        return [json.loads(answer.body or b"null") for answer in answers]


async def _send_in_turn(port: int, asks: list[Ask]) -> list[Follower]:
    return [(await follow_all(port, [ask], seconds=30))[0] for ask in asks]


@contextmanager
def footnote(
    upstream_port: int, *, profile: Path | None = None, machine: str | None = None, **settings: str
) -> Iterator[Server]:
    """With a home of its own, which is gone afterwards. `profile`: where the standard profiler leaves what it saw.
    `machine`: what it takes the name of this machine to be, where that can be done. `settings`: more variables."""
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        home = Path(folder)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "FOOTNOTE_HOME": str(home / "home"),
            "FOOTNOTE_TOKEN": TOKEN,
            "FOOTNOTE_MODELS_DEFAULT": "bench/text-1-0",
            "FOOTNOTE_MODELS_PROVIDERS_BENCH_TYPE": "anthropic",
            "FOOTNOTE_MODELS_PROVIDERS_BENCH_BASE_URL": f"http://127.0.0.1:{upstream_port}",
            "FOOTNOTE_MODELS_PROVIDERS_BENCH_API_KEY": "not-a-key",
            "FOOTNOTE_LIMITS_RUNS_PER_USER": "100000",
            "FOOTNOTE_LIMITS_RUNS_AT_ONCE": "100000",
            "FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE": "100000000",
            **settings,
        }
        profiled = ["-m", "cProfile", "-o", str(profile)] if profile else []
        command = [*_unshare_command(machine), sys.executable, *profiled, "-m", "footnote", "serve", "--port", "0"]
        said = home / "said"
        with said.open("wb") as output:
            process = subprocess.Popen(
                command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            server = Server(process, _port(process, said), home / "home")
            _wait_until_ready(server)
            yield server
        finally:
            _end(process)


def _unshare_command(machine: str | None) -> list[str]:
    """What gives a command a machine's name of its own: only root may."""
    program = shutil.which("unshare")
    if machine is None or program is None or os.geteuid() != 0:
        return []
    return [program, "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', machine]


def _port(process: subprocess.Popen[Any], said: Path) -> int:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if found := _ADDRESS.search(said.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.01)
    raise SystemExit(f"footnote serve did not start: {said.read_text(errors='replace')[-2000:]}")


def _wait_until_ready(server: Server) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if uvloop.run(_send_in_turn(server.port, [Ask("GET", "/readyz")]))[0].status == 200:
                return
        time.sleep(0.02)
    raise SystemExit("footnote serve did not get ready")


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def relay() -> Iterator[Watched]:
    command = [sys.executable, str(venvs.BENCH / "relay.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Watched(process, int(process.stdout.readline()))
        finally:
            process.stdin.close()
            _end(process)
