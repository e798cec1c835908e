"""Files over the API: what is signed may lie elsewhere, and what breaks off is no file."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from client.places import Canned, Cutting, response, serve
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
from footnote.protocol.files import ConvertedFile
from server.house import LOCAL_TOKEN, House, open_house, script_answer
from upstream import Upstream

SESSION = "session_" + "0" * 28


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    async with Net(idle_timeout=10) as net:
        yield net


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    script_answer(upstream)
    async with open_house(tmp_path, upstream) as house:
        yield house


def json_reply(value: object, status: int = 200) -> bytes:
    return response(status, json.dumps(value).encode(), Content_Type="application/json")


async def fetch_file(api: ServerApi, path: str = "/a.bin") -> bytes:
    async with aclosing(api.files.content(SESSION, path)) as pieces:
        return b"".join([piece async for piece in pieces])


async def export_bundle(api: ServerApi, session_id: str) -> bytes:
    async with aclosing(api.files.export(session_id)) as pieces:
        return b"".join([piece async for piece in pieces])


async def test_a_file_that_lies_in_a_storage_is_fetched_there_without_the_token(net: Net) -> None:
    storage = Canned([response(200, b"\0the bytes")])
    async with serve(storage) as elsewhere:
        found = {"content": None, "filename": "a.bin", "file_path": "/a.bin", "download_url": "/v2/downloads/T/a.bin"}
        server = Canned([json_reply(found), response(307, Location=f"{elsewhere}/bucket/a.bin?signed=1")])
        async with serve(server) as url:
            assert await fetch_file(ServerApi(net, url, "the-token")) == b"\0the bytes"
    assert [b"Bearer the-token" in one for one in server.requests] == [True, True]
    assert storage.requests[0].startswith(b"GET /bucket/a.bin?signed=1 ")
    assert b"the-token" not in storage.requests[0]


async def test_an_address_of_another_host_is_sent_no_token(net: Net) -> None:
    other = Canned([response(200, b"x")])
    async with serve(other) as elsewhere, serve(Canned([])) as url:
        api = ServerApi(net, url, "the-token")
        pieces = [piece async for piece in api.files.download(ConvertedFile(f"{elsewhere}/x.pdf", "x.pdf"))]
    assert pieces == [b"x"]
    assert b"the-token" not in other.requests[0]


async def test_a_redirect_to_something_else_than_the_web_is_not_followed(net: Net) -> None:
    found = {"content": None, "filename": "a", "file_path": "/a", "download_url": "/v2/downloads/T/a"}
    for place in ("file:///etc/passwd", "", "/v2/other"):
        async with serve(Canned([json_reply(found), response(307, Location=place)])) as url:
            with pytest.raises(UpstreamError, match="no address"):
                await fetch_file(ServerApi(net, url, "t"))


async def test_a_text_comes_back_exactly(net: Net) -> None:
    text = "\ufeffTiền\r\n\u2028 lương\n"
    found = {"content": text, "filename": "a.md", "file_path": "/a.md", "download_url": None}
    async with serve(Canned([json_reply(found)])) as url:
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
    async with serve(Canned([refused])) as url:
        with pytest.raises(expected):
            await ServerApi(net, url, "t").files.list(SESSION)


async def test_names_of_any_kind_arrive_as_they_are(net: Net, house: House, tmp_path: Path) -> None:
    api = ServerApi(net, house.url, LOCAL_TOKEN)
    session_id = await house.local.create_session()
    file = tmp_path / "x.txt"
    file.write_bytes(b"--boundary\r\n\r\nNot the end.\r\n")
    for name in ("Tiền lương.txt", "50% (a) 'b'.txt", "名前.txt"):
        record = await api.files.upload(session_id, file, name)
        content = b"".join([piece async for piece in api.files.content(session_id, record.path)])
        assert (record.source, content) == ("upload", file.read_bytes())
        assert record.filename == name
    sly = 'a"\r\nContent-Type: x\r\n\r\n/../b.txt'
    assert "\r" not in (await api.files.upload(session_id, file, sly)).filename


async def test_an_export_that_breaks_off_is_an_error(net: Net, house: House) -> None:
    session_id = await house.local.create_session()
    await house.local.ask_for_events(session_id)
    async with serve(Cutting(house.url, 2_000)) as url:
        with pytest.raises(UpstreamError):
            await export_bundle(ServerApi(net, url, LOCAL_TOKEN), session_id)
    assert (await export_bundle(ServerApi(net, house.url, LOCAL_TOKEN), session_id)).startswith(b"PK")
