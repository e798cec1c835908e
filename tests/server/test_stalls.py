"""No request blocks the event loop for long."""

import asyncio
import hashlib
import io
import json
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from cli.process import FootnoteProcess, environment
from footnote.server.routes import ALL_ROUTES
from server.largest_requests import LargeRequest, as_json, large_addresses, large_bodies, large_forms
from upstream import Upstream, call, reply, say, stop, think
from web import Web

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what a machine takes from a process is told by Linux"),
]
MAX_STALL_SECONDS = 0.1
"""The longest CPU time of the loop's own thread at a stretch."""
MAX_LOCK_SECONDS = 0.25
"""The longest wait for another thread that holds the interpreter's lock, such as one that decodes a text of 50 MB. A
busy machine makes it longer."""
SECONDS = 300
TOKEN = "a-token-of-the-test-0123456789"
PROBE = Path(__file__).with_name("loop_probe.py")
PROGRAM = f"import runpy, sys; runpy.run_path({str(PROBE)!r}, run_name='__main__')"
NAMED = {"session_id": "none", "message_id": "none", "run_id": "none", "user_id": "none", "token_id": "none"}
NAMED |= {"number:int": "1", "token": "none", "filename": "none", "domain": "none", "path:path": "none"}


@dataclass
class WatchedServer:
    """A server in a process of its own with a probe in its event loop, and another client that polls it all the
    time."""

    url: str
    http: aiohttp.ClientSession
    upstream: Upstream
    file: Path
    stalls: list[str] = field(default_factory=list[str])

    async def ask(self, large: LargeRequest) -> bytes:
        """The body of the response. A stall during it is recorded under the name of the request."""
        before = self._lines()
        headers = {} if large.data is None else {"content-type": large.content_type}
        data = None if large.data is None else io.BytesIO(large.data)
        address = self.url + large.path
        async with self.http.request(large.method, address, data=data, headers=headers) as response:
            body = await response.read()
        assert response.status < 500, (large.name, response.status, body[:1000])
        for line in self._lines()[len(before) :]:
            stall = json.loads(line)
            if stall["computed"] > MAX_STALL_SECONDS or stall["seconds"] > MAX_LOCK_SECONDS:
                self.stalls.append(f"{large.method} {large.path[:80]}, {large.name}: {line}")
        return body

    async def ask_all(self, requests: Iterable[LargeRequest]) -> None:
        for large in requests:
            await self.ask(large)

    async def call(self, method: str, path: str, value: Any = None) -> Any:
        body = await self.ask(LargeRequest("", method, path, None if value is None else as_json(value)))
        return json.loads(body) if body else None

    async def session(self) -> str:
        return (await self.call("POST", "/v2/sessions", {}))["id"]

    def _lines(self) -> list[str]:
        return self.file.read_text().splitlines()


@asynccontextmanager
async def watch_server(home: Path, upstream: Upstream, **more: str) -> AsyncIterator[WatchedServer]:
    """Fails if the loop was blocked, or if a request of the other client failed."""
    file = home / "stalls"
    file.touch()
    limits = {f"FOOTNOTE_LIMITS_{name}": "1000000" for name in ("RUNS_PER_USER", "REQUESTS_PER_MINUTE")}
    env = environment(home, upstream, FOOTNOTE_TOKEN=TOKEN, LOOP_PROBE=str(file), **limits, **more)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        FootnoteProcess("serve", "--port", "0", env=env, program=PROGRAM) as process,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(SECONDS), headers=headers) as http,
    ):
        assert process.out is not None
        await process.out.wait_for_text("\n")
        url = process.out.text.strip().partition("/login")[0]
        server = WatchedServer(url, http, upstream, file)
        polling = asyncio.create_task(_poll_health(server))
        try:
            yield server
        finally:
            polling.cancel()
        assert (await asyncio.gather(polling, return_exceptions=True))[0].__class__ is asyncio.CancelledError
    assert not server.stalls, "\n".join(server.stalls)


async def _poll_health(server: WatchedServer) -> None:
    while True:
        async with server.http.get(f"{server.url}/healthz") as response:
            assert response.status == 200
        await asyncio.sleep(0.005)


def test_bodies_that_are_not_json_are_asked_of_every_route_that_takes_them():
    assert {route.path for route in ALL_ROUTES if route.raw_media_type} == {
        "/v2/sessions/{session_id}/files",
        "/v2/bundles",
    }


async def test_no_address_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    async with watch_server(tmp_path, upstream) as server:
        for route in ALL_ROUTES:
            await server.ask_all(large_addresses(route, {**NAMED, "session_id": await server.session()}))


