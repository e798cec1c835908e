"""What one user has converted and read does not keep others waiting, and nobody works for a client that is gone."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from footnote.sandbox.pool import SandboxPool
from footnote.sessions.renditions import Renditions
from footnote.workspace import upload_reader
from footnote.workspace.uploads import Uploads
from sandbox.witness import TIMEOUT_SECONDS, Witness
from server import forms
from server.desk import Desk
from server.house import Answer, House, open_house

WORKER = "sandbox.workers:work"


@pytest.fixture
async def witness(tmp_path: Path) -> AsyncIterator[Witness]:
    witness = Witness(tmp_path)
    yield witness
    witness.close()


@asynccontextmanager
async def single_job_sandbox(house: House, witness: Witness) -> AsyncIterator[SandboxPool]:
    """The server with a sandbox that does one job of each kind at a time, and hangs when a document says so."""
    app = house.app
    async with SandboxPool(worker=WORKER, max_processes=1, environ=witness.environ) as sandbox:
        app.renditions = Renditions(app._database, app.sessions, app.blobs, sandbox)
        app.uploads = Uploads(app._database, app.blobs, app.library, sandbox, app.spool, max_bytes=1_000_000)
        yield sandbox
        await app.uploads.close()


async def open_desk(house: House, name: str) -> Desk:
    person = await house.add_user(name)
    return Desk(person, await person.create_session())


async def convert_text(desk: Desk, text: str) -> Answer:
    name = f"/{text.replace(' ', '-')}.md"
    assert (await desk.write(name, text)).status == 201
    return await desk.request("POST", "/convert", {"file_path": name, "convert_type": "pdf"})


async def upload_file(desk: Desk, name: str, content: bytes) -> Answer:
    return await forms.upload_files(desk.person, desk.session_id, (name, content))


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_user_with_many_conversions_is_told_to_wait_and_another_has_a_turn_in_between(
    house: House, witness: Witness
) -> None:
    one, other = await open_desk(house, "one"), await open_desk(house, "other")
    async with single_job_sandbox(house, witness) as sandbox:
        queue = sandbox.queues["convert"]
        hanging = asyncio.create_task(convert_text(one, "hang"))
        await witness.wait_started()
        done: list[str] = []

        async def conversion(desk: Desk, text: str) -> None:
            assert (await convert_text(desk, text)).status == 200
            done.append(desk.person.name)

        waiting: list[asyncio.Task[None]] = []
        for number in range(4):
            waiting.append(asyncio.create_task(conversion(one, f"number {number}")))
            await wait_until(lambda: queue.waiting == len(waiting))
        refused = await convert_text(one, "one too many")
        assert (refused.status, refused.headers["retry-after"]) == (429, "30")
        assert "4 files of yours are waiting to be converted already" in refused.json["error"]["message"]
        waiting.append(asyncio.create_task(conversion(other, "mine")))
        await wait_until(lambda: queue.waiting == 5)
        hanging.cancel()
        await asyncio.gather(*waiting)
        # Answers that follow each other closely may come in another order than that of the work.
        assert "other" in done[:3], "users take turns"


async def test_conversions_of_clients_that_are_gone_are_killed_and_leave_the_queue(
    house: House, witness: Witness
) -> None:
    one, other = await open_desk(house, "one"), await open_desk(house, "other")
    async with single_job_sandbox(house, witness) as sandbox:
        queue = sandbox.queues["convert"]
        clients = [asyncio.create_task(convert_text(one, "hang"))]
        await witness.wait_started()
        clients += [asyncio.create_task(convert_text(one, f"hang {number}")) for number in range(4)]
        await wait_until(lambda: queue.waiting == 4)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await witness.wait_gone()
        await wait_until(lambda: (queue.running, queue.waiting) == (0, 0))
        assert (await convert_text(other, "mine")).status == 200


async def test_an_upload_is_kept_while_others_are_read_and_has_its_text_later(
    house: House, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_reader, "WAIT_SECONDS", 0.05)
    one, other = await open_desk(house, "one"), await open_desk(house, "other")
    async with single_job_sandbox(house, witness):
        hanging = asyncio.create_task(upload_file(one, "hang", b"words"))
        await witness.wait_started()
        kept = await upload_file(other, "text 5", b"words")
        assert kept.status == 201
        [record] = kept.json["files"]
        unread = await other.request("GET", "/text", file_path=record["path"])
        assert unread.status == 422
        assert unread.json["error"]["message"] == "text 5 is still being read: try again in a moment."
        os.kill(witness.pid, signal.SIGKILL)
        assert (await hanging).status == 201
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while (read := await other.request("GET", "/text", file_path=record["path"])).status != 200:
                await asyncio.sleep(0.01)
        assert read.json["text"] == "xxxxx"


async def test_an_upload_that_was_not_read_before_a_restart_is_read_after_it(
    tmp_path: Path, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_reader, "WAIT_SECONDS", 0.05)
    async with open_house(tmp_path) as house:
        desk = Desk(house.local, await house.local.create_session())
        async with single_job_sandbox(house, witness):
            hanging = asyncio.create_task(upload_file(desk, "hang", b"never read"))
            await witness.wait_started()
            [record] = (await upload_file(desk, "a.txt", b"words")).json["files"]
        # Its process was ended with the sandbox, which says nothing about the file: it is kept as well.
        [other] = (await hanging).json["files"]
    async with open_house(tmp_path) as house:
        desk = Desk(house.local, desk.session_id)
        for path, text in ((record["path"], "words"), (other["path"], "never read")):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while (read := await desk.request("GET", "/text", file_path=path)).status != 200:
                    await asyncio.sleep(0.01)
            assert read.json["text"] == text
