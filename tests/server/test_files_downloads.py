"""Downloads: signed for an hour and for their owner, with ranges, and harmless in a browser."""

import asyncio
import base64
import json
import secrets
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import aiohttp
import pytest
from starlette.datastructures import Headers

from footnote.db.script import Steps, script, sql
from footnote.server.requests import ByteRange, is_not_modified, requested_range
from footnote.server.responses import FileStream
from footnote.server.route import Route, RouteCall
from footnote.storage.base import StorageFailed
from footnote.workspace.downloads import EXPIRY_SECONDS, Downloads
from server.harness import LOCAL_TOKEN, ApiClient, ServerHarness, open_server
from storage.contents import hash_of
from storage.seaweed import Seaweed, seaweed
from upstream import Upstream

CONTENT = secrets.token_bytes(200_000)
NAME = "dữ liệu 数据.bin"
ETAG = f'"{hash_of(CONTENT)}"'


async def address(client: ApiClient, name: str = NAME, content: bytes = CONTENT) -> str:
    """The download URL of a file in a new session."""
    session_id = await client.create_session()
    await client.server.app.sessions.workspace(client.id, session_id).write(f"/{name}", content, message_id=None)
    path = quote(f"/{name}", safe="")
    shown = await client.request("GET", f"/v2/sessions/{session_id}/files/content?file_path={path}")
    assert shown.json["content"] is None
    return shown.json["download_url"]


async def test_a_file_is_saved_under_its_name_and_runs_nowhere(server: ServerHarness):
    response = await server.request("GET", await address(server.local))
    expected = {
        "content-type": "application/octet-stream",
        "content-length": "200000",
        "content-disposition": 'attachment; filename="d_ li_u __.bin"; '
        "filename*=UTF-8''d%E1%BB%AF%20li%E1%BB%87u%20%E6%95%B0%E6%8D%AE.bin",
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "private, max-age=3600",
        "accept-ranges": "bytes",
        "etag": ETAG,
    }
    assert (response.status, response.body) == (200, CONTENT)
    assert {name: response.headers.get(name) for name in expected} == expected
    assert len(response.headers.getall("content-security-policy")) == 1


async def test_html_is_saved_and_not_shown(server: ServerHarness):
    response = await server.request(
        "GET", await address(server.local, "page.html", b"<script>alert(1)</script>\0\1\2\3")
    )
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("range_header", "status", "start", "end"),
    [
        ("bytes=0-0", 206, 0, 1),
        ("bytes=100-199", 206, 100, 200),
        ("bytes=199990-", 206, 199_990, 200_000),
        ("bytes=-10", 206, 199_990, 200_000),
        ("bytes=-999999", 206, 0, 200_000),
        ("bytes=150000-999999", 206, 150_000, 200_000),
        ("bytes=0-10,20-30", 200, 0, 200_000),
        ("bytes=10-5", 200, 0, 200_000),
        ("bytes=x-5", 200, 0, 200_000),
        ("lines=0-5", 200, 0, 200_000),
    ],
)
async def test_a_part_is_handed_out_where_one_is_asked_for(
    server: ServerHarness, range_header: str, status: int, start: int, end: int
):
    response = await server.request("GET", await address(server.local), range=range_header)
    assert (response.status, response.body) == (status, CONTENT[start:end])
    content_range = f"bytes {start}-{end - 1}/200000" if status == 206 else None
    assert response.headers.get("content-range") == content_range
    assert response.headers["content-length"] == str(end - start)


@pytest.mark.parametrize("range_header", ["bytes=200000-", "bytes=200000-200001", "bytes=-0"])
async def test_a_part_behind_the_end_is_none(server: ServerHarness, range_header: str):
    response = await server.request("GET", await address(server.local), range=range_header)
    assert (response.status, response.error) == (416, "range_not_satisfiable")
    assert response.headers["content-range"] == "bytes */200000"


async def test_a_part_of_another_content_is_not_mixed_in(server: ServerHarness):
    url = await address(server.local)
    same = await server.request("GET", url, range="bytes=1-2", if_range=ETAG)
    other = await server.request("GET", url, range="bytes=1-2", if_range='"another"')
    assert (same.status, other.status) == (206, 200)


async def test_what_a_browser_has_is_not_sent_again(server: ServerHarness):
    url = await address(server.local)
    response = await server.request("GET", url, if_none_match=f'"other", W/{ETAG}')
    assert (response.status, response.body, response.headers["etag"]) == (304, b"", ETAG)


async def test_a_look_at_the_head_sends_nothing_else(server: ServerHarness):
    response = await server.request("HEAD", await address(server.local))
    assert (response.status, response.body, response.headers["content-length"]) == (200, b"", "200000")


async def test_an_empty_file_can_be_fetched(server: ServerHarness):
    session_id = await server.local.create_session()
    await server.app.sessions.workspace("local", session_id).write("/a.md", "", message_id=None)
    url = await server.app.downloads.create_url("local", session_id, hash_of(b""), "a.md")
    assert (await server.request("GET", url)).body == b""
    assert (await server.request("GET", url, range="bytes=0-")).status == 416


