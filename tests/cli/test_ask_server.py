"""`footnote ask` in a session that goes on, in the home folder and on a server."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest
from service_process import free_ports

from cli.process import CLOSED, SECONDS, Footnote, environment, footnote
from cli.searching import FACT, article, env_for, hits
from client.places import Cutting, serve
from footnote.protocol.events import Event, MessageDelta, MessageStart, MessageStop
from server.house import LOCAL_TOKEN, House, open_house, parse_events
from upstream import Upstream, call, hold, reply, say, stall, stop
from web import Web
from web.providers import SearchServer

WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})
WAY_ON = re.compile(r'^To go on: footnote ask --session ([0-9a-f]{8})(?: --server (\S+))? "…"$', re.MULTILINE)


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    async with open_house(tmp_path / "server", upstream) as house:
        yield house


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Of a machine that has a token of the server, and no model of its own."""
    return environment(tmp_path, FOOTNOTE_TOKEN=LOCAL_TOKEN)


def session_in_hint(err: str) -> str:
    found = WAY_ON.search(err)
    assert found is not None, err
    return found[1]


def model_messages(upstream: Upstream, number: int = -1) -> list[tuple[str, str]]:
    """What the model was told, without its instructions."""
    messages = upstream.requests[number].body["messages"]
    return [(one["role"], one.get("content") or "") for one in messages if one["role"] != "system"]


async def test_an_answer_of_a_server_looks_like_one_of_this_process(
    house: House, env: dict[str, str], upstream: Upstream, tmp_path: Path
) -> None:
    script = [reply(say("I write."), WRITE, stop("toolUse")), reply(say("Giá của ", "股价."), stop())]
    upstream.script(*script, *script)
    there = await footnote("ask", "?", "--server", house.url, env=env)
    here = await footnote("ask", "?", env=environment(tmp_path, upstream))
    assert there[:2] == here[:2] == (0, "I write.\n\nGiá của 股价.\n")
    assert _without_times(there[2]) == _without_times(here[2])
    assert "On the server: /report.md\n" in there[2]
    assert f" --server {house.url} " in there[2]


def _without_times(err: str) -> list[str]:
    """The lines about the run: neither how long it took, nor where its files and its session are."""
    lines = [re.sub(r"\d+\.\d ?s\b", "", line) for line in err.splitlines()]
    return [line for line in lines if not line.startswith(("Saved", "On the server", "To go on"))]


async def test_a_session_goes_on_in_the_home_folder(upstream: Upstream, tmp_path: Path) -> None:
    upstream.script(reply(say("She."), stop()), reply(say("In 1999."), stop()))
    env = environment(tmp_path, upstream)
    _, _, err = await footnote("ask", "Who?", env=env)
    code, out, err = await footnote("ask", "--session", session_in_hint(err), "When?", env=env)
    assert (code, out) == (0, "In 1999.\n")
    assert model_messages(upstream) == [("user", "Who?"), ("assistant", "She."), ("user", "When?")]


async def test_a_session_goes_on_on_a_server(house: House, env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("She."), stop()), reply(say("In 1999."), stop()))
    _, _, err = await footnote("ask", "Who?", "--server", f"{house.url}/", env=env)
    code, out, _ = await footnote("ask", "--server", house.url, "--session", session_in_hint(err), "When?", env=env)
    assert (code, out) == (0, "In 1999.\n")
    assert model_messages(upstream) == [("user", "Who?"), ("assistant", "She."), ("user", "When?")]


async def test_only_the_files_of_the_new_answer_are_saved(upstream: Upstream, tmp_path: Path) -> None:
    other = call("write_file", {"file_path": "/other.md", "content": "# O\n"})
    upstream.script(
        *(reply(WRITE, stop("toolUse")), reply(say("One."), stop())),
        *(reply(other, stop("toolUse")), reply(say("Two."), stop())),
    )
    env = environment(tmp_path, upstream)
    _, _, err = await footnote("ask", "?", "--output", str(tmp_path / "1"), env=env)
    await footnote("ask", "--session", session_in_hint(err), "?", "--output", str(tmp_path / "2"), env=env)
    assert [path.name for path in sorted(tmp_path.glob("[12]/*"))] == ["report.md", "other.md"]


