"""The services of the tests: each answers, can be paused or killed alone, recovers its data, and stops."""

import asyncio
import re
import shlex
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
import redis.asyncio
from service_process import is_alive, process_parents
from services import ServiceNotStarted, Services, missing

from footnote.net.client import Net
from footnote.storage import open_storage
from shape.tree import ROOT
from storage.contents import put, read_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.embedded,
    pytest.mark.skipif(bool(missing()), reason=" ".join(missing())),
]

SECONDS = 150


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with Services() as services:
        yield services


@asynccontextmanager
async def connect(services: Services) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(services.postgres.url(), timeout=SECONDS)
    try:
        yield connection
    finally:
        await connection.close()


async def test_postgresql_that_is_killed_comes_back_with_all_that_was_committed(services: Services) -> None:
    async with connect(services) as connection:
        await connection.execute("CREATE TABLE kept AS SELECT 'committed' AS word")
    url, processes = services.postgres.url(), _with_children(services.postgres.pid)
    assert len(processes) > 1

    services.postgres.kill()

    assert services.postgres.pid is None
    assert [pid for pid in processes if is_alive(pid)] == []
    services.postgres.start()
    assert services.postgres.url() == url
    async with connect(services) as connection:
        assert await connection.fetchval("SELECT word FROM kept") == "committed"


async def test_postgresql_that_is_paused_answers_nobody_and_goes_on_where_it_was(services: Services) -> None:
    async with connect(services) as connection:
        services.postgres.pause()
        try:
            query = asyncio.create_task(connection.fetchval("SELECT 'answered'"))
            done, _ = await asyncio.wait([query], timeout=0.5)
            assert not done
        finally:
            services.postgres.go_on()
        assert await query == "answered"


async def test_postgresql_and_redis_want_their_password(services: Services) -> None:
    postgres = urlsplit(services.postgres.url())
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(host="127.0.0.1", port=postgres.port, user="footnote", password="x", database="footnote")
    async with redis.asyncio.Redis(port=services.redis.port) as nobody:
        with pytest.raises(redis.exceptions.AuthenticationError):
            await nobody.ping()


async def test_redis_that_is_killed_has_forgotten_everything(services: Services) -> None:
    async with redis.asyncio.from_url(services.redis.url()) as client:
        await client.set("word", "said")
        assert await client.get("word") == b"said"
    services.redis.kill()
    services.redis.start()
    async with redis.asyncio.from_url(services.redis.url()) as client:
        assert await client.get("word") is None


async def test_a_bucket_whose_server_is_killed_still_has_its_objects(services: Services, tmp_path: Path) -> None:
    async with Net() as net:
        storage = open_storage(services.s3.url("prefix"), tmp_path, services.s3.environ, net)
        place = await put(storage, b"an object")
        services.s3.kill()
        services.s3.start()
        assert await read_all(storage, place) == b"an object"


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    services = Services(tmp_path / "folder")
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", services.redis.port))
        occupied.listen()
        with pytest.raises(ServiceNotStarted, match=r"(?s)Redis did not start.*Address already in use"):
            services.redis.start()
    services.close()


async def test_the_script_prints_its_settings_and_ends_all_that_it_started() -> None:
    script = await asyncio.create_subprocess_exec(
        sys.executable, ROOT / "scripts" / "services.py", stdout=asyncio.subprocess.PIPE
    )
    assert script.stdout is not None
    output = ""
    async with asyncio.timeout(SECONDS):
        while "Ctrl-C ends them" not in output:
            line = (await script.stdout.readline()).decode()
            assert line, output
            output += line
    exported = dict(word.split("=", 1) for word in shlex.split(output) if re.match(r"(FOOTNOTE|AWS)_\w+=", word))
    names = ("FOOTNOTE_DATABASE_URL", "FOOTNOTE_BUS_URL", "FOOTNOTE_STORAGE_URL")
    assert tuple(exported) == (*names, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    connection = await asyncpg.connect(exported["FOOTNOTE_DATABASE_URL"])
    processes = _with_children(script.pid)
    assert len(processes) > 4
    (folder,) = re.findall(r"with their files in (\S+)\.", output)
    assert Path(folder).is_dir()

    script.send_signal(signal.SIGTERM)  # with an open connection, which must not delay the end

    async with asyncio.timeout(SECONDS):
        assert await script.wait() == 0
    assert [pid for pid in processes if is_alive(pid)] == []
    assert not Path(folder).exists()
    connection.terminate()


def _with_children(pid: int | None) -> list[int]:
    """The process with all its descendants."""
    assert pid is not None
    parents = process_parents()
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found
