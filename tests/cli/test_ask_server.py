"""`footnote ask` with sessions that continue, in the home folder and on a server."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest
from service_process import free_ports

from cli.process import CLOSED, SECONDS, FootnoteProcess, environment, run_footnote
from cli.small_web import FACT, article, env_for, hits
from client.fake_servers import TruncatingProxy, serve
from footnote.protocol.events import Event, MessageDelta, MessageStart, MessageStop
from server.harness import LOCAL_TOKEN, ServerHarness, open_server, parse_events
from upstream import Upstream, call, hold, reply, say, stall, stop
from web import Web
from web.providers import SearchServer

WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})
WAY_ON = re.compile(r'^To continue: footnote ask --session ([0-9a-f]{8})(?: --server (\S+))? "…"$', re.MULTILINE)


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path / "server", upstream) as server:
        yield server


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine with a token of the server, and without a model."""
    return environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)


def session_in_hint(err: str) -> str:
    found = WAY_ON.search(err)
    assert found is not None, err
    return found[1]


def model_messages(upstream: Upstream, number: int = -1) -> list[tuple[str, str]]:
    """The messages that the model received, without its instructions."""
    messages = upstream.requests[number].body["messages"]
    return [(one["role"], one.get("content") or "") for one in messages if one["role"] != "system"]


async def test_an_answer_of_a_server_looks_like_one_of_this_process(
    server: ServerHarness, env: dict[str, str], upstream: Upstream, tmp_path: Path
) -> None:
    script = [reply(say("I write."), WRITE, stop("toolUse")), reply(say("Giá của ", "股价."), stop())]
    upstream.script(*script, *script)
    there = await run_footnote("ask", "?", "--server", server.url, env=env)
    here = await run_footnote("ask", "?", env=environment(tmp_path, upstream))
    assert there[:2] == here[:2] == (0, "I write.\n\nGiá của 股价.\n")
    assert _without_times(there[2]) == _without_times(here[2])
    assert "On the server: /report.md\n" in there[2]
    assert f" --server {server.url} " in there[2]


def _without_times(err: str) -> list[str]:
    """The lines about the run, without its duration and the paths of files and session."""
    lines = [re.sub(r"\d+\.\d ?s\b", "", line) for line in err.splitlines()]
    return [line for line in lines if not line.startswith(("Saved", "On the server", "To continue"))]


async def test_a_session_goes_on_in_the_home_folder(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("She."), stop()), reply(say("In 1999."), stop()))
    env = environment(tmp_path, upstream)
    _, _, err = await run_footnote("ask", "Who?", env=env)
    code, out, err = await run_footnote("ask", "--session", session_in_hint(err), "When?", env=env)
    assert (code, out) == (0, "In 1999.\n")
    assert model_messages(upstream) == [("user", "Who?"), ("assistant", "She."), ("user", "When?")]


async def test_a_session_goes_on_on_a_server(server: ServerHarness, env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("She."), stop()), reply(say("In 1999."), stop()))
    _, _, err = await run_footnote("ask", "Who?", "--server", f"{server.url}/", env=env)
    code, out, _ = await run_footnote(
        "ask", "--server", server.url, "--session", session_in_hint(err), "When?", env=env
    )
    assert (code, out) == (0, "In 1999.\n")
    assert model_messages(upstream) == [("user", "Who?"), ("assistant", "She."), ("user", "When?")]


async def test_only_the_files_of_the_new_answer_are_saved(upstream: Upstream, tmp_path: Path) -> None:
    other = call("write_file", {"file_path": "/other.md", "content": "# O\n"})
    upstream.script(
        *(reply(WRITE, stop("toolUse")), reply(say("One."), stop())),
        *(reply(other, stop("toolUse")), reply(say("Two."), stop())),
    )
    env = environment(tmp_path, upstream)
    _, _, err = await run_footnote("ask", "?", "--output", str(tmp_path / "1"), env=env)
    await run_footnote("ask", "--session", session_in_hint(err), "?", "--output", str(tmp_path / "2"), env=env)
    assert [path.name for path in sorted(tmp_path.glob("[12]/*"))] == ["report.md", "other.md"]


