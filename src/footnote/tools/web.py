"""What the search tools share: the search of a run, and its answer as a result."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec

from footnote.protocol.errors import ToolFailed
from footnote.protocol.messages import Text
from footnote.protocol.tools import Progress, ToolResult
from footnote.tools.base import Abilities, Outcome, ToolContext
from footnote.web_search.pipeline import SearchAnswer, WebSearch


def is_on(abilities: Abilities) -> bool:
    return abilities.web is not None


def web_of(context: ToolContext) -> WebSearch:
    if context.abilities.web is None:
        raise ToolFailed("Search is switched off for this agent.")
    return context.abilities.web


async def outcomes(steps: AsyncGenerator[Progress | SearchAnswer, None]) -> AsyncIterator[Outcome]:
    async with aclosing(steps):
        async for step in steps:
            yield step if isinstance(step, Progress) else to_tool_result(step)


def to_tool_result(answer: SearchAnswer) -> ToolResult:
    artifact = msgspec.json.decode(msgspec.json.encode(answer.artifact))  # plain JSON: lists, and no tuples
    return ToolResult((Text(answer.content),), is_error=answer.failed, artifact=artifact, usage=answer.usage)
