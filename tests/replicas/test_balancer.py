"""Tests of the tools of these tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from replicas.balancer import Balancer
from replicas.faulty_link import FaultyLink


@asynccontextmanager
async def _echo(name: bytes) -> AsyncIterator[int]:
    """A server that sends its name and then echoes; returns its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(name)
        try:
            while data := await reader.read(100_000):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def _name(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    name = await reader.readexactly(1)
    writer.close()
    return name


async def test_connections_go_round_and_past_a_backend_that_refuses():
    async with _echo(b"a") as first, _echo(b"b") as second, Balancer(first, second) as balancer:
        assert [await _name(balancer.port) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        balancer.backends[0].port = 1
        assert [await _name(balancer.port) for _ in range(3)] == [b"b"] * 3
        balancer.backends[1].port = 1
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await _name(balancer.port)


async def test_all_connections_to_one_backend_can_be_dropped():
    async with _echo(b"a") as first, _echo(b"b") as second, Balancer(first, second) as balancer:
        (to_a, write_a), (to_b, write_b) = [await asyncio.open_connection("127.0.0.1", balancer.port) for _ in "ab"]
        assert (await to_a.readexactly(1), await to_b.readexactly(1)) == (b"a", b"b")
        balancer.backends[0].drop()
        with pytest.raises(ConnectionError):
            await to_a.read(1)
        write_b.write(b"x")
        assert await to_b.readexactly(1) == b"x"
        write_a.close()
        write_b.close()


async def test_a_large_body_comes_through_whole_and_its_end_too():
    body = bytes(range(256)) * 40_000
    async with _echo(b"") as port, Balancer(port) as balancer:
        reader, writer = await asyncio.open_connection("127.0.0.1", balancer.port)

        async def send() -> None:
            writer.write(body)
            await writer.drain()
            writer.write_eof()

        _, got = await asyncio.gather(send(), reader.read(-1))
        assert got == body
        writer.close()


async def test_a_line_that_is_cut_resets_and_refuses_until_it_is_mended():
    async with _echo(b"a") as port, FaultyLink(port) as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        assert await reader.readexactly(1) == b"a"
        line.cut()
        with pytest.raises(ConnectionError):
            await reader.read(1)
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await _name(line.port)
        await line.repair()
        assert await _name(line.port) == b"a"


async def test_a_silent_line_keeps_what_it_was_given_and_loses_nothing_when_it_is_mended():
    async with _echo(b"a") as port, FaultyLink(port) as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        assert await reader.readexactly(1) == b"a"
        line.blackhole()
        writer.write(b"held")
        waiting = asyncio.create_task(reader.readexactly(4))
        new = asyncio.create_task(_name(line.port))
        done, _ = await asyncio.wait((waiting, new), timeout=0.2)
        assert done == set()
        await line.repair()
        assert (await waiting, await new) == (b"held", b"a")
        writer.close()


async def test_a_slow_line_keeps_the_order_and_the_end():
    async with _echo(b"a") as port, FaultyLink(port) as line:
        line.slow(0.01, bytes_a_second=100_000)
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        for number in range(20):
            writer.write(b"%02d" % number)
            await asyncio.sleep(0)
        writer.write_eof()
        assert await reader.read(-1) == b"a" + b"".join(b"%02d" % number for number in range(20))
        writer.close()
