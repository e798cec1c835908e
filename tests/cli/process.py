"""The real command in a process of its own, with pipes or pseudo-terminals as its streams."""

import asyncio
import fcntl
import json
import os
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import engines
from upstream import Upstream
from upstream.server import Api

End: TypeAlias = Literal["pipe", "terminal"]
SECONDS = 60
CLOSED = "http://127.0.0.1:1"

# Behaves like a foreground job of a shell: SIGINT is not ignored, and the pseudo-terminal is its controlling terminal.
FOREGROUND_PROGRAM = """
import fcntl, os, runpy, signal, termios
signal.signal(signal.SIGINT, signal.default_int_handler)
if terminals := [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]:
    fcntl.ioctl(terminals[0], termios.TIOCSCTTY, 0)
runpy.run_module("footnote", run_name="__main__")
"""


def environment(home: Path, upstream: Upstream | None = None, api: Api = "openai", **more: str) -> dict[str, str]:
    """The whole environment of the process, which inherits nothing else: home, language, the engines of this test run,
    and the URL of the scripted provider."""
    name = api.upper()
    known = (
        {}
        if upstream is None
        else {
            f"{name}_API_KEY": upstream.key or "",
            f"FOOTNOTE_MODELS_PROVIDERS_{name}_BASE_URL": upstream.url,
        }
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": CLOSED,
        "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": CLOSED,
        **known,
        **engines.environment(home / ".footnote"),
        **more,
    }


def with_tool_server(home: Path, *, approval: bool = False, **more: Any) -> None:
    """Gives the agent the tools of `tool_server`. `more`: further settings of the agent."""
    program = Path(__file__).with_name("tool_server.py")
    server = {"command": sys.executable, "args": [str(program)], "approval": approval}
    (home / ".footnote").mkdir()
    agents = {"agents": [{"id": "a", "mcpServers": {"tools": server}, **more}]}
    (home / ".footnote" / "agents.json").write_text(json.dumps(agents))


class ProcessStream:
    """The test's end of a stream of the process: collects its output, and waits for more."""

    def __init__(self, kind: End, columns: int) -> None:
        if kind == "terminal":
            self._ours, self.theirs = os.openpty()
            self.resize(columns)
        else:
            self._ours, self.theirs = os.pipe()
        self._data = b""
        self._news = asyncio.Event()
        self.ended = False
        os.set_blocking(self._ours, False)
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    @property
    def text(self) -> str:
        return self._data.decode(errors="ignore").replace("\r\n", "\n")

    def resize(self, columns: int, rows: int = 24) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    async def wait_for_text(self, expected: str | Callable[[str], bool]) -> None:
        """Waits until the output contains the text, or fulfils the condition."""
        has_come = expected if callable(expected) else lambda text: expected in text
        await self._wait(lambda: has_come(self.text), f"{expected!r} never came")

    async def wait_for_end(self) -> None:
        await self._wait(lambda: self.ended, "the stream did not end")

    async def _wait(self, condition: Callable[[], bool], failure: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while not condition() and not self.ended:
                    self._news.clear()
                    await self._news.wait()
        assert condition(), f"{failure}; there is {self.text!r}"

    def _read(self) -> None:
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the other end of the pseudo-terminal is closed
            data = b""
        self._data += data
        if not data:
            self.close()
        self._news.set()

    def close(self) -> None:
        if not self.ended:
            self.ended = True
            asyncio.get_running_loop().remove_reader(self._ours)
            os.close(self._ours)


class FootnoteProcess:
    """`async with FootnoteProcess("ask", "…", env=…) as process`. Streams that are terminals share one terminal."""

    def __init__(
        self,
        *arguments: str,
        env: dict[str, str],
        stdin: bytes | Literal["terminal"] = b"",
        stdout: End | int = "pipe",
        stderr: End = "pipe",
        columns: int = 60,
        program: str = FOREGROUND_PROGRAM,
    ) -> None:
        self._command = (sys.executable, "-c", program, *arguments)
        self._env = env
        self._input = stdin
        self._ends = (stdout, stderr)
        self._columns = columns

    async def __aenter__(self) -> Self:
        stdout, stderr = self._ends
        terminal = ProcessStream("terminal", self._columns) if "terminal" in (*self._ends, self._input) else None
        descriptor = stdout if isinstance(stdout, int) else None
        self.out = self._stream(stdout, terminal) if descriptor is None else None
        self.err = self._stream(stderr, terminal)
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._env,
            stdin=terminal.theirs if self._input == "terminal" and terminal else asyncio.subprocess.PIPE,
            stdout=descriptor if self.out is None else self.out.theirs,
            stderr=self.err.theirs,
            start_new_session=terminal is not None,
        )
        for stream in {stream for stream in (self.out, self.err, terminal) if stream is not None}:
            os.close(stream.theirs)
        self._streams = {stream for stream in (self.out, self.err, terminal) if stream is not None}
        if isinstance(self._input, bytes) and self._process.stdin is not None:
            self._process.stdin.write(self._input)
            self._process.stdin.close()
        return self

    def _stream(self, end: End | int, terminal: ProcessStream | None) -> ProcessStream:
        return terminal if end == "terminal" and terminal else ProcessStream("pipe", self._columns)

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        for stream in self._streams:
            stream.close()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def exit_code(self) -> int:
        """Waits for the end of the process and of its output."""
        async with asyncio.timeout(SECONDS):
            code = await self._process.wait()
        for stream in self._streams:
            await stream.wait_for_end()
        return code


async def run_footnote(
    *arguments: str, env: dict[str, str], stdin: bytes = b"", program: str = FOREGROUND_PROGRAM
) -> tuple[int, str, str]:
    """Runs the command to its end with pipes: exit code, stdout, stderr."""
    async with FootnoteProcess(*arguments, env=env, stdin=stdin, program=program) as process:
        code = await process.exit_code()
        assert process.out is not None
        return code, process.out.text, process.err.text
