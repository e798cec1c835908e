"""A model API on loopback in a process of its own, so that its CPU time is not counted: Anthropic and OpenAI formats.

The model's name says what to stream: `scripted-<deltas>-<pace>`, the pace in milliseconds between two events; pace 0
writes the whole response at once. A request that ends with a tool result is answered with text, any other one
with the tool call. `text-…` always answers with text, and so does `clock-…`, whose deltas are the time at which they
are sent (microseconds of the machine's monotonic clock). Prints its port. Standard library only.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal

from scenario import CALL_ID, FRAGMENTS, TOOL, words

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
TIME = "0" * 16
"""The place of the sending time in a delta."""


def model_name(deltas: int, pace_ms: int, kind: Literal["scripted", "text", "clock"] = "scripted") -> str:
    return f"{kind}-{deltas}-{pace_ms}"


def _anthropic(words: Sequence[str], *, text: bool) -> Iterator[bytes]:
    def event(name: str, **fields: Any) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()

    usage = {"input_tokens": 64, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if text:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for word in words:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    else:
        block = {"type": "tool_use", "id": CALL_ID, "name": TOOL, "input": {}}
        yield event("content_block_start", index=0, content_block=block)
        for fragment in FRAGMENTS:
            yield event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": fragment})
    yield event("content_block_stop", index=0)
    reason = "end_turn" if text else "tool_use"
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": len(words)})
    yield event("message_stop")


def _openai(words: Sequence[str], *, text: bool) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        return f"data: {json.dumps({**head, 'choices': [choice], **more})}\n\n".encode()

    yield chunk({"role": "assistant", "content": "" if text else None})
    if text:
        for word in words:
            yield chunk({"content": word})
    else:
        call = {"index": 0, "id": CALL_ID, "type": "function", "function": {"name": TOOL, "arguments": ""}}
        yield chunk({"tool_calls": [call]})
        for fragment in FRAGMENTS:
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": fragment}}]})
    usage = {"prompt_tokens": 64, "completion_tokens": len(words), "total_tokens": len(words) + 64}
    yield chunk({}, "stop" if text else "tool_calls", usage=usage)
    yield b"data: [DONE]\n\n"


@cache
def _response(path: str, deltas: int, *, text: bool, clock: bool) -> tuple[bytes, ...]:
    """The body, one HTTP chunk per event."""
    texts = [TIME] * deltas if clock else list(words(deltas))
    events = (_anthropic if path.endswith("/messages") else _openai)(texts, text=text)
    return tuple(b"%x\r\n%b\r\n" % (len(event), event) for event in events)


def _stamp_time(chunk: bytes) -> bytes:
    return chunk.replace(TIME.encode(), b"%016d" % (time.monotonic_ns() // 1000))


class Metronome:
    """Streams of one pace, written by one task, because a thousand tasks would need a processor of their own. They are
    spread over the time between two deltas of one of them."""

    BEATS = 25

    def __init__(self, pace_ms: int) -> None:
        self._pause = pace_ms / 1000 / self.BEATS
        self._streams: list[list[tuple[asyncio.StreamWriter, Iterator[bytes], asyncio.Future[None]]]]
        self._streams = [[] for _ in range(self.BEATS)]
        self._task = asyncio.create_task(self._run())

    async def stream(self, writer: asyncio.StreamWriter, chunks: Sequence[bytes]) -> None:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        min(self._streams, key=len).append((writer, iter(chunks), ended))
        await ended

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            for streams in self._streams:
                for stream in streams[:]:
                    writer, chunks, ended = stream
                    is_gone = writer.is_closing()  # a killed client must not stop the others
                    chunk = None if is_gone else next(chunks, None)
                    if not is_gone:
                        writer.write(END if chunk is None else _stamp_time(chunk))
                    if chunk is None:
                        streams.remove(stream)
                        ended.set_result(None)
                due += self._pause
                await asyncio.sleep(max(0.0, due - loop.time()))


@cache
def _metronome(pace_ms: int) -> Metronome:
    return Metronome(pace_ms)


def _ends_with_tool_result(messages: list[dict[str, Any]]) -> bool:
    last = messages[-1]
    parts = last["content"] if isinstance(last["content"], list) else []
    return last["role"] == "tool" or any(part["type"] == "tool_result" for part in parts)


async def _answer(request: dict[str, Any], path: str, writer: asyncio.StreamWriter) -> None:
    kind, deltas, pace = request["model"].split("-")
    text = kind != "scripted" or _ends_with_tool_result(request["messages"])
    clock = kind == "clock"
    chunks = _response(path, int(deltas), text=text, clock=clock)
    if pace == "0":
        writer.write(HEAD + b"".join(chunks) + END)
        await writer.drain()
        return
    if clock:
        writer.write(HEAD)
        await _metronome(int(pace)).stream(writer, chunks)
        return
    loop = asyncio.get_running_loop()
    due = loop.time()
    writer.write(HEAD)
    for chunk in chunks:
        writer.write(chunk)
        due += int(pace) / 1000
        await asyncio.sleep(max(0.0, due - loop.time()))
    writer.write(END)
    await writer.drain()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            request_line, *headers = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            length = next((int(line[15:]) for line in headers if line.startswith("content-length:")), 0)
            request = json.loads(await reader.readexactly(length) or b"{}")
            if "messages" in request:
                await _answer(request, request_line.split()[1], writer)
            else:  # what is asked of local servers to find out what they are
                writer.write(NOT_FOUND)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1024, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def run_upstream(*, on_uvloop: bool = False) -> Iterator[int]:
    """The upstream in a process of its own; yields its port. `on_uvloop`: for very many streams."""
    command = [sys.executable, str(Path(__file__).resolve()), *(["uvloop"] if on_uvloop else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline()) if process.stdout else 0
        finally:
            process.kill()


if __name__ == "__main__":
    if "uvloop" in sys.argv:
        import uvloop

        uvloop.run(_main())
    else:
        asyncio.run(_main())