async def test_no_body_of_json_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Because."), stop()))
    async with watch_server(tmp_path, upstream) as server:
        for route in ALL_ROUTES:
            if route.body is not None:
                await server.ask_all(large_bodies(route, {**NAMED, "session_id": await server.session()}))


def questions() -> dict[str, str]:
    return {
        "words": "abcd efg " * 110_000,
        "words that are all different": " ".join(map(str, range(140_000))),
        "Chinese": "中文" * 490_000,
        "marks": "e\u0301" * 490_000,
        "numbers": "1," * 490_000,
        "lines": "\n" * 989_999 + "x",
        "spaces": "x" + " " * 989_000 + "y",
        "footnotes": "So [1]. " * 120_000,
    }


async def test_no_question_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Because."), stop()))
    async with watch_server(tmp_path, upstream) as server:
        for name, text in questions().items():
            path = f"/v2/sessions/{await server.session()}"
            question = text.encode()[:3_900_000].decode(errors="ignore")
            body = await server.ask(LargeRequest(name, "POST", f"{path}/messages", as_utf8(question)))
            message = body.partition(b'"message":{"id":"')[2].partition(b'"')[0].decode()
            await server.ask(LargeRequest(name, "POST", f"{path}/messages/{message}/edit", as_utf8(question)))
            await server.ask(LargeRequest(name, "POST", f"{path}/messages/{message}/retry", b"{}"))
            await server.ask_all(readings(path, name))
        await server.ask_all(LargeRequest("search", "GET", f"/v2/sessions?query={quote(word)}") for word in SEARCHED)


SEARCHED = ("abcd", "abc", "文", "中文", "nowhere", "1", "e", "abcd efg " * 100)


def as_utf8(question: str) -> bytes:
    return json.dumps({"content": question}, ensure_ascii=False).encode()


def readings(session: str, name: str) -> Iterable[LargeRequest]:
    return (LargeRequest(name, "GET", f"{session}/{rest}") for rest in ("history", "history?turns=true", "export"))


def checked_texts(url: str) -> dict[str, str]:
    report = "".join(f"The bridge of town {one} opened in {1500 + one} ({url}/en/Oxygen). " for one in range(3_000))
    return {
        "a report": report,
        "many links": "".join(f"Town {one} is old ({url}/404?{one}). " for one in range(6_000)),
        "references": "".join(f"It is old [{one}]. " for one in range(6_000))
        + "\n\n## References\n"
        + "1. A\n" * 9_000,
        "brackets": "[" * 299_000,
        "one link again and again": f"[a]({url}/en/Oxygen)" * 7_000,
        "Chinese": f"它很旧，见{url}/zh/页。" * 6_000,
    }


async def test_no_check_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    hosts = "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS"
    async with (
        Web() as web,
        watch_server(tmp_path, upstream, **{hosts: f'["{web.host}"]', "FOOTNOTE_CITATIONS_MODEL": "off"}) as server,
    ):
        for name, text in checked_texts(web.url("")).items():
            body = await server.ask(LargeRequest(name, "POST", "/v2/checks", as_json({"text": text[:299_999]})))
            started = json.loads(body)
            events = await server.ask(LargeRequest(name, "GET", f"/v2/runs/{started['run_id']}/events"))
            assert events.endswith(b'"type":"message_stop"}\n\n')
            session = f"/v2/sessions/{started['session_id']}"
            await server.ask_all(readings(session, name))
            await server.ask(LargeRequest(name, "GET", f"{session}/files/citations?file_path=/checked.md"))


JUDGED = {
    "statements": "".join(f"The bridge of town {one} opened in {1500 + one % 500} [1]. " for one in range(20_000)),
    "paragraphs": "".join(f"Oxygen was isolated in {1500 + one % 500} by Scheele [1].\n\n" for one in range(20_000)),
    "footnotes": "So [1]. " * 120_000,
    "one sentence": "word and " * 32_000 + "[1].",
    "a table": "| a | b |\n|---|---|\n" + "| The bridge opened in 1931 | it is old [1] |\n" * 20_000,
    "links": "It is so [1]. "
    + "".join(f"It is old, see [facts](https://example.org/{one}) (source: A, B). " for one in range(12_000)),
    "brackets": "It is so [1]. " + "(source: [" * 90_000,
    "Chinese": "这座桥于1931年通车[1]。" * 60_000,
}


