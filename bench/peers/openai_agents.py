"""openai-agents: `Runner.run_streamed` over a scripted `Model`, tracing off."""

import asyncio
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

from agents import Agent, Model, RunConfig, Runner, function_tool
from measure import print_peer
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from scenario import CALL_ID, FRAGMENTS, QUESTION, SYSTEM, TOOL, Frames, Page, search, words

_CONFIG = RunConfig(tracing_disabled=True)


def _call(arguments: str, status: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", id="item_1", call_id=CALL_ID, name=TOOL, arguments=arguments, status=status
    )


def _end(item: ResponseOutputItem, number: int) -> tuple[ResponseOutputItemDoneEvent, ResponseCompletedEvent]:
    """The last two events of a response with one item. `model_construct` skips validation, to the library's favour."""
    response = Response.model_construct(
        id="response_1", created_at=0.0, model="scripted", object="response", output=[item],
        parallel_tool_calls=False, tool_choice="auto", tools=[], usage=None,
    )  # fmt: skip
    return (
        ResponseOutputItemDoneEvent.model_construct(
            type="response.output_item.done", item=item, output_index=0, sequence_number=number
        ),
        ResponseCompletedEvent.model_construct(
            type="response.completed", response=response, sequence_number=number + 1
        ),
    )


class ScriptedModel(Model):
    def __init__(self, deltas: int) -> None:
        self._deltas = deltas

    async def get_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def stream_response(self, _: Any, items: Any, *__: Any, **___: Any) -> AsyncIterator[Any]:
        answered = isinstance(items, list) and items[-1].get("type") == "function_call_output"
        return self._answer() if answered else self._ask()

    async def _ask(self) -> AsyncIterator[Any]:
        yield ResponseOutputItemAddedEvent.model_construct(
            type="response.output_item.added", item=_call("", "in_progress"), output_index=0, sequence_number=0
        )
        for number, fragment in enumerate(FRAGMENTS, 1):
            await asyncio.sleep(0)
            yield ResponseFunctionCallArgumentsDeltaEvent.model_construct(
                type="response.function_call_arguments.delta", delta=fragment, item_id="item_1", output_index=0,
                sequence_number=number,
            )  # fmt: skip
        for event in _end(_call("".join(FRAGMENTS), "completed"), len(FRAGMENTS) + 1):
            yield event

    async def _answer(self) -> AsyncIterator[Any]:
        for number, word in enumerate(words(self._deltas)):
            await asyncio.sleep(0)
            yield ResponseTextDeltaEvent.model_construct(
                type="response.output_text.delta", delta=word, content_index=0, item_id="item_2", output_index=0,
                logprobs=[], sequence_number=number,
            )  # fmt: skip
        text = ResponseOutputText(type="output_text", text="".join(words(self._deltas)), annotations=[])
        message = ResponseOutputMessage(
            id="item_2", type="message", role="assistant", status="completed", content=[text]
        )
        for event in _end(message, self._deltas):
            yield event


@cache
def _agent(deltas: int) -> Agent:
    tool = function_tool(search, name_override=TOOL)
    return Agent(name="bench", instructions=SYSTEM, model=ScriptedModel(deltas), tools=[tool])


async def turn(deltas: int) -> Frames:
    page = Page()
    async for event in Runner.run_streamed(_agent(deltas), QUESTION, run_config=_CONFIG).stream_events():
        if event.type == "raw_response_event":
            data = event.data
            if data.type == "response.output_text.delta":
                page.text(data.delta)
            elif data.type == "response.function_call_arguments.delta":
                page.tool_fragment(data.delta)
            elif data.type == "response.output_item.added" and data.item.type == "function_call":
                page.tool_call(data.item.call_id, data.item.name)
        elif event.type == "run_item_stream_event" and event.name == "tool_output":
            page.tool_result(event.item.raw_item["call_id"], event.item.output)
    return page.end()


if __name__ == "__main__":
    print_peer(turn)
