"""Server, backup while it runs, restore elsewhere, server: whoever asks gets the same bytes, and runs go on."""

import asyncio
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from backup.conftest import NewPlace
from backup.places import BINARY, Place, add_sample_session, run_program
from backup.test_directions import BOTH
from bundles.shelf import Study
from cli.process import environment
from runs.fold import FoldedTurn
from runs.serving import Client, Process
from upstream import Upstream, call, reply, say, stall, stop
from upstream.server import Request

pytestmark = pytest.mark.embedded  # both kinds are named here, whatever the others run on

PASSWORD = "correct horse battery"
RESTORED = "after the restore"


class Model:
    """Writes a file and is done; or is still at it when the server dies."""

    def __init__(self) -> None:
        self.is_elsewhere = False

    def __call__(self, request: Request) -> Any:
        if self.is_elsewhere:
            return reply(say(RESTORED), stop())
        if "HANG" in str(request.body["messages"]):
            return reply(say("So far "), stall())
        if any(message["role"] == "assistant" for message in request.body["messages"]):
            return reply(say("It is done."), stop())
        return reply(call("write_file", {"file_path": "/new.md", "content": "# New\n"}), stop("toolUse"))


def _addresses(study: Study, live: str, run_id: str) -> list[str]:
    """What is asked for, before and after."""
    of_study, of_live = (f"/v2/sessions/{one}" for one in (study.session_id, live))
    report = quote("/notes/report.md", safe="")
    return [
        f"{of_study}/history",
        f"{of_live}/history",
        f"/v2/runs/{run_id}/events",
        *(f"/v2/runs/{turn.run_id}/events" for turn in (study.first, study.edited)),
        f"/v2/runs/{study.again.run_id}",
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


async def _bytes(client: Client, path: str) -> bytes:
    async with client.http.get(path) as answer:
        body = await answer.read()
        assert answer.status == 200, (path, body)
        return body


async def _responses(client: Client, paths: list[str], *storages: bytes) -> dict[str, bytes]:
    """Uploads are shown with the address of the storage that they are in: the only thing that may differ."""
    told: dict[str, bytes] = {}
    for path in paths:
        told[path] = await _bytes(client, path)
        for storage in storages:
            told[path] = told[path].replace(storage, b"STORAGE/")
    return told


def _storage(place: Place) -> bytes:
    url = place.environ["FOOTNOTE_STORAGE_URL"]
    return f"{url.partition('?')[0]}/".encode() if url.startswith("s3:") else b"local://"


def _settings(place: Place) -> dict[str, str]:
    return {**place.environ, "FOOTNOTE_HOME": str(place.home)}


async def _run_footnote(place: Place, *arguments: str) -> None:
    env = environment(place.home, **_settings(place))
    code, _, said = await run_program(sys.executable, "-m", "footnote", *arguments, env=env)
    assert code == 0, said


async def _wait_finished(client: Client, run_id: str) -> dict[str, Any]:
    folded = FoldedTurn()
    async with asyncio.timeout(60):
        while not folded.ended:
            await client.follow(run_id, folded)
    return folded.shown


async def _log_in(process: Process, token: str) -> None:
    async with aiohttp.ClientSession(process.url) as http:
        login = {"name": "ann", "password": PASSWORD}
        async with http.post("/v2/auth/login", json=login) as answer:
            assert answer.status == 200
        async with http.get("/v2/auth/me", headers={"authorization": f"Bearer {token}"}) as answer:
            assert answer.status == 200


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), BOTH)
async def test_whoever_asks_gets_the_same_bytes_after_a_restore(
    place_of: NewPlace, upstream: Upstream, tmp_path: Path, source: str, target: str
) -> None:
    here, there = await place_of(source, "here"), await place_of(target, "there")
    study = await add_sample_session(here, "local")
    model = Model()
    upstream.script(model)
    file = str(tmp_path / "all.backup")
    process = await Process.start(here.home, upstream, **_settings(here))
    async with process.client() as client:
        await client.json("POST", "/v2/users", {"name": "ann", "password": PASSWORD}, 201)
        token = (await client.json("POST", "/v2/tokens", {"name": "nightly"}, 201))["token"]
        live, hanging = await client.session(), await client.session()
        run_id = await client.start(live, "Write it.")
        await _wait_finished(client, run_id)
        hung = await client.start(hanging, "HANG")
        content = await client.json("GET", f"/v2/sessions/{study.session_id}/files/content?file_path=%2Fdata.bin")
        async with asyncio.timeout(60):
            while b"So far" not in await _stored_events(client, hung):
                await asyncio.sleep(0.05)
        await _run_footnote(here, "backup", file)
        paths = _addresses(study, live, run_id)
        before = await _responses(client, paths, _storage(here))
    await process.kill()

    model.is_elsewhere = True
    await _run_footnote(there, "restore", file)
    process = await Process.start(there.home, upstream, **_settings(there))
    try:
        async with process.client() as client:
            assert await _responses(client, paths, _storage(here), _storage(there)) == before
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


async def _stored_events(client: Client, run_id: str) -> bytes:
    """The events of a run up to now, as they are stored."""
    timeout = aiohttp.ClientTimeout(sock_read=0.5)
    got = b""
    try:
        async with client.http.get(f"/v2/runs/{run_id}/events", timeout=timeout) as answer:
            async for piece in answer.content.iter_any():
                got += piece
    except TimeoutError:
        pass
    return got