async def test_a_source_of_an_earlier_answer_can_still_be_cited(upstream: Upstream, tmp_path: Path) -> None:
    async with Web() as web, SearchServer("brave", lambda _: hits(web, "/oxygen")) as search_server:
        web.put("/oxygen", article("Oxygen", FACT))
        upstream.script(
            reply(call("web_search", {"query": "oxygen", "prompt": "Who?"}), stop("toolUse")),
            *(reply(say(f"{FACT} [1]"), stop()) for _ in range(3)),
        )
        env = env_for(
            tmp_path, web, search_server, upstream=upstream, FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER="brave"
        )
        _, _, err = await run_footnote("ask", "Who?", env=env)
        _, out, _ = await run_footnote("ask", "--session", session_in_hint(err), "Again?", env=env)
    assert out.startswith(f"{FACT} [1]\n\nSources:\n[1] Title of /oxygen\n    {web.url('/oxygen')}\n    “Oxygen was")
    assert "no such source" not in out
    assert "not cited" not in out


async def test_ctrl_c_stops_the_run_on_the_server(
    server: ServerHarness, env: dict[str, str], upstream: Upstream
) -> None:
    upstream.script(reply(say("Half of it"), stall()))
    async with FootnoteProcess("ask", "?", "--server", server.url, env=env) as process:
        await process.out.wait_for_text("Half of it")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert process.out.text == "Half of it\n"
    assert "Stopped. Kept: 3 words of the answer.\n" in process.err.text
    async with asyncio.timeout(SECONDS):
        await upstream.requests[0].connection.closed.wait()
    (session,) = (await server.local.request("GET", "/v2/sessions")).json["sessions"]
    assert session["active_run_id"] is None


