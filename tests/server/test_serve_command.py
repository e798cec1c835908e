"""`footnote serve` as a user starts it: one URL on stdout, hints on stderr, a graceful end."""

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from cli.process import FOREGROUND_PROGRAM, FootnoteProcess, environment, run_footnote
from server.harness import answer_text, parse_events
from upstream import Upstream, hold, reply, say, stop

pytestmark = pytest.mark.slow
TOKEN = "a-token-of-the-test-0123456789"


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    timeout = aiohttp.ClientTimeout(60)
    jar = aiohttp.CookieJar(unsafe=True)  # browsers accept cookies of IP addresses, too
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=jar) as session:
        yield session


async def wait_for_address(process: FootnoteProcess) -> str:
    """The URL that the command prints."""
    assert process.out is not None
    await process.out.wait_for_text("\n")
    return process.out.text.strip()


def base(url: str) -> str:
    return url.partition("/login")[0]


async def test_the_printed_address_logs_in_once_and_the_server_ends_with_zero(
    tmp_path: Path, http: aiohttp.ClientSession
):
    async with FootnoteProcess("serve", "--port", "0", env=environment(tmp_path)) as process:
        url = await wait_for_address(process)
        async with http.get(url) as response:
            page = await response.text()
        async with http.get(f"{base(url)}/v2/auth/me") as response:
            me = await response.json()
        http.cookie_jar.clear()
        async with http.get(url) as response:
            again = response.status
        process.signal(signal.SIGTERM)
        code = await process.exit_code()

    assert (code, again) == (0, 401)
    assert "<title>Footnote</title>" in page
    assert me == {"user_id": "local", "name": "local", "role": "admin", "by": "cookie"}
    assert process.out is not None
    assert process.out.text.count("\n") == 1
    advice, *logged = process.err.text.splitlines()
    assert "Ctrl-C" in advice
    assert [line.split(" ", 2)[1] for line in logged] == ["INFO", "INFO", "INFO"]
    assert f"answers at {base(url)}, with database sqlite:footnote.db, storage local:files, bus local:." in logged[0]
    token = tmp_path / ".footnote" / "token"
    assert token.stat().st_mode & 0o777 == 0o600
    secrets = (url.partition("token=")[2], token.read_text().strip())
    assert not any(secret in process.err.text for secret in secrets)


async def test_an_open_stream_does_not_hold_the_end_up_and_its_run_goes_on_at_the_next_start(
    tmp_path: Path, upstream: Upstream, http: aiohttp.ClientSession
):
    upstream.script(reply(say("One, "), hold(asyncio.Event()), stop()), reply(say("One, two."), stop()))
    env = environment(tmp_path, upstream, FOOTNOTE_TOKEN=TOKEN)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with FootnoteProcess("serve", "--port", "0", env=env) as process:
        url = base(await wait_for_address(process))
        async with http.post(f"{url}/v2/sessions", json={}, headers=headers) as response:
            session = (await response.json())["id"]
        async with http.post(
            f"{url}/v2/sessions/{session}/messages", json={"content": "Count."}, headers=headers
        ) as stream:
            run_id = stream.headers["footnote-run"]
            data = b""
            while b"One, " not in data:
                data += await stream.content.readany()
            process.signal(signal.SIGINT)
            data += await stream.read()  # the stream ends without an error
        assert await process.exit_code() == 0
    assert b"message_stop" not in data

    async with FootnoteProcess("serve", "--port", "0", env=env) as process:
        url = base(await wait_for_address(process))
        last = str(parse_events(data)[-1]["id"])
        resumed = {**headers, "last-event-id": last}
        async with http.get(f"{url}/v2/runs/{run_id}/events", headers=resumed) as stream:
            rest = parse_events(await stream.read())
        process.signal(signal.SIGTERM)
        assert await process.exit_code() == 0
    assert "round_restart" in [one["type"] for one in rest]
    assert (answer_text(rest), rest[-1]["type"]) == ("One, two.", "message_stop")


async def test_a_second_signal_ends_it_at_once(tmp_path: Path):
    async with FootnoteProcess("serve", "--port", "0", env=environment(tmp_path)) as process:
        await wait_for_address(process)
        process.signal(signal.SIGINT)
        process.signal(signal.SIGINT)
        assert await process.exit_code() in (0, 130)


async def test_a_port_that_is_taken_is_named_with_the_way_to_another(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        code, out, err = await run_footnote("serve", "--port", str(port), env=environment(tmp_path))
    assert (code, out) == (2, "")
    assert f"Port {port}" in err
    assert "--port" in err
    assert "server.port" in err


@pytest.mark.parametrize("port", ["x", "-1", "65536"])
async def test_a_port_is_a_number(tmp_path: Path, port: str):
    code, out, err = await run_footnote("serve", f"--port={port}", env=environment(tmp_path))
    assert (code, out) == (2, "")
    assert "a port is a number from 0 to 65535" in err


async def test_an_address_of_another_machine_cannot_be_listened_at(tmp_path: Path):
    code, out, err = await run_footnote("serve", "--host", "192.0.2.1", "--port", "0", env=environment(tmp_path))
    assert (code, out) == (2, "")
    assert "192.0.2.1" in err


async def test_a_server_for_others_that_has_no_accounts_says_how_to_add_them(tmp_path: Path):
    env = environment(tmp_path, FOOTNOTE_SERVER_PORT="0")
    async with FootnoteProcess("serve", "--host", "0.0.0.0", env=env) as process:
        url = await wait_for_address(process)
        await process.err.wait_for_text("footnote users add")
        process.signal(signal.SIGTERM)
        assert await process.exit_code() == 0
    assert re.match(r"http://127\.0\.0\.1:\d+/login\?token=fnl_", url)
    assert process.err.text.count(" WARNING ") == 1


async def test_without_the_packages_of_a_server_it_says_what_to_install(tmp_path: Path):
    program = f"import sys; sys.modules['uvicorn'] = None\n{FOREGROUND_PROGRAM}"
    code, out, err = await run_footnote("serve", "--port", "0", env=environment(tmp_path), program=program)
    assert (code, out) == (2, "")
    assert 'The server needs uvicorn. Install it with: pip install "footnote[server]"' in err


async def test_a_token_that_no_header_can_carry_is_refused_before_anything_listens(tmp_path: Path):
    environ = environment(tmp_path, FOOTNOTE_TOKEN="mật khẩu của tôi")
    code, out, err = await run_footnote("serve", "--port", "0", env=environ)
    assert (code, out) == (2, "")
    assert "FOOTNOTE_TOKEN" in err
    assert "khẩu" not in err


async def test_a_home_that_cannot_be_written_is_refused_instead_of_forgotten(tmp_path: Path):
    (tmp_path / ".footnote").mkdir()
    (tmp_path / ".footnote" / "footnote.db").mkdir()
    environ = environment(tmp_path, FOOTNOTE_TOKEN="a-token-for-the-tests")
    code, out, err = await run_footnote("serve", "--port", "0", env=environ)
    assert (code, out) == (1, "")
    assert "cannot be written (it is a folder)" in err
    assert "FOOTNOTE_HOME" in err
