"""What LangGraph and deepagents share: a scripted chat model, the tool, and the frames made from their stream."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import BaseTool, StructuredTool
from measure import Turn
from scenario import CALL_ID, FRAGMENTS, QUESTION, TOOL, TOOL_DESCRIPTION, Frames, Page, search, words

web_search: BaseTool = StructuredTool.from_function(coroutine=search, name=TOOL, description=TOOL_DESCRIPTION)


class ScriptedChat(BaseChatModel):
    deltas: int

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "ScriptedChat":
        return self

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        if isinstance(messages[-1], ToolMessage):
            for word in words(self.deltas):
                await asyncio.sleep(0)
                yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        else:
            yield _call_chunk(CALL_ID, TOOL, "")
            for fragment in FRAGMENTS:
                await asyncio.sleep(0)
                yield _call_chunk(None, None, fragment)


def _call_chunk(call_id: str | None, name: str | None, arguments: str) -> ChatGenerationChunk:
    piece = {"index": 0, "id": call_id, "name": name, "args": arguments}
    return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))


def _relay(message: BaseMessage, page: Page) -> None:
    if isinstance(message, ToolMessage):
        page.tool_result(message.tool_call_id, message.content)
    elif isinstance(message, AIMessageChunk):
        for piece in message.tool_call_chunks:
            if piece["name"]:
                page.tool_call(piece["id"], piece["name"])
            elif piece["args"]:
                page.tool_fragment(piece["args"])
        if message.content:
            page.text(message.content)


def streaming(build: Callable[[ScriptedChat], Any]) -> Turn:
    """A turn through `astream(stream_mode="messages")`, the cheaper of the two ways to stream tokens."""
    agent = cache(lambda deltas: build(ScriptedChat(deltas=deltas)))
    question = {"messages": [{"role": "user", "content": QUESTION}]}

    async def turn(deltas: int) -> Frames:
        page = Page()
        async for message, _ in agent(deltas).astream(question, stream_mode="messages"):
            _relay(message, page)
        return page.end()

    return turn
