"""The server in a process of its own, which can be killed and started again with the same home folder."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from cli.process import environment
from runs.fold import FoldedTurn
from upstream import Upstream

TOKEN = "a-token-for-the-tests-0123456789"
SECONDS = 60


class ServerProcess:
    """One start of the server."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, errors: Path) -> None:
        self.url = url
        self._process = process
        self._errors = errors

    @classmethod
    async def start(cls, home: Path, upstream: Upstream, **more: str) -> "ServerProcess":
        environ = {**environment(home, upstream, "anthropic"), "FOOTNOTE_TOKEN": TOKEN, **more}
        errors = home / "stderr.txt"
        with errors.open("ab") as stderr:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "footnote",
                "serve",
                "--port",
                "0",
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=environ,
            )
        assert process.stdout is not None
        async with asyncio.timeout(SECONDS):
            line = (await process.stdout.readline()).decode()
        assert line, errors.read_text()
        return cls(process, line.partition("/login")[0], errors)

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int:
        """Stops the process with SIGTERM, and returns the exit code."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            return await self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr(self) -> str:
        return self._errors.read_text()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    @asynccontextmanager
    async def client(self) -> AsyncIterator["RunClient"]:
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(
            self.url, headers=headers, timeout=aiohttp.ClientTimeout(SECONDS), connector=aiohttp.TCPConnector(limit=0)
        ) as http:
            yield RunClient(http)


class RunClient:
    def __init__(self, http: aiohttp.ClientSession) -> None:
        self.http = http

    async def json(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        async with self.http.request(method, path, json=body, headers={"accept": "application/json"}) as response:
            assert response.status == status, await response.text()
            return await response.json() if status != 204 else None

    async def session(self) -> str:
        return (await self.json("POST", "/v2/sessions", {}, 201))["id"]

    async def start(self, session_id: str, question: str = "Why?", **fields: Any) -> str:
        """Asks a question, and returns the id of the run."""
        body = {"content": question, **fields}
        return (await self.json("POST", f"/v2/sessions/{session_id}/messages", body, 202))["run_id"]

    async def follow(self, run_id: str, folded: FoldedTurn) -> None:
        """Feeds the events to `folded`, to the end of the run or of the connection."""
        headers = {"last-event-id": str(folded.last_id)} if folded.last_id else {}
        try:
            async with self.http.get(f"/v2/runs/{run_id}/events", headers=headers) as response:
                assert response.status == 200, await response.text()
                rest = b""
                async for piece in response.content.iter_any():
                    *whole, rest = (rest + piece).split(b"\n\n")
                    folded.feed(b"\n\n".join(whole))
        except (aiohttp.ClientError, ConnectionError, TimeoutError):
            return
