"""S3: real signatures and expiry on SeaweedFS, and every way in which a service can fail."""

import asyncio
import os
import secrets
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web

from footnote.net.client import Net
from footnote.storage import open_storage
from footnote.storage.base import StorageFailed, StorageFull
from footnote.storage.s3 import Bucket, Credentials, S3Storage, Signer
from storage.contents import hash_of, place_of, put, read_all
from storage.seaweed import BUCKET, DOMAIN, OWNER, READER, Seaweed, environ_of

HOUR = 3600
NAME = "báo cáo 报告.pdf"


def _storage_of(server: Seaweed, net: Net, credentials: Credentials = OWNER, name: str = BUCKET) -> S3Storage:
    return S3Storage(Bucket(name, server.endpoint), Signer(credentials, "us-east-1"), net)


def _signed_url(storage: S3Storage, place: str, seconds: int = HOUR) -> str:
    url = storage.signed_url(place, seconds=seconds, filename=NAME, media_type="application/pdf")
    assert url is not None
    return url


async def _get(url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Requested as a browser does, without credentials."""
    async with aiohttp.ClientSession() as http, http.get(aiohttp.client.URL(url, encoded=True), headers=headers) as got:
        return got.status, await got.read(), {name.lower(): value for name, value in got.headers.items()}


@pytest.mark.slow
async def test_a_signed_address_hands_out_the_file_under_its_name(bucket: Seaweed, net: Net):
    storage = _storage_of(bucket, net)
    url = _signed_url(storage, await put(storage, b"%PDF content"))

    status, body, headers = await _get(url)

    assert (status, body) == (200, b"%PDF content")
    assert headers["content-type"] == "application/pdf"
    assert headers["content-disposition"] == (
        "attachment; filename=\"b_o c_o __.pdf\"; filename*=UTF-8''b%C3%A1o%20c%C3%A1o%20%E6%8A%A5%E5%91%8A.pdf"
    )
    assert (await _get(url, range="bytes=1-3"))[:2] == (206, b"PDF")


@pytest.mark.slow
async def test_a_signed_address_is_worth_nothing_after_its_time(bucket: Seaweed, net: Net):
    storage = _storage_of(bucket, net)
    place = await put(storage, b"content")
    url = _signed_url(storage, place, seconds=6)
    assert (await _get(url))[0] == 200

    async with asyncio.timeout(60):
        while (await _get(url))[0] != 403:
            await asyncio.sleep(0.2)

    assert (await _get(_signed_url(storage, place)))[0] == 200


@pytest.mark.slow
async def test_a_signed_address_is_for_one_file_one_name_and_one_time(bucket: Seaweed, net: Net):
    storage = _storage_of(bucket, net)
    place, other = await put(storage, b"content"), await put(storage, b"another")
    url = _signed_url(storage, place)
    assert (await _get(url))[0] == 200
    forged = {
        "another file": url.replace(place, other),
        "a longer time": url.replace("X-Amz-Expires=3600", "X-Amz-Expires=36000"),
        "another name": url.replace(".pdf", ".exe"),
        "another kind": url.replace("application%2Fpdf", "text%2Fhtml"),
        "another signature": url[:-1] + ("0" if url[-1] != "0" else "1"),
        "no signature": url.partition("?")[0],
    }
    assert {what: (await _get(address))[0] for what, address in forged.items()} == dict.fromkeys(forged, 403)


@pytest.mark.slow
async def test_a_bucket_may_stand_before_the_host_and_files_below_a_prefix(bucket: Seaweed, tmp_path: Path):
    async def look_up(_: str) -> Sequence[str]:
        return ["127.0.0.1"]

    url = f"s3://{BUCKET}/some/where?endpoint=http://{DOMAIN}:{bucket.port}&style=host"
    async with Net(resolve_host=look_up) as net:
        storage = open_storage(url, tmp_path, bucket.environ, net)
        content = secrets.token_bytes(300_000)
        place = await put(storage, content)
        assert await read_all(storage, place) == content
        assert await read_all(_storage_with_prefix(bucket, net, "some/where/"), place) == content
        assert storage.address == f"s3://{BUCKET}/some/where/"
        await storage.check()


def _storage_with_prefix(server: Seaweed, net: Net, prefix: str) -> S3Storage:
    return S3Storage(Bucket(BUCKET, server.endpoint, prefix), Signer(OWNER, "us-east-1"), net)


@pytest.mark.slow
async def test_a_service_that_refuses_is_told_apart_without_a_key_in_the_message(
    bucket: Seaweed, net: Net, tmp_path: Path
):
    wrong_secret = Credentials(OWNER.access_key, "a-wrong-secret")
    unknown = Credentials("AKIANOBODY", "a-wrong-secret")
    storages = {
        "the secret key is not the right one": _storage_of(bucket, net, wrong_secret),
        "the access key is not known there": _storage_of(bucket, net, unknown),
        "the keys may not read, write and delete": _storage_of(bucket, net, READER),
        "it does not exist": _storage_of(bucket, net, name="nowhere"),
        "cannot be reached": S3Storage(
            Bucket(BUCKET, "http://127.0.0.1:1"), Signer(OWNER, "us-east-1"), net, backoffs=(0.01,)
        ),
    }
    for reason, storage in storages.items():
        with pytest.raises(StorageFailed) as caught:
            await storage.check()
        assert reason in caught.value.message
        assert "AKIA" not in caught.value.message
        assert "secret-" not in caught.value.message
    assert environ_of(OWNER) == bucket.environ
    await open_storage(bucket.url, tmp_path, bucket.environ, net).check()


@pytest.mark.slow
async def test_a_large_file_goes_in_and_out_in_pieces(bucket: Seaweed, net: Net, tmp_path: Path):
    storage = _storage_of(bucket, net)
    file = tmp_path / "large"
    file.write_bytes(secrets.token_bytes(1_000_000) * 40)
    sha256 = hash_of(file.read_bytes())
    place = f"{sha256[:2]}/{sha256}.00000000"

    tracemalloc.start()
    await storage.put(place, file, sha256)
    size = 0
    async for piece in storage.read(place):
        size += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size == 40_000_000
    assert peak < 8_000_000


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def _fake_s3(
    handler: Handler, net: Net, *, pauses: Sequence[float] = (0.01, 0.01, 0.01), stall: float = 15.0
) -> AsyncIterator[S3Storage]:
    """A service that returns scripted responses."""
    runner = web.ServerRunner(web.Server(handler), shutdown_timeout=1)  # pyright: ignore[reportArgumentType] - a coroutine will do
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        bucket = Bucket(BUCKET, f"http://127.0.0.1:{port}")
        yield S3Storage(bucket, Signer(OWNER, "us-east-1"), net, backoffs=pauses, stall=stall)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_failure_that_passes_is_tried_again_with_the_whole_body(net: Net, tmp_path: Path, status: int):
    file = tmp_path / "file"
    file.write_bytes(secrets.token_bytes(600_000))
    got: list[bytes] = []

    async def handler(request: web.Request) -> web.Response:
        got.append(await request.read())
        assert request.content_length == 600_000
        assert request.headers["x-amz-content-sha256"] == hash_of(got[-1])
        return web.Response(status=status if len(got) < 3 else 200)

    async with _fake_s3(handler, net) as storage:
        content = file.read_bytes()
        await storage.put(place_of(content), file, hash_of(content))
    assert got == [content] * 3


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (503, "<Error><Code>SlowDown</Code></Error>", StorageFailed, r"answered with status 503 \(SlowDown\)"),
        (500, "not XML", StorageFailed, "answered with status 500"),
        (507, "", StorageFull, "no space left"),
        (400, "<Error><Code>QuotaExceeded</Code></Error>", StorageFull, "no space left"),
        (301, "<Error><Code>PermanentRedirect</Code></Error>", StorageFailed, "it is in another region"),
        (403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", StorageFailed, "the clocks differ too much"),
        (403, f"<Error><Message>{OWNER.secret_key}</Message></Error>", StorageFailed, "answered with status 403"),
    ],
)
async def test_a_refusal_is_said_in_our_words(
    net: Net, status: int, body: str, kind: type[StorageFailed], message: str
):
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=status, text=body)

    async with _fake_s3(handler, net) as storage:
        with pytest.raises(kind, match=message) as caught:
            await put(storage, b"x")
    assert OWNER.secret_key not in caught.value.message


async def test_what_does_not_pass_is_asked_once(net: Net):
    requests: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        requests.append(request.method)
        return web.Response(status=403)

    async with _fake_s3(handler, net) as storage:
        with pytest.raises(StorageFailed):
            await read_all(storage, place_of(b"x"))
    assert requests == ["GET"]


async def test_a_download_that_breaks_off_goes_on_where_it_was(net: Net):
    content = secrets.token_bytes(1_000_000)
    ranges: list[str | None] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        range_header = request.headers.get("range")
        ranges.append(range_header)
        start = int(range_header.removeprefix("bytes=").partition("-")[0]) if range_header else 0
        response = web.StreamResponse(status=206 if range_header else 200)
        response.content_length = len(content) - start
        await response.prepare(request)
        await response.write(content[start : start + 300_000])
        if start + 300_000 < len(content):
            assert request.transport is not None
            request.transport.close()
        return response

    async with _fake_s3(handler, net) as storage:
        assert await read_all(storage, place_of(content)) == content
    assert ranges == [None, "bytes=300000-", "bytes=600000-", "bytes=900000-"]


async def test_a_service_that_knows_no_ranges_is_not_taken_at_its_word(net: Net):
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=b"0123456789")

    async with _fake_s3(handler, net) as storage:
        with pytest.raises(StorageFailed, match="hands out no parts"):
            await read_all(storage, place_of(b"x"), 3, 5)


async def test_an_upload_that_the_service_does_not_take_is_given_up(tmp_path: Path):
    file = tmp_path / "file"
    file.write_bytes(bytes(20_000_000))

    async def handler(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    async with Net() as net, _fake_s3(handler, net, pauses=(), stall=0.3) as storage:
        with pytest.raises(StorageFailed, match="nothing was received for too long"):
            await storage.put(place_of(b"x"), file, hash_of(b"x"))
        with pytest.raises(StorageFailed, match="nothing was received for too long"):
            await read_all(storage, place_of(b"x"))


@pytest.mark.slow
async def test_a_slow_upload_is_no_dead_one(tmp_path: Path):
    file = tmp_path / "file"
    file.touch()
    os.truncate(file, 96_000_000)
    sizes: list[int] = []

    async def handler(request: web.Request) -> web.Response:
        size = 0
        while size < (request.content_length or 0):
            size += len(await request.content.readexactly(1_000_000))
            await asyncio.sleep(0.04)
        sizes.append(size)
        return web.Response()

    # A few pieces are buffered between both ends; that takes a small part of this, also on a busy machine.
    async with Net() as net, _fake_s3(handler, net, pauses=(), stall=3.0) as storage:
        before = asyncio.get_running_loop().time()
        await storage.put(place_of(b"x"), file, hash_of(b"x"))
        seconds = asyncio.get_running_loop().time() - before
    assert sizes == [96_000_000]
    assert seconds > 3.0


def test_the_address_of_a_bucket_says_where_it_is(net: Net):
    storage = S3Storage(Bucket("b-u", "https://s3.example", "x/"), Signer(OWNER, "us-east-1"), net)
    url = urlsplit(_signed_url(storage, "aa/" + "a" * 64 + ".00000000"))
    assert (url.scheme, url.netloc, url.path) == ("https", "s3.example", "/b-u/x/aa/" + "a" * 64 + ".00000000")
