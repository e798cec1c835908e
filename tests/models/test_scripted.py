"""The scripted model of the package, which tests of the product and of plugins rely on."""

from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.models.scripted import ScriptedModel, call, fails, text
from footnote.protocol.messages import Text, ToolCall, Usage, user_message
from footnote.protocol.stream import Done, Failed
from matrix.adapters import collect_events, final_message, last_event


async def test_each_request_gets_the_next_reply_and_its_context_is_kept():
    model = ScriptedModel([[call("web_search", {"query": "x"}, id="one")], [text("Yes", ".")]])
    first, second = Context("a", (user_message("1"),)), Context("b", (user_message("2"),))

    assert final_message(await collect_events(model, first)).content == (ToolCall("one", "web_search", {"query": "x"}),)
    assert final_message(await collect_events(model, second)).content == (Text("Yes."),)
    assert model.contexts == [first, second]


async def test_a_reply_may_depend_on_what_was_asked():
    model = ScriptedModel([lambda context: [text(context.system)]])

    assert final_message(await collect_events(model, Context("Say this", (user_message("?"),)))).text == "Say this"


async def test_a_request_beyond_the_script_is_an_error_that_says_so():
    model = ScriptedModel([[text("Yes.")]])
    await collect_events(model)

    failure = final_message(await collect_events(model)).failure

    assert failure is not None
    assert failure.message == "The script has 1 replies and was asked for one more."


async def test_a_failure_keeps_what_was_said_before_it():
    end = last_event(await collect_events(ScriptedModel([[text("So far"), fails("Broken.", type="overloaded_error")]])))

    assert isinstance(end, Failed)
    assert (end.message.text, end.message.failure and end.message.failure.type) == ("So far", "overloaded_error")


async def test_calls_stop_for_tools_and_get_ids_when_the_script_has_none():
    model = ScriptedModel([[call("a", {}), call("a", {})]])

    end = last_event(await collect_events(model))

    assert isinstance(end, Done)
    assert end.reason == "toolUse"
    assert len({one.id for one in end.message.calls}) == 2


async def test_usage_and_name_are_those_it_was_given():
    model = ScriptedModel([[text("Yes.")]], id="mine/double", usage=Usage(1, 2))
    events = [event async for event in model.stream(Context("", (user_message("?"),)), Options(), CancelScope())]

    assert (final_message(events).model, final_message(events).usage) == ("mine/double", Usage(1, 2))
