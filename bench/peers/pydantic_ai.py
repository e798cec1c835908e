"""pydantic-ai: `Agent.run_stream_events` over its own `FunctionModel`."""

import asyncio
from collections.abc import AsyncIterator
from functools import cache

from measure import print_peer
from pydantic_ai import (
    Agent,
    FunctionToolResultEvent,
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from scenario import CALL_ID, FRAGMENTS, QUESTION, SYSTEM, TOOL, Frames, Page, search, words


@cache
def _agent(deltas: int) -> Agent:
    async def stream(messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        if isinstance(messages[-1].parts[-1], ToolReturnPart):
            for word in words(deltas):
                await asyncio.sleep(0)
                yield word
        else:
            yield {0: DeltaToolCall(name=TOOL, json_args="", tool_call_id=CALL_ID)}
            for fragment in FRAGMENTS:
                await asyncio.sleep(0)
                yield {0: DeltaToolCall(json_args=fragment)}

    agent = Agent(FunctionModel(stream_function=stream), instructions=SYSTEM)
    agent.tool_plain(name=TOOL)(search)
    return agent


async def turn(deltas: int) -> Frames:
    page = Page()
    async with _agent(deltas).run_stream_events(QUESTION) as events:
        async for event in events:
            if isinstance(event, PartDeltaEvent):
                if isinstance(event.delta, TextPartDelta):
                    page.text(event.delta.content_delta)
                elif isinstance(event.delta, ToolCallPartDelta):
                    page.tool_fragment(event.delta.args_delta)
            elif isinstance(event, PartStartEvent):
                if isinstance(event.part, ToolCallPart):
                    page.tool_call(event.part.tool_call_id, event.part.tool_name)
                elif isinstance(event.part, TextPart) and event.part.content:
                    page.text(event.part.content)
            elif isinstance(event, FunctionToolResultEvent):
                page.tool_result(event.part.tool_call_id, event.part.content)
    return page.end()


if __name__ == "__main__":
    print_peer(turn)
