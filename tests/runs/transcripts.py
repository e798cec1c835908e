"""Turns as they were recorded from the wire. In the folder `tests`,
`PYTHONPATH=../scripts python -m runs.transcripts` records them again."""

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cli.process import with_tool_server
from server.harness import ApiClient, ServerHarness, open_server
from upstream import Upstream, call, cut, parallel_calls, pause, reply, say, stall, status, stop, think, usage
from web import Web
from web.providers import Hit, SearchServer

FOLDER = Path(__file__).parent.parent / "fixtures" / "transcripts"
REPORT = {"file_path": "/báo cáo.md", "content": "# Điện Biên Phủ\n\n1954.\n"}

_VOLATILE = (
    (re.compile(r"\b(session|run|msg|call)_[0-9a-f]{12,}"), r"\1_ID"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"), "TIME"),
    (re.compile(r'("(?:took_ms|tookMs|tokens|milliseconds)":)\d+(?:\.\d+)?'), r"\g<1>0"),
    (re.compile(r'("spent":\{"seconds":)\d+(?:\.\d+)?(?:e-\d+)?'), r"\g<1>0"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
)


def mask_volatile(stream: bytes) -> str:
    """Masks what differs in every run: ids, times, ports."""
    text = stream.decode()
    for pattern, mask in _VOLATILE:
        text = pattern.sub(mask, text)
    return text


async def _ask(client: ApiClient, question: str, **fields: Any) -> bytes:
    session_id = await client.create_session()
    response = await client.request("POST", f"/v2/sessions/{session_id}/messages", {"content": question, **fields})
    assert response.status == 200, response
    return response.body


async def _wait_for_event(server: ServerHarness, text: bytes) -> str:
    """Follows the only run until an event contains the text, and returns its id."""
    [session] = (await server.local.request("GET", "/v2/sessions")).json["sessions"]
    run_id = session["active_run_id"]
    async for piece in server.app.runner.follow(run_id):
        if text in piece:
            break
    return run_id


async def answer(home: Path) -> bytes:
    async with _open_server(home) as (server, upstream):
        upstream.script(reply(usage(12, 5), say("Rayleigh ", "scattering."), stop()))
        return await _ask(server.local, "Why is the sky blue?")


async def thinking_tools_and_files(home: Path) -> bytes:
    async with _open_server(home) as (server, upstream):
        calls = parallel_calls(call("write_file", REPORT, id="c1"), call("read_file", {"file_path": "/no.md"}, id="c2"))
        upstream.script(
            reply(think("Để xem… "), say("Tôi viết báo cáo."), calls, stop("toolUse")),
            reply(say("Xong 🎉."), stop()),
        )
        return await _ask(server.local, "Viết báo cáo", locale="vi")


async def search_with_footnotes(home: Path) -> bytes:
    async with Web() as web:
        hits = [Hit("Oxygen", web.url("/en/Oxygen"), "About oxygen.")]
        async with SearchServer("duckduckgo", hits) as search:
            settings = {
                "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            }
            async with _open_server(home, **settings) as (server, _):
                return await _ask(server.local, "Who coined the name oxygen in 1777?")


async def researched(home: Path) -> bytes:
    """A plan of one item, read for and reported on without a model. How often a budget is told depends on the clock, so
    that it is shown once, and events have no ids."""
    agent = {"id": "researcher", "webSearch": {"enabled": True}, "research": {"questions": 1}}
    (home / ".footnote").mkdir()
    (home / ".footnote" / "agents.json").write_text(json.dumps({"agents": [agent]}))
    async with Web() as web:
        hits = [Hit("Oxygen", web.url("/en/Oxygen"), "About oxygen.")]
        async with SearchServer("duckduckgo", hits) as search:
            settings = {
                "FOOTNOTE_MODELS_DEFAULT": "footnote/reader",
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            }
            async with _open_server(home, **settings) as (server, _):
                stream = await _ask(server.local, "Who coined the name oxygen in 1777?", mode="research")
    frames = [frame.partition(b"\n")[2] for frame in stream.split(b"\n\n")]
    told = [at for at, frame in enumerate(frames) if b"budget_update" in frame]
    return b"\n\n".join(frame for at, frame in enumerate(frames) if at not in told[:-1])


async def cancelled(home: Path) -> bytes:
    async with _open_server(home) as (server, upstream):
        upstream.script(reply(say("So far "), stall()))
        following = asyncio.create_task(_ask(server.local, "Why?"))
        await upstream.wait_received(1)
        run_id = await _wait_for_event(server, b"So far")
        await server.local.request("POST", f"/v2/runs/{run_id}/cancel")
        return await following


async def failed(home: Path) -> bytes:
    async with _open_server(home) as (server, upstream):
        upstream.script(reply(say("It is because"), cut()), status(401))
        return await _ask(server.local, "Why?")


async def restarted(home: Path) -> bytes:
    """The server is stopped in the second round, and started again."""
    async with Upstream() as upstream:
        upstream.script(
            reply(say("I look."), call("list_files", {}, id="c1"), stop("toolUse")),
            reply(say("Half an "), stall()),
            reply(say("A whole "), pause(0.01), say("answer."), stop()),
        )
        async with open_server(home, upstream) as server:
            session_id = await server.local.create_session()
            run_id = await server.local.start_run(session_id)
            async for piece in server.app.runner.follow(run_id):
                if b"Half an" in piece:
                    break
        async with open_server(home, upstream) as server:
            return await server.local.run_events(run_id)


async def allowed(home: Path) -> bytes:
    """A call waits for an approval, and is approved."""
    with_tool_server(home, approval=True)
    async with _open_server(home) as (server, upstream):
        shout = call("mcp__tools__shout", {"text": "Xin chào"}, id="c1")
        upstream.script(reply(shout, stop("toolUse")), reply(say("Done."), stop()))
        following = asyncio.create_task(_ask(server.local, "Shout"))
        await upstream.wait_received(1)
        run_id = await _wait_for_event(server, b"approval_required")
        await server.local.request("POST", f"/v2/runs/{run_id}/approvals/c1", {"decision": "once"})
        return await following


TRANSCRIPTS: dict[str, Callable[[Path], Awaitable[bytes]]] = {
    one.__name__: one
    for one in (
        answer,
        thinking_tools_and_files,
        search_with_footnotes,
        researched,
        cancelled,
        failed,
        restarted,
        allowed,
    )
}


@asynccontextmanager
async def _open_server(home: Path, **settings: str) -> AsyncIterator[tuple[ServerHarness, Upstream]]:
    async with Upstream() as upstream, open_server(home, upstream, **settings) as server:
        yield server, upstream


async def _record() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, play in TRANSCRIPTS.items():
        with tempfile.TemporaryDirectory() as home:
            (FOLDER / f"{name}.sse").write_text(mask_volatile(await play(Path(home))), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_record())
