"""Runs turns of the reader with search tools that return given results and record their arguments."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from agent.turn_harness import TurnHarness, TurnRecording, tool
from footnote.models.reader import ReaderModel
from footnote.models.reader.messages import MESSAGES
from footnote.protocol.events import TextBlock, ToolUseBlock
from footnote.protocol.messages import Message, user_message
from footnote.protocol.sources import Disagreement, Passage, ProviderTry, Receipt, SearchArtifact, Source, SourceStatus
from footnote.protocol.tools import ToolResult, error_result, text_result
from footnote.tools.base import Outcome, Tool, ToolContext

SEARCH_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("query", "prompt", "country", "freshness")},
    "required": ["query"],
}
PAGE_SCHEMA = {
    "type": "object",
    "properties": {"url": {"type": "string"}, "prompt": {"type": "string"}},
    "required": ["url"],
}

QUESTION = "What is the capital of Vietnam?"
NOTE = MESSAGES["en"].note
HANOI = "Hanoi is the capital of Vietnam."
RIVER = "Hanoi lies on the Red River, 1,760 km from Ho Chi Minh City."


def source(number: int, status: SourceStatus = "read", **more: Any) -> Source:
    fields = {"url": f"https://site{number}.example/page", "title": f"Page {number}", "snippet": "", "published": None}
    return Source(domain=f"site{number}.example", number=number, status=status, **(fields | more))


def search_result(
    *passages: tuple[int, str],
    sources: tuple[Source, ...] = (),
    tries: tuple[ProviderTry, ...] = (),
    disagreements: tuple[Disagreement, ...] = (),
) -> ToolResult:
    """The result of a search that found these passages, each with the number of its source."""
    numbers = sorted({number for number, _ in passages})
    artifact = SearchArtifact(
        query="…",
        sources=sources or tuple(source(number) for number in numbers),
        passages=tuple(Passage(number=number, text=text, start=0, end=len(text)) for number, text in passages),
        disagreements=disagreements,
        receipt=Receipt(providers=tries),
    )
    return text_result("What the model reads.", artifact=msgspec.to_builtins(artifact))


@dataclass
class RecordingTool:
    """A tool that returns its results one after the other, repeats the last one, and records the arguments of each
    call."""

    name: str
    results: tuple[ToolResult, ...]
    schema: Mapping[str, Any] = field(default_factory=lambda: SEARCH_SCHEMA)
    arguments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def tool(self) -> Tool:
        async def body(params: dict[str, Any], _context: ToolContext) -> AsyncIterator[Outcome]:
            self.arguments.append(params)
            yield self.results[min(len(self.arguments), len(self.results)) - 1]

        return replace(tool(self.name, body), input_schema=dict(self.schema))


def search_tool(*results: ToolResult, **more: Any) -> RecordingTool:
    return RecordingTool("web_search", results, **more)


def page_tool(*results: ToolResult) -> RecordingTool:
    return RecordingTool("read_page", results, PAGE_SCHEMA)


def failing_results(*texts: str) -> tuple[ToolResult, ...]:
    return tuple(error_result(text) for text in texts)


def history(*messages: Message | str) -> tuple[Message, ...]:
    return tuple(user_message(one) if isinstance(one, str) else one for one in messages)


async def play_turn(
    *messages: Message | str, tools: tuple[RecordingTool | Tool, ...] = (), **more: Any
) -> TurnRecording:
    toolbox = [one.tool if isinstance(one, RecordingTool) else one for one in tools]
    return await TurnHarness(ReaderModel(), toolbox, history(*messages), **more).play()


def tool_calls(recording: TurnRecording) -> list[tuple[str, dict[str, Any]]]:
    return [(block.name, block.input) for block in recording.blocks if isinstance(block, ToolUseBlock)]


def last_text(recording: TurnRecording) -> str:
    (block,) = [block for block in recording.blocks if isinstance(block, TextBlock)]
    return block.text
