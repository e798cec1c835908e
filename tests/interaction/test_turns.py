"""Whole turns: settings from the environment, a real HTTP API, real tools, both model APIs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import pytest

from agent.turn_harness import TurnHarness, check_events, tool
from footnote import App, Run
from footnote.models.base import Endpoint
from footnote.models.profiles import Profile
from footnote.models.stream import build_model
from footnote.net.client import Net
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import RunActive, UsageError
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    ErrorEvent,
    Event,
    MessageDelta,
    TextGrowth,
    ToolResultBlock,
)
from footnote.protocol.messages import AssistantMessage, ToolResultMessage
from footnote.protocol.tools import text_result
from footnote.tools.base import Outcome, ToolContext
from upstream import Upstream, call, overflow, parallel_calls, reply, say, stall, stop, think
from upstream.server import KEY


def environment(api: str, upstream: Upstream, home: Path, **more: str) -> dict[str, str]:
    base = upstream.url if api == "anthropic" else f"{upstream.url}/v1"
    return {
        "FOOTNOTE_HOME": str(home),
        f"{api.upper()}_API_KEY": KEY,
        f"FOOTNOTE_MODELS_PROVIDERS_{api.upper()}_BASE_URL": base,
        **more,
    }


@pytest.fixture(params=["anthropic", "openai"])
async def app(request: pytest.FixtureRequest, upstream: Upstream, tmp_path: Path) -> AsyncIterator[App]:
    async with App.open(environ=environment(request.param, upstream, tmp_path)) as opened:
        yield opened


async def follow(run: Run) -> list[Event]:
    events = [event async for event in run.events()]
    check_events(events)
    return events


def answer_text(events: list[Event]) -> str:
    deltas = (event.delta for event in events if isinstance(event, BlockDelta))
    return "".join(delta.text for delta in deltas if isinstance(delta, TextGrowth))


def results(events: list[Event]) -> list[ToolResultBlock]:
    blocks = (event.content_block for event in events if isinstance(event, BlockStart))
    return [block for block in blocks if isinstance(block, ToolResultBlock)]


def stop_reason(events: list[Event]) -> str:
    return next(event.delta.stop_reason for event in events if isinstance(event, MessageDelta))


async def test_a_question_is_answered(app: App, upstream: Upstream):
    upstream.script(reply(say("Rayleigh ", "scattering."), stop()))
    run = await app.ask("Why is the sky blue?")
    assert answer_text(await follow(run)) == "Rayleigh scattering."
    assert isinstance(run.messages[-1], AssistantMessage)


async def test_a_report_is_written_and_attached(app: App, upstream: Upstream):
    write = call("write_file", {"file_path": "/report.md", "content": "# Báo cáo\n越南"})
    upstream.script(reply(say("I write."), write, stop("toolUse")), reply(say("Done."), stop()))
    run = await app.ask("Write a report.")
    events = await follow(run)
    [attached] = [
        event.content_block
        for event in events
        if isinstance(event, BlockStart) and isinstance(event.content_block, AttachmentsBlock)
    ]
    assert [file.path for file in attached.files] == ["/report.md"]
    assert run.workspace is not None
    assert await run.workspace.read_text("/report.md") == "# Báo cáo\n越南"


async def test_all_results_of_a_round_go_back_together(app: App, upstream: Upstream):
    upstream.script(
        reply(
            think("Two files.", signature="s1"),
            call("list_files", {}, id="toolu_1"),
            call("read_file", {"file_path": "/none"}, id="toolu_2"),
            stop("toolUse"),
        ),
        reply(say("None there."), stop()),
    )
    await follow(await app.ask("What is there?"))
    body = upstream.requests[1].body
    if upstream.requests[1].api == "anthropic":
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
        assert [block["tool_use_id"] for block in body["messages"][2]["content"]] == ["toolu_1", "toolu_2"]
        assert body["messages"][1]["content"][0] == {
            "type": "thinking",
            "thinking": "Two files.",
            "signature": "s1",
        }
    else:
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "tool"]


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_two_calls_of_one_message_run_at_the_same_time(api: Literal["anthropic", "openai"], upstream: Upstream):
    both_run = asyncio.Barrier(2)

    async def wait(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        await both_run.wait()
        yield text_result("waited")

    both = parallel_calls(call("wait", {"n": 1}, id="toolu_1"), call("wait", {"n": 2}, id="toolu_2"))
    upstream.script(reply(both, stop("toolUse")), reply(say("Both."), stop()))
    base = upstream.url if api == "anthropic" else f"{upstream.url}/v1"
    async with Net() as net:
        model = build_model(api, Endpoint(api, base, KEY), "m", Profile(), net=net)
        async with asyncio.timeout(30):
            recording = await TurnHarness(model, [tool("wait", wait)]).play()
    assert recording.text == "Both."


async def test_the_last_round_has_no_tools_field(app: App, upstream: Upstream):
    rounds = [reply(call("list_files", {}, id=f"toolu_{n}"), stop("toolUse")) for n in range(5)]
    upstream.script(*rounds, reply(say("Enough."), stop()))
    events = await follow(await app.ask("Look five times."))
    assert ["tools" in request.body for request in upstream.requests] == [True] * 5 + [False]
    assert (answer_text(events), stop_reason(events)) == ("Enough.", "max_rounds")


async def test_an_agent_without_tools_sends_no_tools_field(upstream: Upstream, tmp_path: Path):
    (tmp_path / "agents.json").write_text('{"agents": [{"id": "talker", "workspace": {"enabled": false}}]}')
    upstream.script(reply(say("Hi."), stop()))
    async with App.open(environ=environment("anthropic", upstream, tmp_path)) as app:
        await follow(await app.ask("Hi!"))
    assert "tools" not in upstream.requests[0].body


async def test_a_conversation_goes_on_with_its_history(app: App, upstream: Upstream):
    upstream.script(reply(say("Hanoi."), stop()), reply(say("About 8 million."), stop()))
    first = await app.ask("What is the capital of Vietnam?")
    await follow(first)
    second = await app.ask("How many people live there?", after=first)
    assert answer_text(await follow(second)) == "About 8 million."
    texts = str(upstream.requests[1].body["messages"])
    assert "Hanoi." in texts
    assert "capital of Vietnam" in texts


async def test_a_conversation_goes_on_with_a_model_of_the_other_provider(upstream: Upstream, tmp_path: Path):
    both = environment("anthropic", upstream, tmp_path) | environment("openai", upstream, tmp_path)
    odd_id = "call|" + "x+/=" * 40
    upstream.script(
        reply(call("list_files", {}, id=odd_id), stop("toolUse")),
        reply(say("Nothing there."), stop()),
        reply(say("Still nothing."), stop()),
    )
    async with App.open(environ=both) as app:
        first = await app.ask("What is there?", model="openai/gpt-5")
        await follow(first)
        second = await app.ask("And now?", model="anthropic/claude-sonnet-5", after=first)
        assert answer_text(await follow(second)) == "Still nothing."


async def test_a_stop_closes_the_socket_and_the_next_question_works(app: App, upstream: Upstream):
    upstream.script(
        reply(say("One"), call("list_files", {}, id="toolu_1"), stall()),
        reply(say("Fine."), stop()),
    )
    run = await app.ask("Count.")
    events: list[Event] = []
    async for event in run.events():
        events.append(event)
        if answer_text(events) == "One":
            run.cancel()
    check_events(events)
    async with asyncio.timeout(30):
        await upstream.requests[0].connection.closed.wait()
    assert stop_reason(events) == "aborted"
    again = await app.ask("Go on.", after=run)
    assert answer_text(await follow(again)) == "Fine."


async def test_an_overflow_is_mended_without_a_word_to_the_user(app: App, upstream: Upstream):
    upstream.script(overflow(), overflow(), reply(say("It fits."), stop()))
    events = await follow(await app.ask("x" * 60_000))
    assert answer_text(events) == "It fits."
    assert not [event for event in events if isinstance(event, ErrorEvent)]
    sizes = [len(str(request.body)) for request in upstream.requests]
    assert sizes[0] > sizes[1] > sizes[2]


async def test_files_of_a_session_are_there_in_its_next_turn(app: App, upstream: Upstream):
    upstream.script(
        reply(call("write_file", {"file_path": "/a.md", "content": "kept"}), stop("toolUse")),
        reply(say("Written."), stop()),
        reply(call("read_file", {"file_path": "/a.md"}), stop("toolUse")),
        reply(say("Read."), stop()),
    )
    first = await app.ask("Write.")
    await follow(first)
    second = await app.ask("Read.", after=first)
    assert "kept" in results(await follow(second))[0].content
    assert second.session_id == first.session_id


async def test_leaving_a_run_in_the_middle_closes_its_socket(app: App, upstream: Upstream):
    upstream.script(reply(say("One"), stall()))
    run = await app.ask("Count.")
    async with aclosing(run.events()) as events:
        async for event in events:
            if isinstance(event, BlockDelta):
                break
    await asyncio.wait_for(upstream.requests[0].connection.closed.wait(), 30)


async def test_a_session_that_is_asked_by_a_program_is_not_stored(app: App, upstream: Upstream):
    upstream.script(reply(say("Fine."), stop()))
    await follow(await app.ask("How are you?"))
    assert (await app.sessions.list(LOCAL_USER)).sessions == ()


async def test_events_can_be_left_after_the_app_is_closed(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("One"), stall()))
    async with App.open(environ=environment("anthropic", upstream, tmp_path)) as app:
        run = await app.ask("Count.")
        events = run.events()
        await anext(events)
    await events.aclose()


async def test_a_question_to_a_session_that_is_being_answered_is_refused(app: App, upstream: Upstream):
    upstream.script(reply(say("One"), stall()))
    run = await app.ask("Count.")
    with pytest.raises(RunActive):
        await app.ask("And on?", after=run)


async def test_an_empty_question_is_a_usage_error(app: App):
    with pytest.raises(UsageError):
        await app.ask("  \n")


async def test_without_any_model_the_reader_answers_and_says_how_to_add_one(tmp_path: Path):
    unused = {"FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}
    async with App.open(environ={"FOOTNOTE_HOME": str(tmp_path), **unused}) as app:
        run = await app.ask("Hello! Who are you?")
        answer = answer_text(await follow(run))
    assert run.model_id == "footnote/reader"
    for way in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "Ollama"):
        assert way in answer


async def test_usage_and_results_are_kept_in_the_history(app: App, upstream: Upstream):
    upstream.script(reply(call("list_files", {}), stop("toolUse")), reply(say("Ok."), stop()))
    run = await app.ask("List.")
    await follow(run)
    kinds = [type(message) for message in run.messages[1:]]
    assert kinds == [AssistantMessage, ToolResultMessage, AssistantMessage]
    assert all(m.usage.output for m in run.messages if isinstance(m, AssistantMessage))
