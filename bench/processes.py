"""A server in a process of its own, and the resources that it used. Linux only: the figures are those of /proc."""

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
from followers import Follower, HttpRequest, follow_all

TOKEN = "bench-token-bench-token-bench-token"
AUTHORISED = (f"authorization: Bearer {TOKEN}", "accept: application/json")
FOLLOWING = (AUTHORISED[0], "accept: text/event-stream")
START_SECONDS = 60.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


class MeasuredProcess:
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
        """Kills it with SIGKILL."""
        self._process.kill()
        self._process.wait()

    def cpu(self) -> float:
        """CPU seconds of all threads."""
        spent = 0
        for thread in (self._place / "task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                spent += int((thread / "schedstat").read_text().split()[0])
        return spent / 1e9

    def memory(self) -> float:
        """Bytes in use."""
        return int((self._place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def settled_memory(self) -> float:
        """The memory when it no longer grows."""
        before, now = 0.0, self.memory()
        until = time.monotonic() + 5
        while now != before and time.monotonic() < until:
            time.sleep(0.3)
            before, now = now, self.memory()
        return now


class Server(MeasuredProcess):
    """`footnote serve`, with its database in `home`."""

    def __init__(self, process: subprocess.Popen[Any], port: int, home: Path) -> None:
        super().__init__(process, port)
        self.home = home

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of one response."""
        request = HttpRequest(method, path, b"" if body is None else json.dumps(body).encode(), AUTHORISED)
        return self.ask_all([request])[0]

    def ask_all(self, asks: list[HttpRequest]) -> list[Any]:
        """Sends the requests one after the other."""
        answers = uvloop.run(_send_in_turn(self.port, asks))
        for request, answer in zip(asks, answers, strict=True):
            if not 200 <= answer.status < 300:
                raise SystemExit(f"{request.method} {request.path}: {answer.received[:1000].decode(errors='replace')}")
        return [json.loads(answer.body or b"null") for answer in answers]


async def _send_in_turn(port: int, asks: list[HttpRequest]) -> list[Follower]:
    return [(await follow_all(port, [ask], seconds=30))[0] for ask in asks]


@contextmanager
def footnote(
    upstream_port: int, *, profile: Path | None = None, machine: str | None = None, **settings: str
) -> Iterator[Server]:
    """With a temporary home folder. `profile`: where the standard profiler writes its result. `machine`: a host name
    for the process, where that is possible. `settings`: more variables."""
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
        output_file = home / "said"
        with output_file.open("wb") as output:
            process = subprocess.Popen(
                command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            server = Server(process, _port(process, output_file), home / "home")
            _wait_until_ready(server)
            yield server
        finally:
            _end(process)


def _unshare_command(machine: str | None) -> list[str]:
    """A command prefix that sets the host name, which only root may do."""
    program = shutil.which("unshare")
    if machine is None or program is None or os.geteuid() != 0:
        return []
    return [program, "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', machine]


def _port(process: subprocess.Popen[Any], output: Path) -> int:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if found := _ADDRESS.search(output.read_text(errors="replace")):
            return int(found[1])
        time.sleep(0.01)
    raise SystemExit(f"footnote serve did not start: {output.read_text(errors='replace')[-2000:]}")


def _wait_until_ready(server: Server) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if uvloop.run(_send_in_turn(server.port, [HttpRequest("GET", "/readyz")]))[0].status == 200:
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
def relay() -> Iterator[MeasuredProcess]:
    command = [sys.executable, str(venvs.BENCH / "relay.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield MeasuredProcess(process, int(process.stdout.readline()))
        finally:
            process.stdin.close()
            _end(process)
