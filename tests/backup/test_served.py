"""A backup of a running server, restored elsewhere: every request gets the same bytes, and runs continue."""

import asyncio
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from backup.conftest import NewInstallation
from backup.installations import BINARY, Installation, add_sample_session, run_program
from backup.test_directions import BOTH
from bundles.sample_session import SampleSession
from cli.process import environment
from runs.fold import FoldedTurn
from runs.server_process import RunClient, ServerProcess
from upstream import Upstream, call, reply, say, stall, stop
from upstream.server import ModelRequest

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves

PASSWORD = "correct horse battery"
RESTORED = "after the restore"


class FileWritingModel:
    """Writes a file and answers; or is still answering when the server is killed."""

    def __init__(self) -> None:
        self.is_elsewhere = False

    def __call__(self, request: ModelRequest) -> Any:
        if self.is_elsewhere:
            return reply(say(RESTORED), stop())
        if "HANG" in str(request.body["messages"]):
            return reply(say("So far "), stall())
        if any(message["role"] == "assistant" for message in request.body["messages"]):
            return reply(say("It is done."), stop())
        return reply(call("write_file", {"file_path": "/new.md", "content": "# New\n"}), stop("toolUse"))


def _addresses(sample: SampleSession, live: str, run_id: str) -> list[str]:
    """The responses of these paths, before and after."""
    of_study, of_live = (f"/v2/sessions/{one}" for one in (sample.session_id, live))
    report = quote("/notes/report.md", safe="")
    return [
        f"{of_study}/history",
        f"{of_live}/history",
        f"/v2/runs/{run_id}/events",
        *(f"/v2/runs/{turn.run_id}/events" for turn in (sample.first, sample.edited)),
        f"/v2/runs/{sample.again.run_id}",
        f"{of_study}/sources/1",
        f"{of_study}/files",
        *(f"{of_study}/files/content?file_path={report}&version={number}" for number in (1, 2, 3)),
        f"{of_study}/files/versions?file_path={report}",
        f"{of_study}/files/diff?file_path={report}&from=1&to=3",
        f"{of_live}/files",
        "/v2/sessions?query=treaty",
        "/v2/sessions?query=mirrors",
        "/v2/users",
        "/v2/tokens",
    ]


async def _bytes(client: RunClient, path: str) -> bytes:
    async with client.http.get(path) as response:
        body = await response.read()
        assert response.status == 200, (path, body)
        return body


async def _responses(client: RunClient, paths: list[str], *storages: bytes) -> dict[str, bytes]:
    """The records of uploads contain the URL of their storage, which is the only difference allowed."""
    responses: dict[str, bytes] = {}
    for path in paths:
        responses[path] = await _bytes(client, path)
        for storage in storages:
            responses[path] = responses[path].replace(storage, b"STORAGE/")
    return responses


def _storage(installation: Installation) -> bytes:
    url = installation.environ["FOOTNOTE_STORAGE_URL"]
    return f"{url.partition('?')[0]}/".encode() if url.startswith("s3:") else b"local://"


def _settings(installation: Installation) -> dict[str, str]:
    return {**installation.environ, "FOOTNOTE_HOME": str(installation.home)}


async def _run_footnote(installation: Installation, *arguments: str) -> None:
    env = environment(installation.home, **_settings(installation))
    code, _, err = await run_program(sys.executable, "-m", "footnote", *arguments, env=env)
    assert code == 0, err


async def _wait_finished(client: RunClient, run_id: str) -> dict[str, Any]:
    folded = FoldedTurn()
    async with asyncio.timeout(60):
        while not folded.ended:
            await client.follow(run_id, folded)
    return folded.shown


async def _log_in(process: ServerProcess, token: str) -> None:
    async with aiohttp.ClientSession(process.url) as http:
        login = {"name": "ann", "password": PASSWORD}
        async with http.post("/v2/auth/login", json=login) as response:
            assert response.status == 200
        async with http.get("/v2/auth/me", headers={"authorization": f"Bearer {token}"}) as response:
            assert response.status == 200


@pytest.mark.slow
@pytest.mark.parametrize(("source_kind", "target_kind"), BOTH)
async def test_whoever_asks_gets_the_same_bytes_after_a_restore(
    new_installation: NewInstallation, upstream: Upstream, tmp_path: Path, source_kind: str, target_kind: str
) -> None:
    source, target = await new_installation(source_kind, "source"), await new_installation(target_kind, "target")
    sample = await add_sample_session(source, "local")
    model = FileWritingModel()
    upstream.script(model)
    file = str(tmp_path / "all.backup")
    process = await ServerProcess.start(source.home, upstream, **_settings(source))
    async with process.client() as client:
        await client.json("POST", "/v2/users", {"name": "ann", "password": PASSWORD}, 201)
        token = (await client.json("POST", "/v2/tokens", {"name": "nightly"}, 201))["token"]
        live, hanging = await client.session(), await client.session()
        run_id = await client.start(live, "Write it.")
        await _wait_finished(client, run_id)
        hung = await client.start(hanging, "HANG")
        content = await client.json("GET", f"/v2/sessions/{sample.session_id}/files/content?file_path=%2Fdata.bin")
        async with asyncio.timeout(60):
            while b"So far" not in await _stored_events(client, hung):
                await asyncio.sleep(0.05)
        await _run_footnote(source, "backup", file)
        paths = _addresses(sample, live, run_id)
        before = await _responses(client, paths, _storage(source))
    await process.kill()

    model.is_elsewhere = True
    await _run_footnote(target, "restore", file)
    process = await ServerProcess.start(target.home, upstream, **_settings(target))
    try:
        async with process.client() as client:
            assert await _responses(client, paths, _storage(source), _storage(target)) == before
            assert await _bytes(client, content["download_url"]) == BINARY, "what was signed before is still good"
            shown = await _wait_finished(client, hung)
            assert (shown["stop_reason"], shown["blocks"][0]["text"]) == ("stop", RESTORED)
            again = await client.start(live, "And more?")
            assert (await _wait_finished(client, again))["stop_reason"] == "stop", (
                "numbers go on after those that were taken"
            )
        await _log_in(process, token)
    finally:
        await process.stop()


async def _stored_events(client: RunClient, run_id: str) -> bytes:
    """The stored events of a run so far."""
    timeout = aiohttp.ClientTimeout(sock_read=0.5)
    got = b""
    try:
        async with client.http.get(f"/v2/runs/{run_id}/events", timeout=timeout) as response:
            async for piece in response.content.iter_any():
                got += piece
    except TimeoutError:
        pass
    return got
