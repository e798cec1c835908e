"""The floor over HTTP: a client for this one upstream, on asyncio streams, with the standard `json`.

It supports keep-alive, chunked bodies and `data:` lines, and no timeouts, retries, redirects, limits or errors.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from scenario import PARAMETERS, SYSTEM, TOOL, TOOL_DESCRIPTION, Said

from upstream import model_name


class RawReader:
    """Converts both wire formats to the events of the hand-written loop."""

    def __init__(self, port: int, pace_ms: int) -> None:
        self._port = port
        self._pace = pace_ms
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()
            await writer.wait_closed()

    async def anthropic(self, messages: list[Said], deltas: int) -> AsyncIterator[Said]:
        body = _anthropic_request(messages, model_name(deltas, self._pace))
        async for payloads in self._post("/v1/messages", body):
            for payload in payloads:
                event = json.loads(payload)
                kind = event["type"]
                if kind == "content_block_delta":
                    delta = event["delta"]
                    if delta["type"] == "text_delta":
                        yield {"type": "text", "text": delta["text"]}
                    else:
                        yield {"type": "arguments", "json": delta["partial_json"]}
                elif kind == "content_block_start" and event["content_block"]["type"] == "tool_use":
                    yield {"type": "call", "id": event["content_block"]["id"], "name": event["content_block"]["name"]}
                elif kind == "content_block_stop":
                    yield {"type": "stop"}

    async def openai(self, messages: list[Said], deltas: int) -> AsyncIterator[Said]:
        body = _openai_request(messages, model_name(deltas, self._pace))
        async for payloads in self._post("/v1/chat/completions", body):
            for payload in payloads:
                if payload == b"[DONE]":
                    continue
                choice = json.loads(payload)["choices"][0]
                delta = choice["delta"]
                if delta.get("content"):
                    yield {"type": "text", "text": delta["content"]}
                for call in delta.get("tool_calls") or ():
                    if "id" in call:
                        yield {"type": "call", "id": call["id"], "name": call["function"]["name"]}
                    elif call["function"]["arguments"]:
                        yield {"type": "arguments", "json": call["function"]["arguments"]}
                if choice["finish_reason"]:
                    yield {"type": "stop"}

    async def _post(self, path: str, body: Said) -> AsyncIterator[list[bytes]]:
        """The payloads of the response's events, in batches as they arrived."""
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection("127.0.0.1", self._port)
        content = json.dumps(body).encode()
        writer.write(b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" % path.encode())
        writer.write(b"content-length: %d\r\n\r\n%b" % (len(content), content))
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head:
            raise ConnectionError(head.decode("latin-1"))
        received = rest = b""
        ended = False
        while not ended:
            received += await reader.read(1 << 16)
            bodies, received, ended = _chunks(received)
            *events, rest = (rest + b"".join(bodies)).split(b"\n\n")
            yield [event[event.index(b"data: ") + 6 :] for event in events]
        self._idle.append((reader, writer))


def _chunks(received: bytes) -> tuple[list[bytes], bytes, bool]:
    """The complete HTTP chunks, the bytes after them, and whether the body has ended."""
    bodies: list[bytes] = []
    at = 0
    while (line_end := received.find(b"\r\n", at)) >= 0:
        size = int(received[at:line_end], 16)
        start = line_end + 2
        if len(received) < start + size + 2:
            break
        if size == 0:
            return bodies, b"", True
        bodies.append(received[start : start + size])
        at = start + size + 2
    return bodies, received[at:], False


def _anthropic_request(messages: list[Said], model: str) -> dict[str, Any]:
    sent: list[Said] = []
    for message in messages:
        if message["role"] == "assistant":
            blocks = [
                {"type": "tool_use", **{key: call[key] for key in ("id", "name", "input")}} for call in message["calls"]
            ]
            sent.append({"role": "assistant", "content": blocks})
        elif message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["call_id"], "content": message["content"]}
            sent.append({"role": "user", "content": [block]})
        else:
            sent.append(message)
    tool = {"name": TOOL, "description": TOOL_DESCRIPTION, "input_schema": PARAMETERS}
    return {"model": model, "max_tokens": 4096, "stream": True, "system": SYSTEM, "messages": sent, "tools": [tool]}


def _openai_request(messages: list[Said], model: str) -> dict[str, Any]:
    sent: list[Said] = [{"role": "system", "content": SYSTEM}]
    for message in messages:
        if message["role"] == "assistant":
            calls = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": "".join(call["json"])},
                }
                for call in message["calls"]
            ]
            sent.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif message["role"] == "tool":
            sent.append({"role": "tool", "tool_call_id": message["call_id"], "content": message["content"]})
        else:
            sent.append(message)
    function = {"name": TOOL, "description": TOOL_DESCRIPTION, "parameters": PARAMETERS}
    return {"model": model, "stream": True, "messages": sent, "tools": [{"type": "function", "function": function}]}
