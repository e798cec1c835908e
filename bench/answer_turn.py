"""One question to the whole product, or to the model alone, and the answer with what it cost."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from footnote.app import App, Run
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    CitationsGrowth,
    ErrorEvent,
    Event,
    MessageDelta,
    RoundRestart,
    TextGrowth,
    ToolResultBlock,
    ToolUseBlock,
    TurnUsage,
)
from footnote.protocol.messages import AssistantMessage, user_message
from footnote.protocol.sources import evidence_in
from footnote.protocol.stream import Done, Failed
from footnote.web_search.pipeline import SearchAnswer

PLAIN_PROMPT = "Answer the question from these passages, in the language of the question.\n\n{passages}\n\n{question}"
PLAIN_OPTIONS = Options(temperature=0.0, max_tokens=1_024)
"""As in guided style: without chance, and with an end for a model that repeats itself."""


class Transcript:
    """What the events of one run say: the text after the last look-up, and what was looked up."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.supported: set[int] = set()
        self.calls: dict[int, str] = {}
        self.evidence: dict[str, None] = {}
        self.usage: TurnUsage | None = None
        self.failure: str | None = None
        self._last_result = -1

    @property
    def answer(self) -> str:
        return "\n\n".join(text for index, text in sorted(self.texts.items()) if index > self._last_result)

    @property
    def has_supported_footnote(self) -> bool:
        return any(index > self._last_result for index in self.supported)

    def add(self, event: Event) -> None:
        match event:
            case BlockStart(index, ToolUseBlock() as call):
                self.calls[index] = f"{call.name} {json.dumps(call.input, ensure_ascii=False)}"
            case BlockStart(index, ToolResultBlock() as result):
                self._last_result = index
                self.evidence |= dict.fromkeys(passages_in(result.artifact or {}))
                if result.status == "error":
                    self.calls[index] = f"{result.name} failed: {result.content[:300]}"
            case BlockDelta(index, TextGrowth(text)):
                self.texts[index] = self.texts.get(index, "") + text
            case BlockDelta(index, CitationsGrowth(citations)):
                is_supported = any(citation.verdict == "supported" for citation in citations)
                (self.supported.add if is_supported else self.supported.discard)(index)
            case RoundRestart(from_index):
                self._drop(from_index)
            case MessageDelta():
                self.usage = event.usage
            case ErrorEvent(error):
                self.failure = error.message
            case _:
                pass

    def _drop(self, from_index: int) -> None:
        self.texts = {index: text for index, text in self.texts.items() if index < from_index}
        self.calls = {index: call for index, call in self.calls.items() if index < from_index}
        self.supported = {index for index in self.supported if index < from_index}


def passages_in(artifact: Mapping[str, Any]) -> list[str]:
    """What the model could answer from: the evidence, or the quotations where it is switched off."""
    return [one.text for one in evidence_in(artifact)] or [one["text"] for one in artifact.get("passages", ())]


async def ask(app: App, question: str, seconds: float) -> dict[str, Any]:
    """The fields of the outcome."""
    transcript = Transcript()
    run: Run | None = None
    started = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            run = await app.ask(question)
            async with aclosing(run.events()) as events:
                async for event in events:
                    transcript.add(event)
    except TimeoutError:
        transcript.failure = f"no answer within {seconds:g} seconds"
    except FootnoteError as error:
        transcript.failure = error.message
    usage = transcript.usage
    return {
        "answer": transcript.answer,
        "has_supported_footnote": transcript.has_supported_footnote,
        "calls": tuple(call for _, call in sorted(transcript.calls.items())),
        "evidence": tuple(transcript.evidence),
        "tokens_in": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens if usage else 0,
        "tokens_out": usage.output_tokens if usage else 0,
        "first_request": first_request(run) if run else None,
        "seconds": time.monotonic() - started,
        "failure": transcript.failure,
    }


def first_request(run: Run) -> int | None:
    """A response that was made by rule used no tokens."""
    counts = (message.usage.context for message in run.messages if isinstance(message, AssistantMessage))
    return next((count for count in counts if count), None)


async def ask_plainly(app: App, question: str, evidence: Sequence[str], seconds: float) -> dict[str, Any]:
    """The same passages and one plain prompt, without anything else of the product."""
    started = time.monotonic()
    event: Done | Failed | None = None
    try:
        async with asyncio.timeout(seconds):
            evidence = evidence or await search(app, question)
            started = time.monotonic()
            model = await app.model(app.configuration.agent(None))
            event = await respond(model, PLAIN_PROMPT.format(passages="\n\n".join(evidence), question=question))
    except TimeoutError:
        pass
    except FootnoteError as error:
        return {"failure": error.message}
    if event is None:
        return {"evidence": tuple(evidence), "failure": f"no answer within {seconds:g} seconds", "seconds": seconds}
    message = event.message
    return {
        "answer": message.text,
        "evidence": tuple(evidence),
        "tokens_in": message.usage.context,
        "tokens_out": message.usage.output,
        "first_request": message.usage.context or None,
        "seconds": time.monotonic() - started,
        "failure": message.failure.message if message.failure else None,
    }


async def search(app: App, question: str) -> list[str]:
    """The passages for a question of which no style has found any, without a summary by the model."""
    async with aclosing(app.search(question, model="footnote/reader")) as steps:
        async for step in steps:
            if isinstance(step, SearchAnswer):
                return passages_in(msgspec.to_builtins(step.artifact))
    return []


async def respond(model: Model, prompt: str) -> Done | Failed | None:
    async with aclosing(model.stream(Context("", (user_message(prompt),)), PLAIN_OPTIONS, CancelScope())) as stream:
        async for event in stream:
            if isinstance(event, Done | Failed):
                return event
    return None
