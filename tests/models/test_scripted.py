"""The double that ships: what tests of the product, and of plugins, rely on."""

from footnote.cancel import CancelScope
from footnote.models.base import Context, Options
from footnote.models.scripted import ScriptedModel, call, fails, text
from footnote.protocol.messages import Text, ToolCall, Usage, user
from footnote.protocol.stream import Done, Failed
from matrix.adapters import ending, listen, message


async def test_each_request_gets_the_next_reply_and_its_context_is_kept():
    model = ScriptedModel([[call("web_search", {"query": "x"}, id="one")], [text("Yes", ".")]])
    first, second = Context("a", (user("1"),)), Context("b", (user("2"),))

    assert message(await listen(model, first)).content == (ToolCall("one", "web_search", {"query": "x"}),)
    assert message(await listen(model, second)).content == (Text("Yes."),)
    assert model.contexts == [first, second]


async def test_a_reply_may_depend_on_what_was_asked():
    model = ScriptedModel([lambda context: [text(context.system)]])

    assert message(await listen(model, Context("Say this", (user("?"),)))).text == "Say this"


async def test_a_request_beyond_the_script_is_an_error_that_says_so():
    model = ScriptedModel([[text("Yes.")]])
    await listen(model)

    failure = message(await listen(model)).failure

    assert failure is not None
    assert failure.message == "The script has 1 replies and was asked for one more."


async def test_a_failure_keeps_what_was_said_before_it():
    end = ending(await listen(ScriptedModel([[text("So far"), fails("Broken.", type="overloaded_error")]])))

    assert isinstance(end, Failed)
    assert (end.message.text, end.message.failure and end.message.failure.type) == ("So far", "overloaded_error")


async def test_calls_stop_for_tools_and_get_ids_when_the_script_has_none():
    model = ScriptedModel([[call("a", {}), call("a", {})]])

    end = ending(await listen(model))

    assert isinstance(end, Done)
    assert end.reason == "toolUse"
    assert len({one.id for one in end.message.calls}) == 2


async def test_usage_and_name_are_those_it_was_given():
    model = ScriptedModel([[text("Yes.")]], id="mine/double", usage=Usage(1, 2))
    events = [event async for event in model.stream(Context("", (user("?"),)), Options(), CancelScope())]

    assert (message(events).model, message(events).usage) == ("mine/double", Usage(1, 2))