async def test_no_judging_of_a_long_file_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    hosts = "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS"
    async with (
        Web() as web,
        watch_server(tmp_path, upstream, **{hosts: f'["{web.host}"]', "FOOTNOTE_CITATIONS_MODEL": "off"}) as server,
    ):
        text = f"Oxygen was isolated by Scheele ({web.url('/en/Oxygen')})."
        started = await server.call("POST", "/v2/checks", {"text": text})
        await server.ask(LargeRequest("check", "GET", f"/v2/runs/{started['run_id']}/events"))
        path = f"/v2/sessions/{started['session_id']}/files"
        for number, (name, content) in enumerate(JUDGED.items()):
            edit = {"file_path": f"/{number}.md", "content": content, "base_hash": None}
            await server.ask(LargeRequest(name, "PUT", f"{path}/content", as_json(edit)))
            body = await server.ask(LargeRequest(name, "GET", f"{path}/citations?file_path=/{number}.md"))
            assert json.loads(body)["citations"], name
            # An edit judges what has changed.
            base = hashlib.sha256(content.encode()).hexdigest()
            edit = {"file_path": f"/{number}.md", "content": f"It is new [1].\n\n{content}", "base_hash": base}
            await server.ask(LargeRequest(name, "PUT", f"{path}/content", as_json(edit)))
            await server.ask(LargeRequest(name, "GET", f"{path}/citations?file_path=/{number}.md"))


def answers() -> dict[str, Any]:
    return {
        "words": say("word and " * 890_000),
        "words that are all different": say(" ".join(map(str, range(1_000_000)))),
        "many pieces": say(*["word and " * 110] * 8_000),
        "a list": say("- an item here\n" * 530_000),
        "brackets": say("[" * 8_000_000),
        "footnotes": say("It is so [1]. " * 550_000),
        "quotations": say('He said "so. So" then [1]. ' * 300_000),
        "Chinese": say("中文" * 1_300_000),
        "thoughts": think("word and " * 890_000),
    }


async def test_no_answer_of_a_model_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    known = answers()
    sample = list(known.values())[:1]
    upstream.script(lambda _: reply(sample[-1], stop()))
    async with watch_server(tmp_path, upstream) as server:
        for name, answer in known.items():
            sample.append(answer)
            path = f"/v2/sessions/{await server.session()}"
            body = await server.ask(LargeRequest(name, "POST", f"{path}/messages", as_json({"content": "Why?"})))
            run = body.partition(b'"run_id":"')[2].partition(b'"')[0].decode()
            assert body.endswith(b'"type":"message_stop"}\n\n')
            await server.ask_all(readings(path, name))
            await server.ask(LargeRequest(name, "GET", f"/v2/runs/{run}/events"))
            sample.append(say("Because."))
            await server.ask(LargeRequest(name, "POST", f"{path}/messages", as_json({"content": "And?"})))
        question = {"model": "researcher", "max_tokens": 9, "messages": [{"role": "user", "content": "Why?"}]}
        for name in ("many pieces", "footnotes"):
            sample.append(known[name])
            await server.ask(LargeRequest(name, "POST", "/v1/messages", as_json({**question, "stream": True})))
            await server.ask(LargeRequest(name, "POST", "/v1/chat/completions", as_json(question)))
        await server.ask_all(LargeRequest("search", "GET", f"/v2/sessions?query={quote(word)}") for word in SEARCHED)


LONG = "word and \n" * 700_000
CALLS = {
    "a long file": call("write_file", {"file_path": "/a.txt", "content": LONG}),
    "a file as long as a call may be": call("write_file", {"file_path": "/a.txt", "content": LONG[:1_700_000]}),
    "a tool that there is not": call("no_tool", {"content": LONG[:1_700_000]}),
    "parameters that there are not": call("write_file", {f"k{number}": 0 for number in range(120_000)}),
    "lines of a long file": call("read_file", {"file_path": "/ends.txt", "offset": 10_000_000}),
    "words of long files": call("search_files", {"query": "nowhere"}),
    "an edit that finds nothing": call("edit_file", {"file_path": "/a.md", "old_string": "No such", "new_string": ""}),
    "an edit everywhere": call(
        "edit_file", {"file_path": "/a.md", "old_string": "a", "new_string": "b", "replace_all": True}
    ),
}


async def test_no_call_of_a_tool_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    calls: list[Any] = []
    upstream.script(lambda _: reply(calls.pop(), stop("toolUse")) if calls else reply(say("Done."), stop()))
    async with watch_server(tmp_path, upstream) as server:
        for name, arguments in CALLS.items():
            path = f"/v2/sessions/{await server.session()}"
            for file, content in (("/ends.txt", "\n" * 19_000_000), ("/a.md", FILES["/large.md"][0])):
                edit = {"file_path": file, "content": content, "base_hash": None}
                await server.ask(LargeRequest(name, "PUT", f"{path}/files/content", as_json(edit)))
            calls.append(arguments)
            body = await server.ask(LargeRequest(name, "POST", f"{path}/messages", as_json({"content": "Go on."})))
            assert b'"type":"tool_result"' in body
            await server.ask_all(readings(path, name))
            await server.ask(LargeRequest(name, "DELETE", path))


