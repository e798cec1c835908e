"""The shipped proxy settings with the real programs: no response is buffered, and a dead replica loses nothing."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from service_process import free_ports

from deploy.proxies import HAPROXY, HAPROXY_TCP, KINDS, NGINX, Ports, Proxy, ProxyKind, find_program, run_proxy
from deploy.replicas import TOKEN, ProxiedReplica, two_replicas
from footnote.config.settings import LimitSettings
from replicas.fault_injection import ALL
from runs.fold import FoldedTurn, blocks_of_history
from runs.server_process import SECONDS, RunClient
from upstream import Upstream, hold, pause, reply, say, stop

pytestmark = pytest.mark.slow
on_every_proxy = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
on_every_http_proxy = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.speaks_http], ids=lambda kind: kind.name
)
HEADERS = {"authorization": f"Bearer {TOKEN}"}


class ProxiedDeployment:
    """A proxy with two replicas behind it, and a client."""

    def __init__(self, proxy: Proxy, replicas: tuple[ProxiedReplica, ProxiedReplica], client: RunClient) -> None:
        self.proxy = proxy
        self.replicas = replicas
        self.client = client
        self.http = client.http


@asynccontextmanager
async def site_behind(kind: ProxyKind, folder: Path, upstream: Upstream) -> AsyncIterator[ProxiedDeployment]:
    find_program(kind)
    tls, plain = free_ports(2)
    async with two_replicas(folder, upstream, f"https://localhost:{tls}") as replicas:
        ports = Ports(tls, plain, (replicas[0].port, replicas[1].port))
        async with (
            run_proxy(kind, folder, ports) as proxy,
            aiohttp.ClientSession(
                proxy.url,
                headers=HEADERS,
                timeout=aiohttp.ClientTimeout(SECONDS),
                # A connection for each request, because a TCP balancer distributes connections.
                connector=aiohttp.TCPConnector(ssl=proxy.trust, force_close=True),
            ) as http,
        ):
            yield ProxiedDeployment(proxy, replicas, RunClient(http))


async def _owner(site: ProxiedDeployment) -> ProxiedReplica:
    """The replica that executes the only run."""
    async with aiohttp.ClientSession(headers=HEADERS) as http:
        for replica in site.replicas:
            async with http.get(f"http://127.0.0.1:{replica.port}/metrics") as response:
                if "footnote_active_runs 1.0" in await response.text():
                    return replica
    raise AssertionError("no replica carries it on")


def _text(folded: FoldedTurn) -> str:
    return "".join(block["text"] for block in folded.shown["blocks"])


@on_every_proxy
async def test_each_delta_arrives_while_the_next_one_is_not_written_yet(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    words = ["One ", "two ", "three"]
    gates = [asyncio.Event() for _ in words]
    steps = [step for word, gate in zip(words, gates, strict=True) for step in (say(word), hold(gate))]
    upstream.script(reply(*steps, stop()))
    async with site_behind(kind, tmp_path, upstream) as site:
        session = await site.client.session()
        async with site.http.post(f"/v2/sessions/{session}/messages", json={"content": "Count."}) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            data = b""
            for word, gate in zip(words, gates, strict=True):
                # The model continues only after this was received: a buffering proxy would wait for ever.
                while word.encode() not in data:
                    data += await stream.content.readany()
                gate.set()
            data += await stream.read()
    folded = FoldedTurn()
    folded.feed(data.removesuffix(b"\n\n"))
    assert folded.ended
    assert _text(folded) == "One two three"


@on_every_proxy
async def test_a_replica_that_is_killed_is_left_out_and_the_stream_resumes(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    killed = asyncio.Event()
    slowly = [step for number in range(30) for step in (say(f"word{number} "), pause(0.05))]
    upstream.script(lambda _: reply(*slowly, hold(killed), stop()))
    async with site_behind(kind, tmp_path, upstream) as site:
        session = await site.client.session()
        run_id = await site.client.start(session)
        folded = FoldedTurn()
        following = asyncio.create_task(site.client.follow(run_id, folded))
        async with asyncio.timeout(SECONDS):
            while not folded.blocks:
                await asyncio.sleep(0.01)
        owner = await _owner(site)
        await owner.kill()
        killed.set()
        async with asyncio.timeout(SECONDS):
            while not folded.ended:
                await following
                following = asyncio.create_task(site.client.follow(run_id, folded))
            await following
        # Some of these requests go to the dead replica first, and must be retried at the other.
        for _ in range(6):
            await site.client.json("GET", "/v2/auth/me")
            await site.client.session()
        history = await site.client.json("GET", f"/v2/sessions/{session}/history")
        [message_id] = [one["id"] for one in history["messages"] if one["role"] == "assistant"]
        assert blocks_of_history(history, message_id) == folded.shown["blocks"]
        assert _text(folded) == "".join(f"word{number} " for number in range(30))


@pytest.mark.parametrize("kind", [HAPROXY, HAPROXY_TCP] if ALL else [HAPROXY], ids=lambda kind: kind.name)
async def test_the_streams_of_a_replica_that_hangs_are_ended_by_a_proxy_that_asks_for_its_health(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    gate = asyncio.Event()
    upstream.script(lambda _: reply(say("One "), hold(gate), say("two"), stop()))
    async with site_behind(kind, tmp_path, upstream) as site:
        session = await site.client.session()
        run_id = await site.client.start(session)
        folded = FoldedTurn()
        async with asyncio.timeout(SECONDS):
            while not folded.blocks:
                await asyncio.sleep(0.05)
                await _check_run(site, run_id, folded)
        owner = await _owner(site)
        owner.pause()
        gate.set()
        async with asyncio.timeout(2 * SECONDS):
            while not folded.ended:
                await site.client.follow(run_id, folded)
                await asyncio.sleep(0.1)
        assert _text(folded) == "One two"
        assert folded.restarts == 1, "the other replica took the run over"


async def _check_run(site: ProxiedDeployment, run_id: str, folded: FoldedTurn) -> None:
    """The events of a run so far."""
    async with site.http.get(f"/v2/runs/{run_id}/events") as stream:
        folded.feed((await stream.content.readuntil(b"\n\n")).removesuffix(b"\n\n"))
        folded.feed((await stream.content.readuntil(b"\n\n")).removesuffix(b"\n\n"))


@on_every_proxy
async def test_the_largest_upload_passes_and_one_above_is_refused_in_our_words(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    most = LimitSettings().upload_bytes
    async with site_behind(kind, tmp_path, upstream) as site:
        path = f"/v2/sessions/{await site.client.session()}/files"
        responses: list[tuple[int, Any]] = []
        for size in (most, most + 1):
            form = aiohttp.FormData()
            form.add_field("file", BytesIO(b"ID3\x04" + bytes(size - 4)), filename=f"{size}.mp3")
            async with site.http.post(path, data=form) as response:
                responses.append((response.status, await response.json()))
    (accepted, files), (refused, error) = responses
    assert (accepted, [one["filename"] for one in files["files"]]) == (201, [f"{most}.mp3"])
    assert (refused, error["error"]["type"], error["error"]["retryable"]) == (413, "too_large", False)
    assert "larger than 104,857,600 bytes" in error["error"]["message"]


@on_every_http_proxy
async def test_what_nobody_takes_at_once_is_refused_by_the_proxy_in_the_same_form(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    async with site_behind(kind, tmp_path, upstream) as site:
        head = (
            f"POST /v2/bundles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Type: application/zip\r\nContent-Length: 3000000000\r\nConnection: close\r\n\r\n"
        )
        response = await asyncio.to_thread(_raw, site.proxy, head.encode())
    first, _, rest = response.partition(b"\r\n")
    assert first.split()[1] == b"413"
    assert json.loads(rest.partition(b"\r\n\r\n")[2])["error"]["type"] == "too_large"


def _raw(proxy: Proxy, request: bytes) -> bytes:
    port = int(proxy.url.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as plain,
        proxy.trust.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        secure.sendall(request)
        response = b""
        while not response.endswith(b"}"):
            try:
                piece = secure.recv(65536)
            except ssl.SSLEOFError:
                break
            if not piece:
                break
            response += piece
    return response


@on_every_http_proxy
async def test_browsers_get_http_2_for_the_page_and_for_a_stream(kind: ProxyKind, tmp_path: Path, upstream: Upstream):
    gate = asyncio.Event()
    upstream.script(reply(say("One "), hold(gate), say("two"), stop()))
    curl = _curl()
    async with site_behind(kind, tmp_path, upstream) as site:
        certificate = str(site.proxy.certificate)
        page = await asyncio.to_thread(
            subprocess.run,
            [
                curl,
                "-s",
                "--http2",
                "--cacert",
                certificate,
                "-w",
                "\n%{http_version} %{http_code}",
                f"{site.proxy.url}/",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        run_id = await site.client.start(await site.client.session())
        stream = await asyncio.create_subprocess_exec(
            *(curl, "-sN", "--http2", "-i", "--cacert", certificate, "-H", f"Authorization: Bearer {TOKEN}"),
            f"{site.proxy.url}/v2/runs/{run_id}/events",
            stdout=asyncio.subprocess.PIPE,
        )
        assert stream.stdout is not None
        data = b""
        async with asyncio.timeout(SECONDS):
            while b"One " not in data:
                data += await stream.stdout.read(65536)
            gate.set()
            data += await stream.stdout.read()
            assert await stream.wait() == 0
    assert "<title>Footnote</title>" in page.stdout
    assert page.stdout.splitlines()[-1] == "2 200"
    assert data.startswith(b"HTTP/2 200")
    assert b"message_stop" in data


def _curl() -> str:
    found = shutil.which("curl")
    if found is None or "HTTP2" not in subprocess.run([found, "-V"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("there is no curl with HTTP/2 on this machine")
    return found


@on_every_http_proxy
async def test_nobody_can_say_that_they_come_from_elsewhere_and_figures_stay_inside(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    async with site_behind(kind, tmp_path, upstream) as site, aiohttp.ClientSession(site.proxy.url) as stranger:
        statuses: list[int] = []
        # A replica allows 20 attempts from one address; from ever new addresses it would allow all of these.
        for number in range(60):
            made_up = f"203.0.113.{number}"
            headers = {"x-forwarded-for": made_up, "forwarded": f"for={made_up}", "x-real-ip": made_up}
            body = {"token": "fnl_guess"}
            async with stranger.post("/v2/auth/login", json=body, headers=headers, ssl=site.proxy.trust) as response:
                statuses.append(response.status)
        async with stranger.get("/metrics", headers={"host": "127.0.0.1"}, ssl=site.proxy.trust) as response:
            figures = await response.text()
    assert set(statuses) == {401, 429}
    assert "footnote_" not in figures


@pytest.mark.parametrize("kind", [NGINX, HAPROXY], ids=lambda kind: kind.name)
async def test_no_log_of_a_proxy_has_a_token_in_it(kind: ProxyKind, tmp_path: Path, upstream: Upstream):
    async with site_behind(kind, tmp_path, upstream) as site:
        for path in ("/login?token=fnl_secretsecret", "/v2/downloads/secretsecret/report.md"):
            async with site.http.get(path) as response:
                await response.read()
        async with asyncio.timeout(SECONDS):
            while not ("/login" in (text := _logs(tmp_path)) and "/v2/downloads/-" in text):
                await asyncio.sleep(0.1)
    assert "secretsecret" not in _logs(tmp_path)


def _logs(folder: Path) -> str:
    names = ("proxy.txt", "access.log", "error.log")
    return "".join(path.read_text() for path in folder.iterdir() if path.name in names)


@on_every_http_proxy
async def test_without_a_replica_the_proxy_says_so_in_the_form_of_our_errors(
    kind: ProxyKind, tmp_path: Path, upstream: Upstream
):
    async with site_behind(kind, tmp_path, upstream) as site:
        for replica in site.replicas:
            assert await replica.stop() == 0
        async with site.http.post("/v2/sessions", json={}) as response:
            refusal = (response.status, (await response.json())["error"]["type"], response.headers.get("retry-after"))
    assert refusal == (503, "upstream_error", "2")
