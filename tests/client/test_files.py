"""Files over the API: downloads may be redirected to the storage, and a truncated one is refused."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from client.fake_servers import CannedServer, TruncatingProxy, response, serve
from footnote.client.api import ServerApi
from footnote.net.client import Net
from footnote.protocol.errors import (
    FileChanged,
    NotLoggedIn,
    TooLarge,
    UnprocessableFile,
    UpstreamError,
    UsageError,
    WrongKind,
)
from server.harness import LOCAL_TOKEN, ServerHarness, open_server, script_answer
from upstream import Upstream

SESSION = "session_" + "0" * 28


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    async with Net(idle_timeout=10) as net:
        yield net


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        yield server


def json_reply(value: object, status: int = 200) -> bytes:
    return response(status, json.dumps(value).encode(), Content_Type="application/json")


async def fetch_file(api: ServerApi, path: str = "/a.bin") -> bytes:
    async with aclosing(api.files.content(SESSION, path)) as pieces:
        return b"".join([piece async for piece in pieces])


async def export_bundle(api: ServerApi, session_id: str) -> bytes:
    async with aclosing(api.files.export(session_id)) as pieces:
        return b"".join([piece async for piece in pieces])


async def test_a_file_that_lies_in_a_storage_is_fetched_there_without_the_token(net: Net) -> None:
    storage = CannedServer([response(200, b"\0the bytes")])
    async with serve(storage) as elsewhere:
        found = {"content": None, "filename": "a.bin", "file_path": "/a.bin", "download_url": "/v2/downloads/T/a.bin"}
        server = CannedServer([json_reply(found), response(307, Location=f"{elsewhere}/bucket/a.bin?signed=1")])
        async with serve(server) as url:
            assert await fetch_file(ServerApi(net, url, "the-token")) == b"\0the bytes"
    assert [b"Bearer the-token" in one for one in server.requests] == [True, True]
    assert storage.requests[0].startswith(b"GET /bucket/a.bin?signed=1 ")
    assert b"the-token" not in storage.requests[0]


async def test_an_address_of_another_host_is_sent_no_token(net: Net) -> None:
    other = CannedServer([response(200, b"x")])
    async with serve(other) as elsewhere:
        converted = {"download_url": f"{elsewhere}/x.pdf", "filename": "x.pdf"}
        async with serve(CannedServer([json_reply(converted)])) as url:
            document = await ServerApi(net, url, "the-token").files.convert(SESSION, "/x.md", "pdf")
            chunks = [chunk async for chunk in document.chunks]
    assert (document.filename, chunks) == ("x.pdf", [b"x"])
    assert b"the-token" not in other.requests[0]


async def test_a_redirect_to_something_else_than_the_web_is_not_followed(net: Net) -> None:
    found = {"content": None, "filename": "a", "file_path": "/a", "download_url": "/v2/downloads/T/a"}
    for place in ("file:///etc/passwd", "", "/v2/other"):
        async with serve(CannedServer([json_reply(found), response(307, Location=place)])) as url:
            with pytest.raises(UpstreamError, match="not a URL"):
                await fetch_file(ServerApi(net, url, "t"))


async def test_a_text_comes_back_exactly(net: Net) -> None:
    text = "\ufeffTiền\r\n\u2028 lương\n"
    found = {"content": text, "filename": "a.md", "file_path": "/a.md", "download_url": None}
    async with serve(CannedServer([json_reply(found)])) as url:
        assert await fetch_file(ServerApi(net, url, None)) == text.encode()


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (409, "file_changed", FileChanged),
        (413, "too_large", TooLarge),
        (415, "unsupported_media_type", WrongKind),
        (422, "unprocessable", UnprocessableFile),
        (404, "file_not_found", UsageError),
        (401, "not_logged_in", NotLoggedIn),
    ],
)
async def test_refusals_are_errors_of_ours(net: Net, status: int, kind: str, expected: type[Exception]) -> None:
    refused = json_reply({"error": {"type": kind, "message": "No.", "retryable": False}}, status)
    async with serve(CannedServer([refused])) as url:
        with pytest.raises(expected):
            await ServerApi(net, url, "t").files.list(SESSION)


async def test_names_of_any_kind_arrive_as_they_are(net: Net, server: ServerHarness, tmp_path: Path) -> None:
    api = ServerApi(net, server.url, LOCAL_TOKEN)
    session_id = await server.local.create_session()
    body = b"--boundary\r\n\r\nNot the end.\r\n"
    for name in ("Tiền lương.txt", "50% (a) 'b'.txt", "名前.txt"):
        file = tmp_path / name
        file.write_bytes(body)
        record = await api.files.upload(session_id, file)
        content = b"".join([chunk async for chunk in api.files.content(session_id, record.path)])
        assert (record.source, content) == ("upload", body)
        assert record.filename == name
    sly = tmp_path / 'a"\r\nContent-Type: x\r\n\r\nb.txt'
    sly.write_bytes(body)
    assert "\r" not in (await api.files.upload(session_id, sly)).filename


async def test_an_export_that_breaks_off_is_an_error(net: Net, server: ServerHarness) -> None:
    session_id = await server.local.create_session()
    await server.local.ask_for_events(session_id)
    async with serve(TruncatingProxy(server.url, 2_000)) as url:
        with pytest.raises(UpstreamError):
            await export_bundle(ServerApi(net, url, LOCAL_TOKEN), session_id)
    assert (await export_bundle(ServerApi(net, server.url, LOCAL_TOKEN), session_id)).startswith(b"PK")
