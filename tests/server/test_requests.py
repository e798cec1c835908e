"""What holds for requests of every route: methods, bodies, queries, errors, headers."""

import asyncio
import json
from io import BytesIO
from pathlib import Path

import pytest

from footnote.server.limits import MAX_HEADER_BYTES
from footnote.server.responses import SECURITY_HEADERS
from footnote.server.route import MAX_BODY_BYTES, Route, RouteCall
from server.harness import LOCAL_TOKEN, ApiResponse, ServerHarness, open_server

SESSIONS = "/v2/sessions"


def status_and_error(response: ApiResponse) -> tuple[int, str | None]:
    return response.status, response.error


@pytest.mark.parametrize(
    "path", ["/nothing", "/v2/nothing", "/v2/sessions/", "/v2/sessions/a/b/c", "//", "/v2/agents%0A"]
)
async def test_an_unknown_path_is_a_404_in_json(server: ServerHarness, path: str):
    response = await server.local.request("GET", path)
    assert status_and_error(response) == (404, "not_found")
    assert response.headers["content-type"] == "application/json"


async def test_a_wrong_method_is_told_the_right_ones(server: ServerHarness):
    response = await server.local.request("PUT", SESSIONS)
    assert (*status_and_error(response), response.headers["allow"]) == (405, "method_not_allowed", "GET, HEAD, POST")


async def test_who_is_nobody_does_not_even_learn_the_methods(server: ServerHarness):
    response = await server.request("PUT", SESSIONS)
    assert (*status_and_error(response), response.headers["www-authenticate"]) == (401, "not_logged_in", "Bearer")


async def test_a_head_is_a_get_without_its_body(server: ServerHarness):
    whole, head = await server.local.request("GET", "/v2/agents"), await server.local.request("HEAD", "/v2/agents")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.body))


async def test_a_head_of_a_stream_ends_at_once(server: ServerHarness):
    events = await server.local.ask_for_events(await server.local.create_session())
    head = await server.local.request("HEAD", f"/v2/runs/{events[0]['message']['run_id']}/events")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_a_body_that_is_too_large_is_refused_by_its_length(server: ServerHarness):
    response = await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=BytesIO(b" " * (MAX_BODY_BYTES + 1)))
    assert status_and_error(response) == (413, "too_large")


async def test_a_body_of_unknown_length_is_counted_while_it_comes(server: ServerHarness):
    reader, writer = await _connect(server)
    head = f"POST {SESSIONS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {LOCAL_TOKEN}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    piece = b" " * 65536
    for _ in range(MAX_BODY_BYTES // len(piece) + 2):
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    assert (await reader.readline()).startswith(b"HTTP/1.1 413")
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_body_that_is_not_json_is_refused(server: ServerHarness, kind: str):
    response = await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=b"{}", content_type=kind)
    assert status_and_error(response) == (415, "unsupported_media_type")


async def test_a_body_may_say_its_charset(server: ServerHarness):
    response = await server.request(
        "POST", SESSIONS, token=LOCAL_TOKEN, data=b"{}", content_type="Application/JSON; charset=utf-8"
    )
    assert response.status == 201


BODIES = {
    "no JSON": b"{",
    "nothing": b" ",
    "two values": b"{} {}",
    "another type": b"[]",
    "a number for a text": b'{"title": 5}',
    "a key that is not known": b'{"titel": "x"}',
    "a text that is too long": json.dumps({"title": "x" * 201}).encode(),
    "an empty text": b'{"title": ""}',
    "no UTF-8": b'{"title": "\xff"}',
    "no UTF-8 where nobody looks": b'{"\xff": 1}',
    "half a character": b'{"title": "\\ud800"}',
    "a NUL": b'{"title": "a\\u0000b"}',
    "not a number": b'{"title": NaN}',
    "too deep": b'{"title": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
async def test_a_body_that_cannot_be_used_is_a_400_with_a_sentence(server: ServerHarness, body: bytes):
    response = await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=body)
    assert status_and_error(response) == (400, "invalid_request")
    assert response.json["error"]["message"].endswith(".")
    assert response.json["error"]["retryable"] is False


