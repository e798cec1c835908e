"""The turn that every subject runs, and the hand-written loop, which is the floor.

One turn is a tool call whose arguments arrive in five fragments, its result, and an answer of N text deltas. A subject
returns the server-sent events that a client would receive, as bytes; `check` parses them again.

Standard library only: this file runs in every peer's environment.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeAlias

DELTAS = 500
RUNS_AT_ONCE = 20

SYSTEM = "You are a careful analyst. Look facts up before you state them."
QUESTION = "How much rice did Vietnam export last year?"
TOOL = "web_search"
TOOL_DESCRIPTION = "Search the web and read the best pages."
CALL_ID = "call_7"
FRAGMENTS = ('{"query": "Viet', 'nam rice exports"', ', "prompt": "tonnes', " and value, ", 'latest full year"}')
ARGUMENTS = json.loads("".join(FRAGMENTS))
RESULT = "Vietnam exported 9.0 million tonnes of rice.\n\nSources:\n[Example](https://example.com/rice)"
PARAMETERS = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "prompt": {"type": "string"}},
    "required": ["query", "prompt"],
}

Frames: TypeAlias = list[bytes]
Said: TypeAlias = dict[str, Any]
ReferenceModel: TypeAlias = Callable[[list[Said], int], AsyncIterator[Said]]


def words(deltas: int) -> Iterator[str]:
    """The answer, delta by delta."""
    return (f"token{number % 89} " for number in range(deltas))


def model_events(deltas: int) -> int:
    """The events of the model in a turn: the start of the call, its fragments and the deltas. The same for every
    subject."""
    return 1 + len(FRAGMENTS) + deltas


async def search(query: str, prompt: str) -> str:
    """The tool, which costs nothing."""
    del query, prompt
    return RESULT


class Page:
    """The events for a client of the reference or of a peer: Anthropic-style, through the standard `json`."""

    __slots__ = ("_index", "_open", "frames")

    _json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

    def __init__(self) -> None:
        self.frames: Frames = []
        self._index = -1
        self._open = ""
        self._send("message_start", {"message": {"id": "msg_1", "role": "assistant", "model": "scripted"}})

    def _send(self, name: str, fields: Said) -> None:
        data = self._json({"type": name, **fields})
        self.frames.append(f"id: {len(self.frames) + 1}\nevent: {name}\ndata: {data}\n\n".encode())

    def _start(self, block: Said) -> None:
        self.close_block()
        self._index += 1
        self._open = block["type"]
        self._send("content_block_start", {"index": self._index, "content_block": block})

    def close_block(self) -> None:
        if self._open:
            self._open = ""
            self._send("content_block_stop", {"index": self._index})

    def tool_call(self, call_id: str, name: str) -> None:
        self._start({"type": "tool_use", "id": call_id, "name": name, "input": {}})

    def tool_fragment(self, fragment: str) -> None:
        delta = {"type": "input_json_delta", "partial_json": fragment}
        self._send("content_block_delta", {"index": self._index, "delta": delta})

    def tool_result(self, call_id: str, content: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "name": TOOL, "status": "success", "content": content}
        self._start(block)
        self.close_block()

    def text(self, text: str) -> None:
        if self._open != "text":
            self._start({"type": "text", "text": ""})
        self._send("content_block_delta", {"index": self._index, "delta": {"type": "text_delta", "text": text}})

    def end(self) -> Frames:
        self.close_block()
        self._send("message_delta", {"delta": {"stop_reason": "stop"}})
        self._send("message_stop", {})
        return self.frames


async def scripted(messages: list[Said], deltas: int) -> AsyncIterator[Said]:
    """The reference's model: the events of a provider, one turn of the event loop for each."""
    if messages[-1]["role"] == "tool":
        for word in words(deltas):
            await asyncio.sleep(0)
            yield {"type": "text", "text": word}
    else:
        yield {"type": "call", "id": CALL_ID, "name": TOOL}
        for fragment in FRAGMENTS:
            await asyncio.sleep(0)
            yield {"type": "arguments", "json": fragment}
    yield {"type": "stop"}


async def hand_written(deltas: int, model: ReferenceModel = scripted) -> Frames:
    """The floor: a simple agent loop for only this turn."""
    page = Page()
    messages: list[Said] = [{"role": "user", "content": QUESTION}]
    while True:
        calls: list[Said] = []
        answer: list[str] = []
        async for event in model(messages, deltas):
            kind = event["type"]
            if kind == "text":
                answer.append(event["text"])
                page.text(event["text"])
            elif kind == "arguments":
                calls[-1]["json"].append(event["json"])
                page.tool_fragment(event["json"])
            elif kind == "call":
                calls.append({"id": event["id"], "name": event["name"], "json": []})
                page.tool_call(event["id"], event["name"])
            else:
                page.close_block()
        messages.append({"role": "assistant", "content": "".join(answer), "calls": calls})
        if not calls:
            return page.end()
        for call in calls:
            call["input"] = json.loads("".join(call["json"]))
            result = await search(**call["input"])
            page.tool_result(call["id"], result)
            messages.append({"role": "tool", "call_id": call["id"], "content": result})


def check(frames: Frames, deltas: int) -> None:
    """Raises unless the frames contain the whole turn: one call, its result, and every delta of the answer."""
    events = [json.loads(frame.split(b"\ndata: ", 1)[1]) for frame in frames]
    blocks = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    stops = sum(event["type"] == "content_block_stop" for event in events)
    grown = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    texts = [delta["text"] for delta in grown if delta["type"] == "text_delta"]
    if blocks != ["tool_use", "tool_result", "text"] or stops != len(blocks):
        raise AssertionError(f"The turn has the blocks {blocks} and closes {stops} of them.")
    if texts != list(words(deltas)):
        raise AssertionError(f"The answer came in {len(texts)} deltas, or with another text; {deltas} were sent.")
