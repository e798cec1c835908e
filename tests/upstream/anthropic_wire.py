"""Encodes a script as the Anthropic Messages API streams it."""

import json
from collections.abc import Iterator
from typing import Any

from upstream import steps
from upstream.steps import ModelReply, ModelStatusReply

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "toolUse": "tool_use"}


class AnthropicWriter:
    """Encodes steps as events; tracks the index of the next block and the open blocks."""

    def __init__(self, reply: ModelReply, body: dict[str, Any]) -> None:
        self._wire = reply.wire
        self._usage = reply.usage
        self._model = body["model"]
        self._citable = dict(_citable_passages(body))
        self._started = False
        self._next = 0
        self._open: list[int] = []

    def write(self, step: steps.Spoken) -> bytes:
        return b"".join(
            self._wire.frame(payload, payload.get("type") if isinstance(payload, dict) else None)
            for payload in self._payloads(step)
        )

    def end(self) -> bytes:
        return b""

    def _payloads(self, step: steps.Spoken) -> Iterator[Any]:
        match step:
            case steps.ErrorStep(kind, message):
                yield {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
            case steps.EventStep(payload):
                yield payload
            case steps.Stop(reason):
                yield from self._start()
                yield from self._end(STOP_REASONS.get(reason or "", reason))
            case steps.Refuse(explanation):
                yield from self._start()
                details = {"type": "refusal", "category": "general_harms", "explanation": explanation}
                yield from self._end("refusal", details)
            case _:
                yield from self._start()
                yield from self._close()
                yield from self._block(step)

    def _start(self) -> Iterator[Any]:
        if self._started:
            return
        self._started = True
        yield {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": self._model,
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": self._usage.input,
                    "cache_creation_input_tokens": self._usage.cache_write,
                    "cache_read_input_tokens": self._usage.cache_read,
                    "output_tokens": 1,
                },
            },
        }
        yield {"type": "ping"}

    def _block(self, step: steps.Content) -> Iterator[Any]:
        match step:
            case steps.Say(fragments):
                at = yield from self._begin({"type": "text", "text": ""})
                for text in fragments:
                    yield _delta(at, {"type": "text_delta", "text": text})
            case steps.Cite(fragments, passages, citations_first):
                at = yield from self._begin({"type": "text", "text": "", "citations": []})
                texts = [_delta(at, {"type": "text_delta", "text": text}) for text in fragments]
                found = [
                    _delta(at, {"type": "citations_delta", "citation": self._citable[passage]}) for passage in passages
                ]
                yield from [*found, *texts] if citations_first else [*texts, *found]
            case steps.Think(fragments, signature):
                at = yield from self._begin({"type": "thinking", "thinking": "", "signature": ""})
                for text in fragments:
                    yield _delta(at, {"type": "thinking_delta", "thinking": text})
                if signature is not None:
                    yield _delta(at, {"type": "signature_delta", "signature": signature})
            case steps.Redacted(data):
                yield from self._begin({"type": "redacted_thinking", "data": data})
            case steps.Call():
                yield from self._calls((step,))
            case steps.ParallelCalls(calls):
                yield from self._calls(calls)

    def _calls(self, calls: tuple[steps.Call, ...]) -> Iterator[Any]:
        places: list[int] = []
        for one in calls:
            place = yield from self._begin({"type": "tool_use", "id": one.id, "name": one.name, "input": {}})
            places.append(place)
            yield _delta(place, {"type": "input_json_delta", "partial_json": ""})
        for turn in range(max(len(one.fragments) for one in calls)):
            for place, one in zip(places, calls, strict=True):
                if turn < len(one.fragments):
                    yield _delta(place, {"type": "input_json_delta", "partial_json": one.fragments[turn]})

    def _begin(self, block: dict[str, Any]) -> Iterator[Any]:
        at = self._next
        self._next += 1
        self._open.append(at)
        yield {"type": "content_block_start", "index": at, "content_block": block}
        return at

    def _close(self) -> Iterator[Any]:
        for at in self._open:
            yield {"type": "content_block_stop", "index": at}
        self._open.clear()

    def _end(self, reason: str | None, details: dict[str, Any] | None = None) -> Iterator[Any]:
        yield from self._close()
        usage: dict[str, Any] = {"output_tokens": self._usage.output}
        if self._usage.reasoning:
            usage["output_tokens_details"] = {"thinking_tokens": self._usage.reasoning}
        delta: dict[str, Any] = {"stop_reason": reason, "stop_sequence": None}
        if details is not None:
            delta["stop_details"] = details
        yield {"type": "message_delta", "delta": delta, "usage": usage}
        yield {"type": "message_stop"}


def _citable_passages(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The passages that a request asks to cite, by the ids with which their texts begin, with their locations."""
    contents = [message["content"] for message in body.get("messages", ()) if isinstance(message["content"], list)]
    blocks = [block for content in contents for block in content if block["type"] == "tool_result"]
    parts = [part for block in blocks if isinstance(block["content"], list) for part in block["content"]]
    results = [part for part in parts if part["type"] == "search_result"]
    for index, result in enumerate(results):
        for at, block in enumerate(result["content"]):
            yield (
                block["text"].partition("]")[0].removeprefix("["),
                {
                    "type": "search_result_location",
                    "source": result["source"],
                    "title": result["title"],
                    "cited_text": block["text"],
                    "search_result_index": index,
                    "start_block_index": at,
                    "end_block_index": at + 1,
                },
            )


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def error_body(answer: ModelStatusReply) -> bytes:
    error = {"type": answer.type, "message": answer.message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