async def test_an_escaped_backslash_before_u0000_is_no_nul(server: ServerHarness):
    response = await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=rb'{"title": "a\\u0000b"}')
    assert (response.status, response.json["title"]) == (201, r"a\u0000b")


async def test_a_body_of_defaults_may_be_left_out(server: ServerHarness):
    response = await server.request("POST", SESSIONS, token=LOCAL_TOKEN)
    assert (response.status, response.json["agent_id"]) == (201, "researcher")


@pytest.mark.parametrize(
    "query",
    ["?limit=0", "?limit=101", "?limit=x", "?limit=5&limit=5", "?what=1", "?query=%00", "?query=%ff", "?cursor=x"],
)
async def test_a_query_that_cannot_be_used_is_a_400(server: ServerHarness, query: str):
    assert status_and_error(await server.local.request("GET", SESSIONS + query)) == (400, "invalid_request")


async def test_a_query_may_hold_any_text(server: ServerHarness):
    assert (await server.local.request("GET", SESSIONS + "?query=%C3%A9%E2%80%A8null&limit=5")).status == 200


@pytest.mark.parametrize("path", ["/v2/sessions/%00", "/v2/runs/a%00b/events"])
async def test_a_nul_in_an_address_is_a_400(server: ServerHarness, path: str):
    assert status_and_error(await server.local.request("GET", path)) == (400, "invalid_request")


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "9" * 5000])
async def test_a_footnote_has_a_number(server: ServerHarness, number: str):
    session_id = await server.local.create_session()
    assert status_and_error(await server.local.request("GET", f"/v2/sessions/{session_id}/sources/{number}")) == (
        404,
        "not_found",
    )


async def test_every_answer_is_safe_in_a_browser(server: ServerHarness):
    events = await server.local.ask_for_events(await server.local.create_session())
    await server.local.request("GET", f"/v2/runs/{events[0]['message']['run_id']}/events")
    for path in ("/", "/static/login.css", "/nothing", "/login?token=x", "/metrics", "/openapi.json"):
        await server.request("GET", path)
    await server.request("GET", SESSIONS)
    await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=b"{")
    expected = {name.decode(): value.decode() for name, value in SECURITY_HEADERS}
    for response in server.responses:
        assert {name: response.headers.get(name) for name in expected} == expected
        assert "server" not in response.headers
        assert response.headers["cache-control"] in ("no-store", "no-cache", "public, max-age=300")


async def _fail(_: RouteCall) -> None:
    raise RuntimeError("secret of the inside")


async def test_a_failure_of_ours_tells_nothing_but_where_it_is_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    broken = Route("GET", "/v2/broken", _fail, "Fails")
    async with open_server(tmp_path, routes=(broken,)) as server:
        response = await server.local.request("GET", "/v2/broken")

    assert status_and_error(response) == (500, "internal_error")
    assert b"secret" not in response.body
    assert b"Traceback" not in response.body
    (record,) = [record for record in caplog.records if record.name == "footnote.server.errors"]
    assert record.getMessage().split()[2] in response.json["error"]["message"]


async def test_a_request_that_is_no_http_does_not_end_the_server(server: ServerHarness):
    reader, writer = await _connect(server)
    writer.write(b"\x16\x03\x01 hello\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 400")
    writer.close()
    await writer.wait_closed()
    assert (await server.request("GET", "/healthz")).json == {"status": "ok"}


@pytest.mark.parametrize("head", [b"GET /", b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: ", b"GET / HTTP/1.1\r\nHost: a\r\n"])
async def test_a_head_that_does_not_end_is_refused(server: ServerHarness, head: bytes):
    reader, writer = await _connect(server)
    writer.write(head)
    more = b"X-One-More: 12\r\n" if head.endswith(b"\n") else b"x" * 16
    writer.write(more * (MAX_HEADER_BYTES // len(more)))
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    writer.transport.abort()
    assert (await server.request("GET", "/healthz")).status == 200


async def test_a_large_body_that_comes_with_its_head_is_no_large_head(server: ServerHarness):
    body = b'{"title": "x"}' + b" " * 500_000
    assert (await server.request("POST", SESSIONS, token=LOCAL_TOKEN, data=body)).status == 201


async def _connect(server: ServerHarness) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))