async def test_a_source_of_an_earlier_answer_can_still_be_cited(upstream: Upstream, tmp_path: Path) -> None:
    async with Web() as web, SearchServer("brave", lambda _: hits(web, "/oxygen")) as server:
        web.put("/oxygen", article("Oxygen", FACT))
        upstream.script(
            reply(call("web_search", {"query": "oxygen", "prompt": "Who?"}), stop("toolUse")),
            *(reply(say(f"{FACT} [1]"), stop()) for _ in range(3)),
        )
        env = env_for(tmp_path, web, server, upstream=upstream, FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER="brave")
        _, _, err = await footnote("ask", "Who?", env=env)
        _, out, _ = await footnote("ask", "--session", session_in_hint(err), "Again?", env=env)
    assert out.startswith(f"{FACT} [1]\n\nSources:\n[1] Title of /oxygen\n    {web.url('/oxygen')}\n    “Oxygen was")
    assert "no such source" not in out
    assert "not cited" not in out


async def test_ctrl_c_stops_the_run_on_the_server(house: House, env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("Half of it"), stall()))
    async with Footnote("ask", "?", "--server", house.url, env=env) as process:
        await process.out.wait_for_text("Half of it")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert process.out.text == "Half of it\n"
    assert "Stopped. Kept: 3 words of the answer.\n" in process.err.text
    async with asyncio.timeout(SECONDS):
        await upstream.requests[0].connection.closed.wait()
    (session,) = (await house.local.request("GET", "/v2/sessions")).json["sessions"]
    assert session["active_run_id"] is None


