"""The agent loop: rounds, calls, their order, and the ends of a turn."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.turn_harness import TurnHarness, answering_tool, tool, working_tool
from footnote.agent.calls import TOO_LONG
from footnote.agent.turn import CallBegun, CallEnded, MessageCompleted, Resumed
from footnote.models.scripted import ScriptedCall, ScriptedEnd, ScriptedModel, call, fails, text, thinking
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockStart,
    ErrorBody,
    ErrorEvent,
    MessageHead,
    MessageStart,
    RoundRestart,
    TextBlock,
    ThinkingBlock,
    ToolProgress,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    user_message,
)
from footnote.protocol.tools import Progress, error_result, text_result
from footnote.tools.base import Abilities, Outcome, Tool, ToolContext
from footnote.tools.registry import builtin_tools
from workspace.in_memory import in_memory_workspace


async def test_a_plain_answer_is_one_text_block_between_message_start_and_message_stop():
    recording = await TurnHarness(ScriptedModel([[text("Because", " so.")]])).play()
    assert recording.events[0] == MessageStart(MessageHead("m1", "assistant", "r1", "s1", "footnote/scripted"))
    assert recording.blocks == [TextBlock("Because so.")]
    assert recording.stop_reason == "stop"


async def test_thinking_calls_results_and_answer_are_numbered_through_the_whole_turn():
    model = ScriptedModel([[thinking("Hm."), call("look", {"at": 1}, id="c1")], [text("Seen.")]])
    recording = await TurnHarness(model, [answering_tool("look", "a tree")], settings={"locale": "vi"}).play()
    assert recording.blocks == [
        ThinkingBlock(),
        ToolUseBlock("c1", "look", "Làm look", {"at": 1}),
        ToolResultBlock("c1", "look", "success", "a tree"),
        TextBlock("Seen."),
    ]
    assert [event.index for event in recording.events if isinstance(event, BlockStart)] == [0, 1, 2, 3]


async def test_what_is_kept_is_what_was_said_in_order():
    model = ScriptedModel([[text("I look."), call("look", {}, id="c1")], [text("Seen.")]])
    recording = await TurnHarness(model, [answering_tool("look", "a tree")]).play()
    assert [type(message) for message in recording.stored_messages] == [
        AssistantMessage,
        ToolResultMessage,
        AssistantMessage,
    ]
    assert recording.stored_messages[1] == ToolResultMessage("c1", "look", (Text("a tree"),))
    assert model.contexts[1].messages == (user_message("Why?"), *recording.stored_messages[:2])


async def test_two_calls_of_one_message_run_at_the_same_time():
    both_run = asyncio.Barrier(2)

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        await both_run.wait()
        yield text_result("done")

    model = ScriptedModel([[call("wait", {"n": 1}), call("wait", {"n": 2})], [text("Both.")]])
    async with asyncio.timeout(30):
        await TurnHarness(model, [tool("wait", body)]).play()


async def test_results_stand_in_call_order_though_the_second_call_was_faster():
    gate = asyncio.Event()

    async def fast(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        gate.set()
        yield text_result("fast")

    model = ScriptedModel([[call("slow", {}, id="c1"), call("fast", {}, id="c2")], [text("ok")]])
    recording = await TurnHarness(
        model, [working_tool("slow", [], text_result("slow"), gate), tool("fast", fast)]
    ).play()
    assert [block.content for block in recording.blocks if isinstance(block, ToolResultBlock)] == ["slow", "fast"]
    done = [event.tool_use_id for event in recording.events if getattr(event, "status", "") == "done"]
    assert done == ["c2", "c1"], "that the fast one is done is said at once"


async def test_at_most_eight_calls_run_at_once():
    running, most, release = 0, 0, asyncio.Event()

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 8:
            asyncio.get_running_loop().call_soon(release.set)
        await release.wait()
        running -= 1
        yield text_result("ok")

    calls = [call("work", {"n": n}) for n in range(20)]
    await TurnHarness(ScriptedModel([calls, [text("ok")]]), [tool("work", body)]).play()
    assert most == 8


async def test_an_exclusive_call_runs_alone_and_keeps_its_place():
    inside: set[str] = set()
    beside: dict[str, set[str]] = {}

    def watched(name: str, **marks: Any) -> Tool:
        async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
            inside.add(name)
            await asyncio.sleep(0.01)
            beside[name] = inside - {name}
            inside.remove(name)
            yield text_result(name)

        return tool(name, body, **marks)

    calls = [call("a", {}), call("b", {}), call("alone", {}), call("c", {})]
    tools = [watched("a"), watched("b"), watched("alone", exclusive=True), watched("c")]
    await TurnHarness(ScriptedModel([calls, [text("ok")]]), tools).play()
    assert beside["alone"] == set()
    assert beside["a"] == {"b"}
    assert list(beside)[2:] == ["alone", "c"]


async def test_progress_is_passed_on_while_the_tool_works():
    steps = [Progress("searching"), Progress("reading", 3, 5, "simplize.vn")]
    model = ScriptedModel([[call("look", {}, id="c1")], [text("ok")]])
    recording = await TurnHarness(model, [working_tool("look", steps, text_result("x"))]).play()
    assert [event for event in recording.events if isinstance(event, ToolProgress)] == [
        ToolProgress("c1", "searching", 0, None, ""),
        ToolProgress("c1", "reading", 3, 5, "simplize.vn"),
    ]


async def test_after_five_rounds_with_tools_a_last_one_comes_without_them():
    model = ScriptedModel([*[[call("look", {"n": n})] for n in range(5)], [text("That is all.")]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert [bool(context.tools) for context in model.contexts] == [True] * 5 + [False]
    assert recording.text == "That is all."
    assert recording.stop_reason == "max_rounds"


async def test_a_model_that_calls_tools_although_they_are_withheld_is_answered_and_the_turn_ends():
    model = ScriptedModel([[call("look", {"n": n})] for n in range(6)])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert len(model.contexts) == 6
    assert recording.stop_reason == "max_rounds"
    last = recording.stored_messages[-1]
    assert isinstance(last, ToolResultMessage)
    assert last.is_error


async def test_without_tools_one_round_is_a_normal_end():
    recording = await TurnHarness(ScriptedModel([[text("Hi.")]]), settings={"max_tool_rounds": 1}).play()
    assert recording.stop_reason == "stop"


async def test_a_call_cut_by_the_output_limit_is_never_run_and_the_model_is_asked_again():
    ran: list[Any] = []

    async def body(params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        ran.append(params)
        yield text_result("ran")

    whole = call("write", {"content": "half of"}, id="c1")
    cut = ScriptedCall("write", ('{"content": "half o',), "c2")
    model = ScriptedModel([[whole, cut, ScriptedEnd("length")], [text("Shorter now.")]])
    recording = await TurnHarness(model, [tool("write", body)]).play()
    assert ran == []
    results = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert [result.status for result in results] == ["error", "error"]
    assert all("output limit" in result.content for result in results)
    assert recording.text == "Shorter now."


async def test_an_answer_cut_by_the_output_limit_ends_the_turn_with_length():
    recording = await TurnHarness(ScriptedModel([[text("And then"), ScriptedEnd("length")]])).play()
    assert (recording.text, recording.stop_reason) == ("And then", "length")


async def test_malformed_arguments_are_an_error_that_the_model_reads():
    model = ScriptedModel([[ScriptedCall("look", ("{nonsense",), "c1")], [text("Sorry.")]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert isinstance(recording.blocks[1], ToolResultBlock)
    assert recording.blocks[1].status == "error"
    assert "not a JSON object" in recording.blocks[1].content
    assert "{nonsense" in recording.blocks[1].content


async def test_arguments_that_are_too_long_to_be_read_are_an_error_that_says_what_to_do():
    pieces = ('{"at": "', *["x" * 1_000_000] * 3, '"}')
    model = ScriptedModel([[ScriptedCall("look", pieces, "c1")], [text("Shorter, then.")]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert isinstance(recording.blocks[1], ToolResultBlock)
    assert (recording.blocks[1].status, recording.blocks[1].content) == ("error", TOO_LONG)


async def test_an_unknown_tool_is_an_error_that_names_the_tools_that_exist():
    model = ScriptedModel([[call("dance", {})], [text("I cannot dance.")]])
    recording = await TurnHarness(model, [answering_tool("look"), answering_tool("hear")]).play()
    assert isinstance(recording.blocks[1], ToolResultBlock)
    assert recording.blocks[1].content == "There is no tool called 'dance'. Tools that exist: hear, look."


async def test_a_tool_that_breaks_is_an_error_result_and_the_turn_goes_on(caplog: pytest.LogCaptureFixture):
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        raise RuntimeError("secret internals")
        yield text_result("never")

    model = ScriptedModel([[call("look", {})], [text("Another way.")]])
    recording = await TurnHarness(model, [tool("look", body)]).play()
    assert recording.text == "Another way."
    assert "secret internals" not in str(recording.blocks)
    assert "secret internals" in caplog.text


async def test_the_same_failing_call_is_refused_the_third_time_with_a_hint():
    ran = 0

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        nonlocal ran
        ran += 1
        yield error_result("nope")

    again = [call("look", {"at": 1})]
    model = ScriptedModel([again, again, again, [call("look", {"at": 2})], [text("I give up.")]])
    recording = await TurnHarness(model, [tool("look", body)]).play()
    results = [block.content for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert results[:2] == ["nope", "nope"]
    assert "Do not repeat it" in results[2]
    assert results[3] == "nope", "other arguments are another call"
    assert ran == 3


async def test_the_same_call_may_be_repeated_while_it_succeeds():
    again = [call("look", {"at": 1})]
    model = ScriptedModel([again, again, again, again, [text("ok")]])
    recording = await TurnHarness(model, [answering_tool("look", "new every time")]).play()
    assert [b.status for b in recording.blocks if isinstance(b, ToolResultBlock)] == ["success"] * 4


async def test_a_failing_model_says_its_error_and_keeps_what_came():
    model = ScriptedModel([[text("Partly"), fails("It broke.", type="overloaded_error")]])
    recording = await TurnHarness(model).play()
    assert ErrorEvent(ErrorBody("overloaded_error", "It broke.", retryable=False)) in recording.events
    assert (recording.text, recording.stop_reason) == ("Partly", "error")
    message = recording.stored_messages[0]
    assert isinstance(message, AssistantMessage)
    assert message.content == (Text("Partly"),)


async def test_calls_of_a_response_that_failed_are_answered_but_not_run():
    model = ScriptedModel([[call("look", {}, id="c1"), fails()]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert recording.statuses("c1") == ["pending", "running", "error"]
    assert recording.stop_reason == "error"
    assert [event.error.type for event in recording.events if isinstance(event, ErrorEvent)] == ["api_error"]
    assert isinstance(recording.blocks[1], ToolResultBlock)
    assert "broke off" in recording.blocks[1].content


async def test_files_that_were_written_go_out_in_one_attachments_block_at_the_end():
    abilities = Abilities(in_memory_workspace())
    first = call("write_file", {"file_path": "/a.md", "content": "1"})
    second = call("write_file", {"file_path": "/b.md", "content": "2"})
    rewrite = call("write_file", {"file_path": "/a.md", "content": "3"})
    model = ScriptedModel([[first, second], [rewrite], [text("Written.")]])
    recording = await TurnHarness(model, builtin_tools(), abilities=abilities).play()
    last = recording.blocks[-1]
    assert isinstance(last, AttachmentsBlock)
    assert [file.path for file in last.files] == ["/b.md", "/a.md"]
    assert {file.message_id for file in last.files} == {"m1"}


async def test_usage_of_all_rounds_is_added_up():
    model = ScriptedModel([[call("look", {})], [text("ok")]], usage=Usage(100, 20, 30, 4, 5))
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    usage = recording.end.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (200, 40, 60)
    assert (usage.cache_write_tokens, usage.reasoning_tokens, usage.cost) == (8, 10, None)


async def test_a_turn_goes_on_after_the_rounds_that_a_crash_left_behind():
    before = (
        user_message("Why?"),
        AssistantMessage((ToolCall("c0", "look", {}),), "toolUse", "footnote/scripted"),
        ToolResultMessage("c0", "look", (Text("a tree"),)),
    )
    model = ScriptedModel([*[[call("look", {"n": n})] for n in range(4)], [text("Done.")]])
    recording = await TurnHarness(
        model, [answering_tool("look")], before, settings={"resumed": Resumed(blocks=2)}
    ).play()
    assert next(event.index for event in recording.events if isinstance(event, BlockStart)) == 2
    assert recording.stop_reason == "max_rounds", "the round before the crash counts"


async def test_a_long_call_says_while_it_is_written_that_it_is():
    pieces = ('{"content": "', *["x" * 1000] * 7, '"}')
    model = ScriptedModel([[ScriptedCall("look", pieces, "c1")], [text("ok")]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    writing = [event for event in recording.events if isinstance(event, ToolProgress)]
    assert [(event.stage, event.total, event.label) for event in writing] == [("writing", None, "Do look")] * 2


async def test_the_question_of_another_turn_does_not_count_as_a_round():
    history = (
        UserMessage((Text("One?"),)),
        *[AssistantMessage((Text("One."),), "stop", "footnote/scripted")] * 9,
        user_message("Two?"),
    )
    model = ScriptedModel([[call("look", {})], [text("Two.")]])
    recording = await TurnHarness(model, [answering_tool("look")], history).play()
    assert recording.stop_reason == "stop"


def _interrupted_history(*calls: ToolCall, answered_ids: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """A session whose last response was stored, with the results of some of its calls."""
    results = [ToolResultMessage(call.id, call.name, (Text("before"),)) for call in calls if call.id in answered_ids]
    return (user_message("Why?"), AssistantMessage(calls, "toolUse", "footnote/scripted", Usage(7, 3)), *results)


def _counting_tool(name: str, **marks: Any) -> tuple[Tool, list[str]]:
    ran: list[str] = []

    async def body(_params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        ran.append(context.call_id)
        yield text_result("now")

    return tool(name, body, **marks), ran


async def test_after_a_crash_the_model_is_not_asked_again_for_calls_that_it_has_made():
    look, ran = _counting_tool("look")
    before = _interrupted_history(ToolCall("c1", "look", {}), ToolCall("c2", "look", {"n": 2}), answered_ids=("c1",))
    model = ScriptedModel([[text("Done.")]])
    recording = await TurnHarness(model, [look], before, settings={"resumed": Resumed(blocks=3)}).play()
    assert ran == ["c2"]
    assert len(model.contexts) == 1
    assert [
        message.tool_call_id for message in recording.stored_messages if isinstance(message, ToolResultMessage)
    ] == ["c2"]
    assert isinstance(recording.events[0], RoundRestart)
    assert recording.events[0].from_index == 3


@pytest.mark.parametrize(("idempotent", "times"), [(False, 0), (True, 1)])
async def test_a_call_that_a_crash_interrupted_runs_again_only_if_that_does_no_harm(idempotent: bool, times: int):
    send, ran = _counting_tool("send", idempotent=idempotent)
    resumed = Resumed(blocks=1, started_calls=frozenset({"c1"}))
    model = ScriptedModel([[text("Done.")]])
    recording = await TurnHarness(
        model, [send], _interrupted_history(ToolCall("c1", "send", {})), settings={"resumed": resumed}
    ).play()
    assert len(ran) == times
    [result] = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert result.status == ("success" if times else "error")
    assert recording.stop_reason == "stop"


async def test_a_call_that_was_finished_before_a_crash_keeps_its_result():
    send, ran = _counting_tool("send")
    file = FileRecord("f1", "/a.md", "a.md", "md", "generated", "2026-01-01T00:00:00Z", "workspace/local/a.md", "m1")
    resumed = Resumed(
        blocks=1,
        started_calls=frozenset({"c1"}),
        results={"c1": text_result("sent", files=(file,))},
        usage=Usage(100, 0),
    )
    model = ScriptedModel([[text("Done.")]])
    recording = await TurnHarness(
        model, [send], _interrupted_history(ToolCall("c1", "send", {})), settings={"resumed": resumed}
    ).play()
    assert ran == []
    assert [block.content for block in recording.blocks if isinstance(block, ToolResultBlock)] == ["sent"]
    assert isinstance(recording.blocks[-1], AttachmentsBlock)
    assert recording.end.usage.input_tokens == 100 + 7 + 10, "what was used before the crash was used"


async def test_a_turn_that_only_lacked_its_end_is_ended_without_asking_anybody():
    before = (user_message("Why?"), AssistantMessage((Text("Because."),), "stop", "footnote/scripted"))
    model = ScriptedModel([])
    recording = await TurnHarness(model, [], before, settings={"resumed": Resumed(blocks=1)}).play()
    assert model.contexts == []
    assert recording.stored_messages == []
    assert recording.stop_reason == "stop"


async def test_a_call_with_an_effect_is_announced_before_it_is_carried_out_and_an_idempotent_one_is_not():
    send, _ = _counting_tool("send")
    look, _ = _counting_tool("look", idempotent=True)
    model = ScriptedModel([[call("send", {}), call("look", {})], [text("Done.")]])
    recording = await TurnHarness(model, [send, look]).play()
    starts = [at for at, step in enumerate(recording.steps) if isinstance(step, CallBegun)]
    running = [
        at for at, step in enumerate(recording.steps) if isinstance(step, ToolStatus) and step.status == "running"
    ]
    assert len(starts) == 1
    assert starts[0] < min(running)
    assert sum(isinstance(step, CallEnded) for step in recording.steps) == 2


async def test_every_message_is_kept_with_the_number_of_blocks_that_there_are_with_it():
    model = ScriptedModel([[text("Looking."), call("look", {}), call("look", {"n": 2})], [text("Done.")]])
    recording = await TurnHarness(model, [answering_tool("look")]).play()
    assert [step.blocks for step in recording.steps if isinstance(step, MessageCompleted)] == [3, 4, 5, 6]


async def test_what_came_of_a_call_before_a_crash_holds_also_when_its_tool_is_gone():
    before = _interrupted_history(ToolCall("c1", "send", {}), ToolCall("c2", "send", {"n": 2}))
    resumed = Resumed(blocks=2, started_calls=frozenset({"c1", "c2"}), results={"c1": text_result("sent")})
    recording = await TurnHarness(ScriptedModel([[text("Done.")]]), [], before, settings={"resumed": resumed}).play()
    results = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert [(block.status, block.content[:24]) for block in results] == [
        ("success", "sent"),
        ("error", "The server was restarted"),
    ]