async def test_the_address_is_enough_but_not_for_somebody_else(server: ServerHarness):
    ann, bob = await server.add_user("ann"), await server.add_user("bob")
    url = await address(ann)
    statuses = {
        "nobody": (await server.request("GET", url)).status,
        "ann": (await ann.request("GET", url)).status,
        "ann's browser": (await server.request("GET", url, cookie=ann.cookie)).status,
        "bob": (await bob.request("GET", url)).status,
        "bob's browser": (await server.request("GET", url, cookie=bob.cookie)).status,
        "an admin": (await server.local.request("GET", url)).status,
    }
    assert statuses == {
        "nobody": 200,
        "ann": 200,
        "ann's browser": 200,
        "bob": 404,
        "bob's browser": 404,
        "an admin": 404,
    }


async def test_forged_addresses_lead_nowhere(server: ServerHarness):
    url = await address(server.local)
    other = await address(await server.add_user("ann"))
    prefix, token, name = url.rsplit("/", 2)
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    ticket = json.loads(raw[32:])
    later = json.dumps([*ticket[:-1], ticket[-1] + 9999], separators=(",", ":")).encode()
    signature_of_other = base64.urlsafe_b64decode(other.rsplit("/", 2)[1] + "==")[:32]
    forged = {
        "a later end": raw[:32] + later,
        "another's signature": signature_of_other + raw[32:],
        "no signature": raw[32:],
        "nothing": b"",
        "a bit": bytes([raw[0] ^ 1]) + raw[1:],
        "short": raw[:16],
    }
    tokens = {what: base64.urlsafe_b64encode(one).decode().rstrip("=") or "x" for what, one in forged.items()}
    tokens |= {"no base64": "%25%25%25", "odd letters": "ä" * 50, "long": "A" * 6000}
    statuses = {
        what: (await server.request("GET", f"{prefix}/{quote(one)}/{name}")).status for what, one in tokens.items()
    }
    assert statuses == dict.fromkeys(tokens, 404)
    assert (await server.request("GET", url)).status == 200


async def test_an_address_is_good_for_an_hour(server: ServerHarness):
    url = await address(server.local)
    now = time.time()
    app = server.app
    app.downloads = Downloads(app._database, app.blobs, clock=lambda: now + EXPIRY_SECONDS - 60)
    assert (await server.request("GET", url)).status == 200
    app.downloads = Downloads(app._database, app.blobs, clock=lambda: now + EXPIRY_SECONDS + 5)
    assert (await server.request("GET", url)).status == 404


@pytest.mark.parametrize("deleted", ["file", "session", "user"])
async def test_an_address_goes_with_what_it_leads_to(server: ServerHarness, deleted: str):
    ann = await server.add_user("ann")
    session_id = await ann.create_session()
    await server.app.sessions.workspace(ann.id, session_id).write("/a.bin", CONTENT, message_id=None)
    url = await server.app.downloads.create_url(ann.id, session_id, hash_of(CONTENT), "a.bin")
    assert (await server.request("GET", url)).status == 200
    path, client = {
        "file": (f"/v2/sessions/{session_id}/files?file_path=/a.bin", ann),
        "session": (f"/v2/sessions/{session_id}", ann),
        "user": (f"/v2/users/{ann.id}", server.local),
    }[deleted]
    assert (await client.request("DELETE", path)).status == 204
    assert (await server.request("GET", url)).status == 404


async def test_a_client_that_goes_ends_the_reading(tmp_path: Path):
    closed = asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                await asyncio.sleep(0)
                yield bytes(100_000)
        finally:
            closed.set()

    async def endpoint(_: RouteCall) -> FileStream:
        return FileStream(endless())

    async with open_server(tmp_path, routes=(Route("GET", "/endless", endpoint, "Never ends"),)) as server:
        async with server.http.get(
            f"{server.url}/endless", headers={"authorization": f"Bearer {LOCAL_TOKEN}"}
        ) as response:
            assert await response.content.readexactly(10) == bytes(10)
        async with asyncio.timeout(30):
            await closed.wait()