async def test_the_events_of_a_server_as_json(house: House, env: dict[str, str], upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    code, out, err = await footnote("ask", "?", "--json", "--server", house.url, env=env)
    told = [msgspec.json.decode(line, type=Event) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert isinstance(told[0], MessageStart)
    assert isinstance(told[-1], MessageStop)
    stored = await house.local.request("GET", f"/v2/runs/{told[0].message.run_id}/events")
    assert [one["type"] for one in parse_events(stored.body)] == [
        msgspec.json.decode(line)["type"] for line in out.splitlines()
    ]


async def test_a_connection_that_breaks_in_the_middle_is_made_again(
    house: House, env: dict[str, str], upstream: Upstream
) -> None:
    gate = asyncio.Event()
    words = [f"word{number} " for number in range(100)]
    upstream.script(reply(say(*words), hold(gate), say("end."), stop()))
    cutting = Cutting(house.url, 5000)
    async with serve(cutting) as url, Footnote("ask", "?", "--server", url, env=env) as process:
        await process.out.wait_for_text("word99 ")
        gate.set()
        assert await process.exit_code() == 0
    assert process.out.text == f"{''.join(words)}end.\n"
    assert cutting.connections > 3
    assert f"The connection to {url} was lost" in process.err.text


async def test_the_token_of_the_home_folder_is_for_this_machine(
    house: House, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.script(reply(say("42"), stop()))
    (tmp_path / ".footnote").mkdir()
    (tmp_path / ".footnote" / "token").write_text(f"{LOCAL_TOKEN}\n")
    code, out, _ = await footnote("ask", "?", "--server", house.url, env=environment(tmp_path))
    assert (code, out) == (0, "42\n")
    code, out, err = await footnote("ask", "?", "--server", "http://elsewhere.invalid", env=environment(tmp_path))
    assert (code, out) == (2, "")
    assert err.startswith("footnote: There is no token for http://elsewhere.invalid. Set FOOTNOTE_TOKEN")


async def test_a_server_that_refuses_the_token_says_where_one_comes_from(house: House, tmp_path: Path) -> None:
    wrong = "wrong-token-that-nobody-may-see"
    code, out, err = await footnote("ask", "?", "--server", house.url, env=environment(tmp_path, FOOTNOTE_TOKEN=wrong))
    assert (code, out) == (2, "")
    assert "FOOTNOTE_TOKEN" in err
    assert "`token`" in err
    assert wrong not in err


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--server", CLOSED], f"{CLOSED} cannot be reached", 1),
        (["--server", "localhost:8484"], "is not the address of a server", 2),
        (["--server", CLOSED, "--output", "."], "leave out --output", 2),
        (["--session", "x", "--agent", "researcher"], "A session keeps its agent", 2),
        (["--session", "nothing"], "There is no session 'nothing'", 2),
    ],
)
async def test_what_cannot_be_is_a_sentence(env: dict[str, str], arguments: list[str], said: str, code: int) -> None:
    told, out, err = await footnote("ask", "?", *arguments, env=env)
    assert (told, out) == (code, "")
    assert said in err
    assert LOCAL_TOKEN not in err


async def test_a_question_that_cannot_be_asked_leaves_no_session(upstream: Upstream, tmp_path: Path) -> None:
    env = environment(tmp_path, upstream)
    code, _, err = await footnote("ask", "?", "--model", "nobody/none", env=env)
    assert (code, "nobody" in err) == (2, True)
    assert (await footnote("sessions", "list", "--json", env=env))[:2] == (0, "[]\n")


async def test_a_run_that_was_stopped_is_stopped_for_good(upstream: Upstream, tmp_path: Path) -> None:
    """What Ctrl-C has ended is not taken up by a server that starts later."""
    upstream.script(reply(say("Half"), stall()), reply(say("Whole."), stop()))
    env = environment(tmp_path, upstream)
    async with Footnote("ask", "?", "--json", env=env) as process:
        await process.out.wait_for_text("Half")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    told = [msgspec.json.decode(line, type=Event) for line in process.out.text.splitlines()]
    assert [event.delta.stop_reason for event in told if isinstance(event, MessageDelta)] == ["aborted"]
    async with open_house(tmp_path, upstream) as house:
        (session,) = (await house.local.request("GET", "/v2/sessions")).json["sessions"]
        history = (await house.local.request("GET", f"/v2/sessions/{session['id']}/history?turns=true")).json
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
    asking = Footnote("ask", "?", "--server", url, env=env)
    async with Footnote("serve", "--port", port, env=there) as serving:
        await serving.out.wait_for_text("/login?token=")
        async with asking:
            await asking.out.wait_for_text("Half of")
            serving.signal(signal.SIGKILL)
            await serving.exit_code()
            async with Footnote("serve", "--port", port, env=there) as again:
                await upstream.wait_received(3)
                gate.set()
                assert await asking.exit_code() == 0
                again.signal(signal.SIGTERM)
                await again.exit_code()
    assert asking.out.text == "I write.\n\nHalf of\n\nAll of it.\n"
    assert "was lost" in asking.err.text
    assert "\nThe server was interrupted. This part of the answer begins again:\n" in asking.err.text


async def test_ctrl_c_ends_the_command_also_where_the_server_is_gone(
    house: House, env: dict[str, str], upstream: Upstream
) -> None:
    upstream.script(reply(say("Half of it"), stall()))
    async with AsyncExitStack() as stack:
        async with serve(Cutting(house.url, None)) as url:
            process = await stack.enter_async_context(Footnote("ask", "?", "--server", url, env=env))
            await process.out.wait_for_text("Half of it")
        await process.err.wait_for_text("was lost")
        process.signal(signal.SIGINT)
        assert await process.exit_code() == 130
    assert process.out.text == "Half of it\n"
    *_, unstopped, kept = process.err.text.splitlines()
    assert unstopped.startswith(f"The run could not be stopped: {url} cannot be reached")
    assert kept == "Stopped. Kept: 3 words of the answer."