async def test_the_events_of_a_server_as_json(server: ServerHarness, env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    code, out, err = await run_footnote("ask", "?", "--json", "--server", server.url, env=env)
    events = [msgspec.json.decode(line, type=Event) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert isinstance(events[0], MessageStart)
    assert isinstance(events[-1], MessageStop)
    stored = await server.local.request("GET", f"/v2/runs/{events[0].message.run_id}/events")
    assert [one["type"] for one in parse_events(stored.body)] == [
        msgspec.json.decode(line)["type"] for line in out.splitlines()
    ]


async def test_a_connection_that_breaks_in_the_middle_is_made_again(
    server: ServerHarness, env: dict[str, str], upstream: Upstream
) -> None:
    gate = asyncio.Event()
    words = [f"word{number} " for number in range(100)]
    upstream.script(reply(say(*words), hold(gate), say("end."), stop()))
    cutting = TruncatingProxy(server.url, 5000)
    async with serve(cutting) as url, FootnoteProcess("ask", "?", "--server", url, env=env) as process:
        await process.out.wait_for_text("word99 ")
        gate.set()
        assert await process.exit_code() == 0
    assert process.out.text == f"{''.join(words)}end.\n"
    assert cutting.connections > 3
    assert f"The connection to {url} was lost" in process.err.text


async def test_the_token_of_the_home_folder_is_for_this_machine(
    server: ServerHarness, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.script(reply(say("42"), stop()))
    (tmp_path / ".footnote").mkdir()
    (tmp_path / ".footnote" / "token").write_text(f"{LOCAL_TOKEN}\n")
    code, out, _ = await run_footnote("ask", "?", "--server", server.url, env=environment(tmp_path))
    assert (code, out) == (0, "42\n")
    code, out, err = await run_footnote("ask", "?", "--server", "http://elsewhere.invalid", env=environment(tmp_path))
    assert (code, out) == (2, "")
    assert err.startswith("footnote: There is no token for http://elsewhere.invalid. Set FOOTNOTE_TOKEN")


async def test_a_server_that_refuses_the_token_says_where_one_comes_from(server: ServerHarness, tmp_path: Path) -> None:
    wrong = "wrong-token-that-nobody-may-see"
    code, out, err = await run_footnote(
        "ask", "?", "--server", server.url, env=environment(tmp_path, FOOTNOTE_TOKEN=wrong)
    )
    assert (code, out) == (2, "")
    assert "FOOTNOTE_TOKEN" in err
    assert "`token`" in err
    assert wrong not in err


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--server", CLOSED], f"{CLOSED} cannot be reached", 1),
        (["--server", "localhost:8484"], "is not the address of a server", 2),
        (["--server", CLOSED, "--output", "."], "leave out --output", 2),
        (["--session", "x", "--agent", "researcher"], "A session keeps its agent", 2),
        (["--session", "nothing"], "There is no session 'nothing'", 2),
    ],
)
async def test_what_cannot_be_is_a_sentence(env: dict[str, str], arguments: list[str], message: str, code: int) -> None:
    exit_code, out, err = await run_footnote("ask", "?", *arguments, env=env)
    assert (exit_code, out) == (code, "")
    assert message in err
    assert LOCAL_TOKEN not in err


async def test_a_question_that_cannot_be_asked_leaves_no_session(upstream: Upstream, tmp_path: Path) -> None:
    env = environment(tmp_path, upstream)
    code, _, err = await run_footnote("ask", "?", "--model", "nobody/none", env=env)
    assert (code, "nobody" in err) == (2, True)
    assert (await run_footnote("sessions", "list", "--json", env=env))[:2] == (0, "[]\n")


async def test_a_run_that_was_stopped_is_stopped_for_good(upstream: Upstream, tmp_path: Path) -> None:
    """A server that starts later does not resume a run that Ctrl-C has ended."""
    upstream.script(reply(say("Half"), stall()), reply(say("Whole."), stop()))
    env = environment(tmp_path, upstream)
    async with FootnoteProcess("ask", "?", "--json", env=env) as process:
        await process.out.wait_for_text("Half")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    events = [msgspec.json.decode(line, type=Event) for line in process.out.text.splitlines()]
    assert [event.delta.stop_reason for event in events if isinstance(event, MessageDelta)] == ["aborted"]
    async with open_server(tmp_path, upstream) as server:
        (session,) = (await server.local.request("GET", "/v2/sessions")).json["sessions"]
        history = (await server.local.request("GET", f"/v2/sessions/{session['id']}/history?turns=true")).json
    assert (history["active_run"], history["turns"][0]["state"]) == (None, "cancelled")
    upstream.script()
    assert len(upstream.requests) == 1


@pytest.mark.slow
async def test_a_server_that_is_killed_and_started_again_finishes_the_answer(
    upstream: Upstream, env: dict[str, str], tmp_path: Path
) -> None:
    gate = asyncio.Event()
    upstream.script(
        reply(say("I write."), WRITE, stop("toolUse")),
        reply(say("Half of"), stall()),
        reply(hold(gate), say("All of it."), stop()),
    )
    there = {**environment(tmp_path / "server", upstream), "FOOTNOTE_TOKEN": LOCAL_TOKEN}
    port = str(free_ports(1)[0])
    url = f"http://127.0.0.1:{port}"
    command = FootnoteProcess("ask", "?", "--server", url, env=env)
    async with FootnoteProcess("serve", "--port", port, env=there) as serving:
        await serving.out.wait_for_text("/login?token=")
        async with command:
            await command.out.wait_for_text("Half of")
            serving.signal(signal.SIGKILL)
            await serving.exit_code()
            async with FootnoteProcess("serve", "--port", port, env=there) as again:
                await upstream.wait_received(3)
                gate.set()
                assert await command.exit_code() == 0
                again.signal(signal.SIGTERM)
                await again.exit_code()
    assert command.out.text == "I write.\n\nHalf of\n\nAll of it.\n"
    assert "was lost" in command.err.text
    assert "\nThe server was interrupted. This part of the answer starts again:\n" in command.err.text


async def test_ctrl_c_ends_the_command_also_where_the_server_is_gone(
    server: ServerHarness, env: dict[str, str], upstream: Upstream
) -> None:
    upstream.script(reply(say("Half of it"), stall()))
    async with AsyncExitStack() as stack:
        async with serve(TruncatingProxy(server.url, None)) as url:
            process = await stack.enter_async_context(FootnoteProcess("ask", "?", "--server", url, env=env))
            await process.out.wait_for_text("Half of it")
        await process.err.wait_for_text("was lost")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert process.out.text == "Half of it\n"
    *_, unstopped, kept_line = process.err.text.splitlines()
    assert unstopped.startswith(f"The run could not be stopped: {url} cannot be reached")
    assert kept_line == "Stopped. Kept: 3 words of the answer."
