"""The one way out: dead streams end, bad answers are told apart, nothing of the HTTP library leaks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from footnote.net.client import ConnectionFailed, Net
from footnote.protocol.errors import UpstreamError


@asynccontextmanager
async def serve_bytes(head: bytes, *, then_close: bool) -> AsyncIterator[str]:
    """A server that answers every request with the same bytes, and then closes or falls silent."""

    open_now: set[asyncio.Future[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = asyncio.get_running_loop().create_future()
        open_now.add(ended)
        # Whoever has no more time goes away, perhaps before they have asked for anything.
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head)
            await writer.drain()
            if not then_close:
                await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        ended.set_result(None)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        await asyncio.gather(*open_now)


async def test_a_body_that_falls_silent_is_given_up_after_the_stall_limit():
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome"
    async with serve_bytes(head, then_close=False) as url, Net(idle_timeout=1.0) as net:
        response = await net.post(url, headers={}, body=b"")
        assert await response.read_chunk() == b"some"
        with pytest.raises(ConnectionFailed, match="nothing was received"):
            await response.read_chunk()
        response.close()


async def test_a_server_that_never_answers_is_given_up_after_the_stall_limit():
    async with serve_bytes(b"", then_close=False) as url, Net(idle_timeout=0.05) as net:
        with pytest.raises(ConnectionFailed, match="nothing was received"):
            await net.post(url, headers={}, body=b"")


async def test_a_slow_reader_is_not_a_silent_server():
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsome"
    async with serve_bytes(head, then_close=True) as url, Net(idle_timeout=1.0) as net:
        response = await net.post(url, headers={}, body=b"")
        await asyncio.sleep(1.5)
        assert await response.read_all(10) == b"some"
        response.close()


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "status 404"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n<html", "not JSON"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "status 302"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}", "broken"),
        (b"nonsense\r\n\r\n", "broken"),
    ],
)
async def test_what_is_not_json_is_an_upstream_error_that_says_why(head: bytes, reason: str):
    async with serve_bytes(head, then_close=True) as url, Net() as net:
        with pytest.raises(UpstreamError, match=reason):
            await net.get_json(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nowhere.invalid/", "nonsense://x", "http://"])
async def test_an_address_that_does_not_work_is_a_connection_that_failed(url: str):
    async with Net() as net:
        with pytest.raises(ConnectionFailed):
            await net.get_json(url)


async def test_a_lookup_ends_within_its_time():
    async with serve_bytes(b"", then_close=False) as url, Net() as net:
        with pytest.raises(ConnectionFailed, match=r"within 0\.05 seconds"):
            await net.get_json(url, timeout=0.05)


async def test_a_name_server_that_hangs_holds_up_neither_a_cancelled_request_nor_the_end():
    asked, never = asyncio.Event(), asyncio.Event()

    async def look_up(_host: str) -> list[str]:
        asked.set()
        await never.wait()
        return []

    async with Net(resolve_host=look_up) as net:
        request = asyncio.create_task(net.get("http://slow.example/"))
        await asked.wait()
        request.cancel()
        await asyncio.wait([request], timeout=30)
        assert request.cancelled()
