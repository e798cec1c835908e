"""Conversions and uploads of one user do not delay others, and work for a disconnected client is dropped."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footnote.sandbox.pool import SandboxPool
from footnote.sessions.renditions import Renditions
from footnote.workspace import uploads
from footnote.workspace.uploads import Uploads
from sandbox.hang_monitor import TIMEOUT_SECONDS, HangMonitor
from server import forms
from server.harness import ApiResponse, ServerHarness, open_server
from server.session_files import SessionFiles

WORKER = "sandbox.scripted_worker:work"


@asynccontextmanager
async def single_job_sandbox(server: ServerHarness, hang_monitor: HangMonitor) -> AsyncIterator[SandboxPool]:
    """A server whose sandbox runs one job of each kind at a time, and hangs when a document says so."""
    app = server.app
    async with SandboxPool(worker=WORKER, max_processes=1, environ=hang_monitor.environ) as sandbox:
        app.renditions = Renditions(app._database, app.sessions, app.blobs, sandbox, app.file_citations)
        app.uploads = Uploads(app._database, app.blobs, app.library, sandbox, app.spool, max_bytes=1_000_000)
        yield sandbox
        await app.uploads.close()


async def open_session_files(server: ServerHarness, name: str) -> SessionFiles:
    client = await server.add_user(name)
    return SessionFiles(client, await client.create_session())


async def convert_text(session_files: SessionFiles, text: str) -> ApiResponse:
    name = f"/{text.replace(' ', '-')}.md"
    assert (await session_files.write(name, text)).status == 201
    return await session_files.request("POST", "/convert", {"file_path": name, "convert_type": "pdf"})


async def upload_file(session_files: SessionFiles, name: str, content: bytes) -> ApiResponse:
    return await forms.upload_files(session_files.client, session_files.session_id, (name, content))


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_user_with_many_conversions_is_told_to_wait_and_another_has_a_turn_in_between(
    server: ServerHarness, hang_monitor: HangMonitor
) -> None:
    one, other = await open_session_files(server, "one"), await open_session_files(server, "other")
    async with single_job_sandbox(server, hang_monitor) as sandbox:
        queue = sandbox.queues["convert"]
        hanging = asyncio.create_task(convert_text(one, "hang"))
        await hang_monitor.wait_started()
        done: list[str] = []

        async def conversion(session_files: SessionFiles, text: str) -> None:
            assert (await convert_text(session_files, text)).status == 200
            done.append(session_files.client.name)

        waiting: list[asyncio.Task[None]] = []
        for number in range(4):
            waiting.append(asyncio.create_task(conversion(one, f"number {number}")))
            await wait_until(lambda: queue.waiting == len(waiting))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            refused = await convert_text(one, "one too many")
        assert (refused.status, refused.headers["retry-after"]) == (429, "30")
        assert "4 files of yours are waiting to be converted already" in refused.json["error"]["message"]
        waiting.append(asyncio.create_task(conversion(other, "mine")))
        await wait_until(lambda: queue.waiting == 5)
        hanging.cancel()
        await asyncio.gather(*waiting)
        # Responses in quick succession may arrive in another order than the jobs ran.
        assert "other" in done[:3], "users take turns"


async def test_conversions_of_clients_that_are_gone_are_killed_and_leave_the_queue(
    server: ServerHarness, hang_monitor: HangMonitor
) -> None:
    one, other = await open_session_files(server, "one"), await open_session_files(server, "other")
    async with single_job_sandbox(server, hang_monitor) as sandbox:
        queue = sandbox.queues["convert"]
        clients = [asyncio.create_task(convert_text(one, "hang"))]
        await hang_monitor.wait_started()
        clients += [asyncio.create_task(convert_text(one, f"hang {number}")) for number in range(4)]
        await wait_until(lambda: queue.waiting == 4)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await hang_monitor.wait_gone()
        await wait_until(lambda: (queue.running, queue.waiting) == (0, 0))
        assert (await convert_text(other, "mine")).status == 200


async def test_an_upload_is_kept_while_others_are_read_and_has_its_text_later(
    server: ServerHarness, hang_monitor: HangMonitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.05)
    one, other = await open_session_files(server, "one"), await open_session_files(server, "other")
    async with single_job_sandbox(server, hang_monitor):
        hanging = asyncio.create_task(upload_file(one, "hang", b"words"))
        await hang_monitor.wait_started()
        stored = await upload_file(other, "text 5", b"words")
        assert stored.status == 201
        [record] = stored.json["files"]
        unread = await other.request("GET", "/text", file_path=record["path"])
        assert unread.status == 422
        assert unread.json["error"]["message"] == "text 5 is still being read: try again in a moment."
        os.kill(hang_monitor.pid, signal.SIGKILL)
        assert (await hanging).status == 201
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while (read := await other.request("GET", "/text", file_path=record["path"])).status != 200:
                await asyncio.sleep(0.01)
        assert read.json["text"] == "xxxxx"


async def test_an_upload_that_was_not_read_before_a_restart_is_read_after_it(
    tmp_path: Path, hang_monitor: HangMonitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.05)
    async with open_server(tmp_path) as server:
        session_files = SessionFiles(server.local, await server.local.create_session())
        async with single_job_sandbox(server, hang_monitor):
            hanging = asyncio.create_task(upload_file(session_files, "hang", b"never read"))
            await hang_monitor.wait_started()
            [record] = (await upload_file(session_files, "a.txt", b"words")).json["files"]
        # The worker was killed with the sandbox, which says nothing about the file: it is kept as well.
        [other] = (await hanging).json["files"]
    async with open_server(tmp_path) as server:
        session_files = SessionFiles(server.local, session_files.session_id)
        for path, text in ((record["path"], "words"), (other["path"], "never read")):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while (read := await session_files.request("GET", "/text", file_path=path)).status != 200:
                    await asyncio.sleep(0.01)
            assert read.json["text"] == text
