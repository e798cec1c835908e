"""Clients that connect and send nothing, and clients that claim to be a proxy."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path

import aiohttp
import pytest

from cli.process import FootnoteProcess, environment
from footnote.server.limits import MAX_IDLE_CONNECTIONS
from server.harness import LOCAL_TOKEN, open_server
from server.test_serve_command import base, wait_for_address
from upstream import Upstream, hold, reply, say, stop

MORE = 20


@pytest.fixture
def _many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * MAX_IDLE_CONNECTIONS:
        pytest.skip("this machine does not let a process have so many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MAX_IDLE_CONNECTIONS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.usefixtures("_many_descriptors")
async def test_of_too_many_silent_connections_the_oldest_are_closed_and_one_line_says_so(tmp_path: Path):
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(FootnoteProcess("serve", "--port", "0", env=environment(tmp_path)))
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)))
        url = base(await wait_for_address(process))
        port = int(url.rpartition(":")[2])
        silent = [stack.enter_context(closing(_connect(port))) for _ in range(MAX_IDLE_CONNECTIONS)]
        # A connection with half a request head is as idle as one without any byte.
        silent[0].send(b"GET /healthz HTTP/1.1\r\nHost:")
        silent += [stack.enter_context(closing(_connect(port))) for _ in range(MORE)]
        async with asyncio.timeout(60):
            loop = asyncio.get_running_loop()
            assert [await loop.sock_recv(one, 1) for one in silent[:MORE]] == [b""] * MORE
        async with http.get(f"{url}/healthz") as response:
            assert response.status == 200
        with pytest.raises(BlockingIOError):
            silent[-1].recv(1)
        assert process.err.text.count("Idle connections closed") == 1


LOGIN = b"POST /v2/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.slow
@pytest.mark.usefixtures("_many_descriptors")
@pytest.mark.parametrize("head", [LOGIN, HEALTH, HEALTH + b"\r\n"], ids=["no body", "no more", "line break"])
async def test_whoever_falls_silent_after_the_first_words_is_capped_as_well(tmp_path: Path, head: bytes):
    async with AsyncExitStack() as stack:
        limits = {"FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE": "1000000"}
        process = await stack.enter_async_context(
            FootnoteProcess("serve", "--port", "0", env=environment(tmp_path, **limits))
        )
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)))
        url = base(await wait_for_address(process))
        silent: list[socket.socket] = []
        for _ in range(MAX_IDLE_CONNECTIONS + MORE):
            silent.append(stack.enter_context(closing(_connect(int(url.rpartition(":")[2])))))
            silent[-1].send(head)
        async with asyncio.timeout(60):
            loop = asyncio.get_running_loop()
            for one in silent[:MORE]:
                while await loop.sock_recv(one, 1_000):
                    pass
        async with http.get(f"{url}/healthz") as response:
            assert response.status == 200
        assert process.err.text.count("Idle connections closed") == 1


@pytest.mark.slow
@pytest.mark.usefixtures("_many_descriptors")
async def test_silent_connections_close_neither_a_stream_nor_an_upload_that_comes(tmp_path: Path, upstream: Upstream):
    words, is_over = asyncio.Event(), asyncio.Event()
    upstream.script(reply(say("So"), hold(words), say(" it is."), stop()))

    async def body() -> AsyncIterator[bytes]:
        yield b'{"title":'
        await is_over.wait()
        yield b'"Tea"}'

    async with AsyncExitStack() as stack:
        env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=LOCAL_TOKEN)
        process = await stack.enter_async_context(FootnoteProcess("serve", "--port", "0", env=env))
        headers = {"authorization": f"Bearer {LOCAL_TOKEN}", "content-type": "application/json"}
        http = await stack.enter_async_context(
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60), headers=headers)
        )
        url = base(await wait_for_address(process))
        async with http.post(f"{url}/v2/sessions", json={}) as response:
            session = f"{url}/v2/sessions/{(await response.json())['id']}"
        stream = await stack.enter_async_context(http.post(f"{session}/messages", json={"content": "Why?"}))
        silent = [
            stack.enter_context(closing(_connect(int(url.rpartition(":")[2])))) for _ in range(MAX_IDLE_CONNECTIONS)
        ]
        patching = asyncio.create_task(http.patch(session, data=body()).__aenter__())
        async with asyncio.timeout(60):
            assert await asyncio.get_running_loop().sock_recv(silent[0], 1) == b""
        words.set()
        assert (await stream.read()).endswith(b'"type":"message_stop"}\n\n')
        is_over.set()
        async with await patching as changed:
            assert (changed.status, (await changed.json())["title"]) == (200, "Tea")


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setblocking(False)
    return connection


@pytest.mark.parametrize(
    ("trusted", "logins_by"), [(None, "the client"), ('["10.0.0.0/8"]', "the proxy"), ('["127.0.0.1"]', "the client")]
)
async def test_who_asks_is_taken_from_a_trusted_proxy_alone(tmp_path: Path, trusted: str | None, logins_by: str):
    """Seen by the limit of wrong passwords of an address: behind an untrusted proxy, all clients have its address."""
    settings = {"FOOTNOTE_SERVER_PUBLIC_URL": "https://footnote.example"}
    if trusted is not None:
        settings["FOOTNOTE_SERVER_TRUSTED_PROXIES"] = trusted
    async with open_server(tmp_path, **settings) as server:
        statuses = [
            (
                await server.request(
                    "POST",
                    "/v2/auth/login",
                    body={"name": f"nobody{number}", "password": "wrong password"},
                    x_forwarded_for=f"203.0.{number}.7",
                    origin="https://footnote.example",
                )
            ).status
            for number in range(40)
        ]
    assert (429 in statuses) == (logins_by == "the proxy")
    assert set(statuses) <= {401, 429}
