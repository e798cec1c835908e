"""Pages named by a model or by other pages: one request each, and a failure with its cause."""

import asyncio
import gzip
import socket
from collections.abc import Sequence
from importlib.metadata import version

import pytest

from footnote.net.client import ConnectionFailed, Net
from footnote.net.connector import resolve_host
from web import PageReply, Web, hanging_reply, redirect


async def test_a_page_is_asked_for_under_our_own_name_and_without_cookies():
    async with Web({"/": PageReply(headers={"Set-Cookie": "id=1"})}) as web, Net() as net:
        for _ in range(2):
            (await net.open_page(web.url("/"), headers={"Accept": "text/html"}, private_hosts=[web.host])).close()
    assert [request.headers for request in web.requests] == [
        {
            "host": web.host,
            "user-agent": f"Footnote/{version('footnote')} (self-hosted research agent)",
            "accept-encoding": "gzip, deflate",
            "accept": "text/html",
        }
    ] * 2


async def test_a_body_is_handed_over_as_it_was_sent():
    body = gzip.compress(b"squeezed")
    async with Web({"/": PageReply(headers={"Content-Encoding": "gzip"}, body=body)}) as web, Net() as net:
        response = await net.open_page(web.url("/"), private_hosts=[web.host])
        assert await response.read_all(1000) == body
        response.close()


async def test_a_redirect_is_handed_over_and_not_followed():
    async with Web({"/": redirect("/next")}) as web, Net() as net:
        response = await net.open_page(web.url("/"), private_hosts=[web.host])
        response.close()
    assert (response.status, response.headers["location"], len(web.requests)) == (302, "/next", 1)


async def test_a_header_of_many_kilobytes_is_no_reason_to_fail():
    async with Web({"/": PageReply(headers={"Content-Security-Policy": "x" * 40_000})}) as web, Net() as net:
        response = await net.open_page(web.url("/"), private_hosts=[web.host])
        response.close()
    assert len(response.headers["content-security-policy"]) == 40_000


async def resolve_nothing(host: str) -> Sequence[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def resolve_empty(host: str) -> Sequence[str]:
    return []


@pytest.mark.parametrize("answer", [resolve_nothing, resolve_empty])
async def test_a_name_that_nobody_knows_is_told_apart(answer):
    async with Net(resolve_host=answer) as net:
        with pytest.raises(ConnectionFailed, match="could not be resolved") as failure:
            await net.open_page("http://nowhere.test/")
    assert failure.value.kind == "dns"


async def test_a_host_that_does_not_answer_is_told_apart():
    async with Web({"/": hanging_reply()}) as web, Net(idle_timeout=0.1) as net:
        with pytest.raises(ConnectionFailed, match="nothing was received") as failure:
            await net.open_page(web.url("/"), private_hosts=[web.host])
    assert failure.value.kind == "timeout"


async def test_a_host_that_speaks_no_tls_is_told_apart():
    async with Web({}) as web, Net() as net:
        with pytest.raises(ConnectionFailed, match="TLS handshake failed") as failure:
            await net.open_page(web.url("/", scheme="https"), private_hosts=[web.host])
    assert failure.value.kind == "tls"


async def test_a_port_that_nobody_listens_on_is_told_apart():
    with socket.socket() as occupied:  # keeps the port occupied without listening on it
        occupied.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{occupied.getsockname()[1]}"
        async with Net() as net:
            with pytest.raises(ConnectionFailed, match="refused") as failure:
                await net.open_page(f"http://{closed}/", private_hosts=[closed])
    assert failure.value.kind == "connection"


async def test_the_system_is_asked_for_the_addresses_of_a_name():
    assert set(await resolve_host("localhost")) <= {"127.0.0.1", "::1"}
    with pytest.raises(OSError, match="not known"):
        await resolve_host("nowhere.invalid")


async def test_a_look_up_that_is_not_waited_for_any_more_does_no_harm():
    task = asyncio.create_task(resolve_host("localhost"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