async def test_a_reading_that_fails_in_the_middle_is_seen_by_the_client(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async def failing() -> AsyncGenerator[bytes, None]:
        yield b"some"
        raise StorageFailed("The disk is gone.")

    async def endpoint(_: RouteCall) -> FileStream:
        return FileStream(failing())

    async with open_server(tmp_path, routes=(Route("GET", "/failing", endpoint, "Fails"),)) as server:
        with pytest.raises(aiohttp.ClientPayloadError):
            await server.local.request("GET", "/failing")
    assert "A download broke off: The disk is gone." in caplog.messages


async def test_several_clients_fetch_at_once_each_at_its_own_pace(server: ServerHarness):
    content = secrets.token_bytes(3_000_000)
    url = await address(server.local, "large.bin", content)

    async def fetch(pause: float) -> bytes:
        got = bytearray()
        async with server.http.get(server.url + url) as response:
            async for piece in response.content.iter_chunked(300_000):
                got += piece
                await asyncio.sleep(pause)
        return bytes(got)

    assert await asyncio.gather(*(fetch(0.02 * number) for number in range(4))) == [content] * 4


SIZE = 100


@pytest.mark.parametrize(
    ("range_header", "span"),
    [
        ("", None),
        ("bytes=0-", ByteRange(0, 100)),
        ("bytes=5-9", ByteRange(5, 10)),
        ("bytes=99-", ByteRange(99, 100)),
        ("bytes=100-", ByteRange(100, 100)),
        ("bytes=-5", ByteRange(95, 100)),
        ("bytes=-0", ByteRange(100, 100)),
        ("bytes=-", None),
        ("bytes=5-4", None),
        ("bytes= 5 - 9", ByteRange(5, 10)),
        ("bytes=5-9, 20-30", None),
        ("bytes=" + "9" * 30 + "-", None),
        ("Bytes=5-9", None),
    ],
)
def test_a_range_is_read_or_passed_over(range_header: str, span: ByteRange | None):
    assert requested_range(Headers({"range": range_header}), ETAG, SIZE) == span


def test_what_is_known_is_told_by_any_of_the_tags():
    tags = {'"a"': True, 'W/"a"': True, '"b", "a"': True, "*": True, '"b"': False, "": False, "a": False}
    assert {tag: is_not_modified(Headers({"if-none-match": tag}), '"a"') for tag in tags} == tags


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.mark.slow
async def test_from_a_bucket_programs_fetch_the_file_themselves_and_the_page_through_the_server(
    tmp_path: Path, upstream: Upstream, bucket: Seaweed
):
    settings = {"FOOTNOTE_STORAGE_URL": bucket.url, **bucket.environ}
    async with open_server(tmp_path, upstream, **settings) as server:
        url = await address(server.local)
        program = await server.request("GET", url)
        saved = await server.request("GET", url, sec_fetch_dest="document")
        shown = await server.request("GET", url, sec_fetch_dest="image", range="bytes=10-19")
        looked = await server.request("HEAD", url)
        ann = await server.add_user("ann")
        over_http = await server.request("GET", await address(ann), cookie=ann.cookie)
        async with aiohttp.ClientSession() as http, http.get(server.url + url) as followed:
            headers, body = followed.headers, await followed.read()
        async with aiohttp.ClientSession() as http, http.get(server.url + url, headers={"range": "bytes=5-9"}) as part:
            piece = part.status, await part.read()

    assert (program.status, saved.status) == (307, 307)
    assert urlsplit(program.headers["location"]).port == bucket.port
    assert "X-Amz-Expires=" in program.headers["location"]
    assert program.headers["cache-control"] == "no-store"
    assert (shown.status, shown.body) == (206, CONTENT[10:20])
    assert (over_http.status, over_http.body) == (200, CONTENT)
    assert (looked.status, looked.headers["content-length"]) == (200, "200000")
    assert body == CONTENT
    assert headers["content-disposition"].endswith("''d%E1%BB%AF%20li%E1%BB%87u%20%E6%95%B0%E6%8D%AE.bin")
    assert piece == (206, CONTENT[5:10])


@pytest.mark.slow
async def test_a_small_file_is_not_in_the_bucket_and_comes_from_the_server(
    tmp_path: Path, upstream: Upstream, bucket: Seaweed
):
    async with open_server(tmp_path, upstream, FOOTNOTE_STORAGE_URL=bucket.url, **bucket.environ) as server:
        response = await server.request("GET", await address(server.local, "a.bin", b"\0\xff"))
    assert (response.status, response.body) == (200, b"\0\xff")


@pytest.mark.slow
async def test_a_storage_that_cannot_be_reached_is_told_without_its_address(tmp_path: Path, upstream: Upstream):
    keys = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "secret"}
    url = "s3://nowhere-bucket?endpoint=http://127.0.0.1:1"
    async with open_server(tmp_path, upstream, FOOTNOTE_STORAGE_URL=url, **keys) as server:
        ann = await server.add_user("ann")
        session_id = await ann.create_session()
        body = {"file_path": "/a.md", "content": "x" * 100_000, "base_hash": None}
        hers = await ann.request("PUT", f"/v2/sessions/{session_id}/files/content", body)
        listed = await ann.request("GET", f"/v2/sessions/{session_id}/files")
        small = await ann.request("PUT", f"/v2/sessions/{session_id}/files/content", {**body, "content": "x"})
    assert (hers.status, hers.error, hers.json["error"]["retryable"]) == (503, "storage_failed", True)
    assert hers.json["error"]["message"] == (
        "The files of the server cannot be reached now. Try again later; who runs it finds out why in its log."
    )
    assert (listed.json, small.status) == ({"files": []}, 201)


@script
def _places() -> Steps[list[str]]:
    rows = yield sql("SELECT place FROM blob WHERE place IS NOT NULL")
    return [place for (place,) in rows]


@pytest.mark.parametrize("part", [{}, {"range": "bytes=5-9"}])
async def test_a_content_that_is_lost_is_an_error_before_it_is_an_answer(server: ServerHarness, part: dict[str, str]):
    url = await address(server.local)
    for place in await server.app._database.read(_places()):
        await server.app.storage.delete(place)
    assert (await server.request("GET", url, **part)).error == "storage_failed"
