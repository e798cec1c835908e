"""Malformed and hostile uploads: nothing is stored, other clients do not wait, and the client learns the reason."""

import asyncio
import secrets
import tracemalloc
from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from footnote.protocol.errors import TooLarge, UsageError
from footnote.server.requests import RequestBody
from responsive import responsive
from server.forms import BOUNDARY, CONTENT_TYPE, END, form, part, upload_files
from server.harness import LOCAL_TOKEN, ServerHarness, open_server
from workspace.hostile import HOSTILE_NAMES

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """The folder of unfinished uploads."""
    return tmp_path / ".footnote" / "spool"


async def _begin_upload(server: ServerHarness, session_id: str, *headers: str) -> Connection:
    """Sends the head of an upload, and none of its body."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = (
        f"POST /v2/sessions/{session_id}/files HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {LOCAL_TOKEN}",
        f"Content-Type: {CONTENT_TYPE}",
        *headers,
    )
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    await writer.drain()
    return reader, writer


async def _end(writer: asyncio.StreamWriter) -> None:
    writer.close()
    await writer.wait_closed()


async def _names(server: ServerHarness, session_id: str) -> list[str]:
    listed = await server.local.request("GET", f"/v2/sessions/{session_id}/files")
    return sorted(one["filename"] for one in listed.json["files"])


async def _wait_until_empty(server: ServerHarness, folder: Path) -> None:
    async with asyncio.timeout(30):
        while list(folder.glob("*")):
            await asyncio.sleep(0.01)
    assert (await server.request("GET", "/healthz")).status == 200


@pytest.mark.slow
async def test_no_name_of_an_upload_leads_anywhere(server: ServerHarness, tmp_path: Path):
    before = sorted(tmp_path.rglob("*"))
    session_id = await server.local.create_session()
    names = [name for name in HOSTILE_NAMES if name][::3]
    for at in range(0, len(names), 20):
        response = await upload_files(
            server.local,
            session_id,
            *((f"{name}{at + n}.txt", b"%d" % (at + n)) for n, name in enumerate(names[at : at + 20])),
        )
        assert response.status == 201, response
    listed = (await server.local.request("GET", f"/v2/sessions/{session_id}/files")).json["files"]
    assert len(listed) == len(names)
    for one in listed:
        key = f"uploads/local/{one['id']}/{one['filename']}"
        assert (unquote(one["url"]), one["path"]) == (key, f"{server.app.storage.address}{key}")
        assert not {"?", "#"} & set(one["url"])
        assert not {"/", "\\", "\0", "\n", "\r"} & set(one["filename"])
        assert one["filename"].strip(". ")
    added = [path for path in sorted(tmp_path.rglob("*")) if path not in before and path.is_file()]
    assert {path.parent for path in added} <= {tmp_path / ".footnote"}


BROKEN = {
    "nothing": (b"", 400),
    "another boundary": (form(("a.txt", b"a")).replace(BOUNDARY.encode(), b"another"), 400),
    "no end": (part("a.txt", b"a"), 400),
    "an endless head": (f"--{BOUNDARY}\r\nX: ".encode() + b"x" * 300_000, 400),
    "endless heads": (f"--{BOUNDARY}\r\n".encode() + b"X: y\r\n" * 50_000, 400),
    "ten thousand parts": (b"".join(part(None, b"") for _ in range(10_000)) + END, 413),
    "ten thousand files": (form(*((f"{number}.txt", b"") for number in range(10_000))), 413),
}


@pytest.mark.parametrize(("body", "status"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_form_is_refused_and_leaves_nothing(
    server: ServerHarness, spool: Path, body: bytes, status: int
):
    session_id = await server.local.create_session()
    reader, writer = await _begin_upload(server, session_id, f"Content-Length: {len(body)}")
    writer.write(body)
    assert (await reader.readline()).startswith(b"HTTP/1.1 %d" % status)
    await _end(writer)
    await _wait_until_empty(server, spool)


@pytest.mark.parametrize(
    "kind", ["", "multipart/form-data", "application/json", "text/plain; boundary=x", "multipart/mixed; boundary=x"]
)
async def test_what_does_not_say_to_be_a_form_is_refused(server: ServerHarness, kind: str):
    session_id = await server.local.create_session()
    response = await server.request(
        "POST", f"/v2/sessions/{session_id}/files", token=LOCAL_TOKEN, data=form(("a.txt", b"a")), content_type=kind
    )
    assert response.status == (400 if kind == "multipart/form-data" else 415)


async def test_a_client_that_goes_in_the_middle_leaves_nothing(server: ServerHarness, spool: Path):
    session_id = await server.local.create_session()
    _, writer = await _begin_upload(server, session_id, "Content-Length: 10000000")
    writer.write(part("a.txt", b"whole") + part("b.txt", b"x" * 500_000)[:-2])
    await writer.drain()
    async with asyncio.timeout(30):
        while await _names(server, session_id) != ["a.txt"] or not list(spool.iterdir()):
            await asyncio.sleep(0.01)
    await _end(writer)
    await _wait_until_empty(server, spool)
    assert await _names(server, session_id) == ["a.txt"]


async def test_a_length_that_is_too_small_cuts_the_form(server: ServerHarness, spool: Path):
    session_id = await server.local.create_session()
    body = form(("a.txt", b"a" * 1000))
    reader, writer = await _begin_upload(server, session_id, "Content-Length: 500")
    writer.write(body)
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    await _end(writer)
    await _wait_until_empty(server, spool)
    assert await _names(server, session_id) == []


async def test_a_length_that_is_too_large_is_no_reason_to_wait_for_more(server: ServerHarness):
    session_id = await server.local.create_session()
    reader, writer = await _begin_upload(server, session_id, "Content-Length: 1000000")
    writer.write(form(("a.txt", b"a")))
    await writer.drain()
    async with asyncio.timeout(30):
        while await _names(server, session_id) != ["a.txt"]:
            await asyncio.sleep(0.01)
    await _end(writer)
    assert reader.at_eof() or await reader.read() == b""


async def test_more_than_may_come_is_refused_by_its_length_before_any_of_it_is_read(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_LIMITS_UPLOAD_BYTES="1000") as server:
        session_id = await server.local.create_session()
        reader, writer = await _begin_upload(server, session_id, "Content-Length: 999999999", "Expect: 100-continue")
        assert (await reader.readline()).startswith(b"HTTP/1.1 413")
        await _end(writer)


@pytest.mark.parametrize("chunked", [True, False])
async def test_who_sends_too_much_can_read_why_although_they_send_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, chunked: bool
):
    # Raised, because a busy machine may pause in the middle of it.
    monkeypatch.setattr("footnote.server.requests.LINGER_SILENCE_SECONDS", 30)
    async with open_server(tmp_path, FOOTNOTE_LIMITS_UPLOAD_BYTES="100000") as server:
        session_id = await server.local.create_session()
        piece = b"x" * 65_536
        body = part("a.txt", piece * 150)
        how = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
        reader, writer = await _begin_upload(server, session_id, how)
        for at in range(0, len(body), 65_536):
            one = body[at : at + 65_536]
            writer.write(b"%x\r\n%b\r\n" % (len(one), one) if chunked else one)
            await writer.drain()
        writer.write(b"0\r\n\r\n" if chunked else b"")
        response = await reader.read()
        await _end(writer)
        assert response.startswith(b"HTTP/1.1 413")
        assert b"connection: close" in response
        assert b"larger than" in response
        assert await _names(server, session_id) == []


@pytest.mark.slow
async def test_a_large_upload_is_never_whole_in_memory_and_nobody_waits_for_it(server: ServerHarness, spool: Path):
    session_id = await server.local.create_session()
    size = 60_000_000
    block = secrets.token_hex(32_768).encode()
    head = part("large.txt", b"")[:-2]
    reader, writer = await _begin_upload(server, session_id, f"Content-Length: {len(head) + size + 2 + len(END)}")
    async with responsive():
        tracemalloc.start()
        writer.write(head)
        for at in range(0, size, len(block)):
            writer.write(block[: min(len(block), size - at)])
            await writer.drain()
        writer.write(b"\r\n" + END)
        assert (await reader.readline()).startswith(b"HTTP/1.1 201")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    await _end(writer)

    assert peak < 8_000_000
    assert await _names(server, session_id) == ["large.txt"]
    await _wait_until_empty(server, spool)


async def test_a_connection_is_used_again_after_an_upload(server: ServerHarness):
    session_id = await server.local.create_session()
    body = form(("a.txt", b"a"))
    reader, writer = await _begin_upload(server, session_id, f"Content-Length: {len(body)}")
    writer.write(body)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 201")
    assert b"connection: close" not in head
    await _end(writer)


# Chunked bodies -------------------------------------------------------------------------------------------


def _make_incoming(*messages: Message, stall: float = 5.0, **headers: str) -> RequestBody:
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return RequestBody(receive, Headers({"transfer-encoding": "chunked", **headers}), stall=stall)


def _piece(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_is_handed_on_as_it_comes():
    incoming = _make_incoming(_piece(b"a"), _piece(b""), _piece(b"b", more=False))
    assert [piece async for piece in incoming.with_limit(2)] == [b"a", b"", b"b"]
    assert incoming.is_done


async def test_a_body_that_stalls_is_given_up():
    incoming = _make_incoming(_piece(b"a"), stall=0.05).with_limit(10)
    assert await anext(incoming) == b"a"
    with pytest.raises(UsageError, match=r"Nothing of the body came for 0\.05 seconds"):
        await anext(incoming)


async def test_a_body_that_is_too_large_stays_so():
    incoming = _make_incoming(_piece(b"abc", more=False), _piece(b"d")).with_limit(2)
    for _ in range(2):
        with pytest.raises(TooLarge):
            await anext(incoming)
    assert not incoming.is_done


async def test_a_body_says_itself_that_it_is_too_large():
    incoming = _make_incoming(**{"content-length": "11"})
    with pytest.raises(TooLarge):
        incoming.with_limit(10)
    assert incoming.with_limit(11) is incoming


async def test_a_client_that_goes_ends_the_body():
    incoming = _make_incoming(_piece(b"a"), {"type": "http.disconnect"}).with_limit(10)
    assert await anext(incoming) == b"a"
    with pytest.raises(UsageError, match="ended before its body did"):
        await anext(incoming)


async def test_a_request_without_a_body_has_nothing_to_read():
    async def never() -> Message:
        raise AssertionError

    assert [piece async for piece in RequestBody(never, Headers({})).with_limit(1)] == []