async def test_no_conversation_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Because."), stop()))
    turn = [{"role": "user", "content": "And what of it?"}, {"role": "assistant", "content": "Some words."}]
    last = [{"role": "user", "content": "Why?"}]
    conversations = {
        "10,000 messages": [*turn * 4_999, *last],
        "100,000 messages": [*turn * 50_000, *last],
        "100,000 messages of one side": [turn[0]] * 60_000,
        "one long message": [{"role": "user", "content": "word and " * 800_000}, turn[1], *last],
        "parts": [{"role": "user", "content": [{"type": "text", "text": "a"}] * 220_000}],
        "long thoughts": [*last, {"role": "assistant", "content": [{"type": "thinking"}] * 300_000}, *last],
    }
    async with watch_server(tmp_path, upstream) as server:
        for path in ("/v1/messages", "/v1/chat/completions"):
            for name, messages in conversations.items():
                body = {"model": "researcher", "max_tokens": 9, "messages": messages}
                await server.ask(LargeRequest(name, "POST", path, as_json(body)))
        found = (await server.call("GET", "/v2/sessions?origin=api"))["sessions"]
        for session in found:
            await server.ask_all(readings(f"/v2/sessions/{session['id']}", "a long conversation"))
        bundle = await server.ask(LargeRequest("export", "GET", f"/v2/sessions/{found[-1]['id']}/export"))
        await server.ask(LargeRequest("import", "POST", "/v2/bundles", bundle, "application/zip"))
        await server.ask(LargeRequest("no bundle", "POST", "/v2/bundles", bytes(30_000_000), "application/zip"))
        await server.ask(LargeRequest("delete", "DELETE", f"/v2/sessions/{found[-1]['id']}"))


LINES = "".join(f"line {number} of the file, with some words\n" for number in range(20_000))
FILES = {
    "/large.md": ("alpha beta gamma\nx = y + 1\n\n" * 680_000, "alpha beta delta\nx = y + 1\n\n" * 680_000),
    "/signs.txt": ("\u20ac" * 6_600_000, "\u20ac" * 6_000_000),
    "/ends.txt": ("\n" * 19_000_000, "\r" * 19_000_000),
    "/lines.md": (LINES, LINES.replace("1", "2")),
    "/some.md": (LINES[:300_000], LINES[:250_000]),
    "/table.csv": ("a,b,c,d\n" * 2_000_000, "1,2,3,4\n" * 2_000_000),
    "/wide.csv": ((",".join("x" * 200_000) + "\n") * 40, "x"),
    "/page.html": ("<p>hello</p>" * 1_500_000, "<p>hello"),
    "/data.json": ("[" * 9_000_000 + "]" * 9_000_000, "[0" + ",0" * 9_000_000 + "]"),
}


async def test_no_file_holds_up_the_event_loop(tmp_path: Path, upstream: Upstream):
    async with watch_server(tmp_path, upstream) as server:
        session = f"/v2/sessions/{await server.session()}"
        path = f"{session}/files"
        await server.ask_all(large_forms(path))
        for name, (older, newer) in FILES.items():
            base = None
            for content in (older, newer):
                edit = {"file_path": name, "content": content, "base_hash": base}
                await server.ask(LargeRequest(name, "PUT", f"{path}/content", as_json(edit)))
                base = hashlib.sha256(content.encode()).hexdigest()
        for name in (*FILES, "large.txt"):
            for what in ("content", "versions", "diff", "versions/diff", "table", "text", "frame", "raw"):
                await server.ask(LargeRequest(name, "GET", f"{path}/{what}?file_path={quote(name, safe='')}"))
            if name in ("/some.md", "/large.md", "/table.csv"):
                for kind in ("md", "docx", "pdf"):
                    body = {"file_path": name, "convert_type": kind}
                    await server.ask(LargeRequest(name, "POST", f"{path}/convert", as_json(body)))
            restore = {"file_path": name, "version": 1}
            await server.ask(LargeRequest(name, "POST", f"{path}/restore", as_json(restore)))
        await server.ask_all(
            LargeRequest("all files", "GET", one) for one in (path, f"{path}/archive", f"{session}/export")
        )
        await server.ask(LargeRequest("delete", "DELETE", session))
