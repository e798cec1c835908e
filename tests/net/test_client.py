"""The HTTP client: dead streams end, failures are distinguished, and no exception of the HTTP library escapes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from footnote.net.client import PAUSE_BYTES, ConnectionFailed, Net
from footnote.protocol.errors import UpstreamError
from loop_clock import advance_loop_clock


@asynccontextmanager
async def serve_bytes(head: bytes, *, then_close: bool) -> AsyncIterator[str]:
    """A server that answers every request with the same bytes, and then closes the connection or falls silent."""

    open_now: set[asyncio.Future[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = asyncio.get_running_loop().create_future()
        open_now.add(ended)
        # A client without time left may disconnect before it sends a request.
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


async def test_a_slow_reader_is_not_a_silent_server(monkeypatch: pytest.MonkeyPatch):
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsome"
    async with serve_bytes(head, then_close=True) as url, Net(idle_timeout=60) as net:
        response = await net.post(url, headers={}, body=b"")
        advance_loop_clock(monkeypatch, 3600)
        for _ in range(5):
            await asyncio.sleep(0)
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
    lookup_started, never = asyncio.Event(), asyncio.Event()

    async def look_up(_host: str) -> list[str]:
        lookup_started.set()
        await never.wait()
        return []

    async with Net(resolve_host=look_up) as net:
        request = asyncio.create_task(net.get("http://slow.example/"))
        await lookup_started.wait()
        request.cancel()
        await asyncio.wait([request], timeout=30)
        assert request.cancelled()


@asynccontextmanager
async def serve_pieces() -> AsyncIterator[tuple[str, asyncio.Queue[bytes], list[asyncio.StreamWriter]]]:
    """A server that answers every request with chunks, as they are put into the queue; an empty one ends the body."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    connections: list[asyncio.StreamWriter] = []
    answering: list[asyncio.Future[None]] = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                while piece := await pieces.get():
                    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                writer.write(b"0\r\n\r\n")

    def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        answering.append(asyncio.ensure_future(respond(reader, writer)))

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", pieces, connections
        for task in answering:
            task.cancel()
        await asyncio.wait(answering)
        for writer in connections:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def test_what_arrives_in_a_pause_is_read_in_one_piece():
    async with serve_pieces() as (url, pieces, _), Net() as net:
        response = await net.get(url)
        pieces.put_nowait(b"first")
        assert await response.read_chunk() == b"first"

        response.pause()
        reading = asyncio.create_task(response.read_chunk())
        for piece in (b"one ", b"two ", b"three"):
            pieces.put_nowait(piece)
            await asyncio.sleep(0)
        assert not (await asyncio.wait({reading}, timeout=0.05))[0]
        response.resume()

        assert await reading == b"one two three"
        response.close()


async def test_a_pause_ends_when_more_has_arrived_than_is_worth_waiting_for():
    async with serve_pieces() as (url, pieces, _), Net() as net:
        response = await net.get(url)
        response.pause()
        pieces.put_nowait(bytes(2 * PAUSE_BYTES))

        assert await response.read_chunk()
        response.close()


async def test_a_pause_ends_with_the_connection():
    async with serve_pieces() as (url, _, connections), Net() as net:
        response = await net.get(url)
        response.pause()
        connections[0].transport.abort()

        with pytest.raises(ConnectionFailed):
            await response.read_chunk()
        response.close()


async def test_a_connection_that_was_paused_is_as_good_as_any_for_the_next_request():
    async with serve_pieces() as (url, pieces, connections), Net() as net:
        response = await net.get(url)
        response.pause()
        pieces.put_nowait(bytes(2 * PAUSE_BYTES))
        await response.read_chunk()
        response.pause()
        pieces.put_nowait(bytes(2 * PAUSE_BYTES))
        pieces.put_nowait(b"")
        while await response.read_chunk():
            response.pause()
        response.pause()  # the body has ended: there is nothing to wait for
        response.close()

        pieces.put_nowait(b"small")
        async with asyncio.timeout(10):
            again = await net.get(url)
            assert await again.read_chunk() == b"small"
        again.close()
        assert len(connections) == 1
