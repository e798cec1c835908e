"""Encodes a script as an OpenAI-compatible server streams chat completions."""

import json
from collections.abc import Iterator
from typing import Any

from upstream import steps
from upstream.steps import ModelReply, ModelStatusReply

STOP_REASONS = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}


class OpenAIWriter:
    """Encodes steps as chunks; tracks the index of the next call."""

    def __init__(self, reply: ModelReply, body: dict[str, Any]) -> None:
        self._wire = reply.wire
        self._usage = reply.usage
        self._model = body["model"]
        self._wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
        self._started = False
        self._next_call = 0
        self._detail = 0
        self._complete = False

    def write(self, step: steps.Spoken) -> bytes:
        return b"".join(self._wire.frame(payload, None) for payload in self._payloads(step))

    def end(self) -> bytes:
        """What follows the last step of a complete answer: usage and the end marker."""
        if not self._complete:
            return b""
        frames: list[bytes] = []
        if self._wants_usage and not self._wire.usage_everywhere:
            choices = None if self._wire.usage_choices == "null" else []
            frames.append(self._wire.frame(self._envelope(choices) | {"usage": self._counts()}, None))
        if self._wire.done_line:
            frames.append(self._wire.frame("[DONE]", None))
        return b"".join(frames)

    def _payloads(self, step: steps.Spoken) -> Iterator[Any]:
        match step:
            case steps.ErrorStep(kind, message):
                yield {"error": {"message": message, "type": kind, "param": None, "code": None}}
            case steps.EventStep(payload):
                yield payload
            case steps.Stop(reason):
                yield from self._start()
                yield self._finish(STOP_REASONS.get(reason or "", reason))
            case steps.Refuse(explanation):
                yield from self._start()
                yield self._chunk({"refusal": explanation})
                yield self._finish("stop")
            case _:
                yield from self._start()
                yield from (self._chunk(delta) for delta in self._deltas(step))

    def _start(self) -> Iterator[Any]:
        if not self._started:
            self._started = True
            yield self._chunk({"role": "assistant", "content": "", "refusal": None})

    def _deltas(self, step: steps.Content) -> Iterator[dict[str, Any]]:
        match step:
            case steps.Say(fragments) | steps.Cite(fragments):
                yield from ({"content": text} for text in fragments)
            case steps.Think(fragments, signature):
                yield from self._thoughts(fragments, signature)
            case steps.Redacted(data):
                if self._wire.reasoning == "reasoning_details":
                    yield {"reasoning_details": [self._record("reasoning.encrypted", data=data)]}
                    self._detail += 1
            case steps.Call():
                yield from self._calls((step,))
            case steps.ParallelCalls(calls):
                yield from self._calls(calls)

    def _thoughts(self, fragments: tuple[str, ...], signature: str | None) -> Iterator[dict[str, Any]]:
        if self._wire.reasoning != "reasoning_details":
            yield from ({self._wire.reasoning: text} for text in fragments)
            return
        for text in fragments:
            yield {"reasoning": text, "reasoning_details": [self._record("reasoning.text", text=text)]}
        if signature is not None:
            record = self._record("reasoning.text", text="", signature=signature)
            yield {"reasoning": "", "reasoning_details": [record]}
        self._detail += 1

    def _record(self, kind: str, **fields: str) -> dict[str, Any]:
        return {"type": kind, **fields, "format": "anthropic-claude-v1", "index": self._detail}

    def _calls(self, calls: tuple[steps.Call, ...]) -> Iterator[dict[str, Any]]:
        first = self._next_call
        self._next_call += len(calls)
        if self._wire.call_index != "own":  # such servers send each call whole, in one delta
            for one in calls:
                function = {"name": one.name, "arguments": "".join(one.fragments)}
                yield self._call_delta(first, {"id": one.id, "type": "function", "function": function})
            return
        for place, one in enumerate(calls, first):
            function = {"name": one.name, "arguments": ""}
            yield self._call_delta(place, {"id": one.id, "type": "function", "function": function})
        for turn in range(max(len(one.fragments) for one in calls)):
            for place, one in enumerate(calls, first):
                if turn < len(one.fragments):
                    named = {"name": one.name} if self._wire.repeat_name else {}
                    arguments = {"arguments": one.fragments[turn]}
                    yield self._call_delta(place, {"function": named | arguments})

    def _call_delta(self, place: int, fields: dict[str, Any]) -> dict[str, Any]:
        match self._wire.call_index:
            case "own":
                return {"tool_calls": [{"index": place} | fields]}
            case "same":
                return {"tool_calls": [{"index": 0} | fields]}
            case "none":
                return {"tool_calls": [fields]}

    def _finish(self, reason: str | None) -> dict[str, Any]:
        self._complete = True
        return self._chunk({}, reason)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk = self._envelope([choice])
        return chunk | {"usage": self._counts()} if self._wire.usage_everywhere else chunk

    def _envelope(self, choices: list[Any] | None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1794700800,
            "model": self._model,
            "choices": choices,
        }

    def _counts(self) -> dict[str, Any]:
        prompt = self._usage.input + self._usage.cache_read + self._usage.cache_write
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self._usage.output,
            "total_tokens": prompt + self._usage.output,
            "prompt_tokens_details": {
                "cached_tokens": self._usage.cache_read,
                "cache_write_tokens": self._usage.cache_write,
            },
            "completion_tokens_details": {"reasoning_tokens": self._usage.reasoning},
        }


def error_body(answer: ModelStatusReply) -> bytes:
    error = {"message": answer.message, "type": answer.type, "param": None, "code": answer.error_code}
    return json.dumps({"error": error}).encode()
