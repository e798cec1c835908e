"""The server: HTTP/1.1 on bare asyncio transports, so that it can cut, stall, reset and split a response."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal, Self, TypeAlias

from upstream import anthropic_rules, anthropic_wire, openai_rules, openai_wire, steps
from upstream.steps import ModelReply, ModelStatusReply

Api: TypeAlias = Literal["anthropic", "openai"]
KEY = "sk-test-0123456789-never-shown"


@dataclass(eq=False)
class Connection:
    """The client's end of a connection: its number, and when it was closed."""

    number: int
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    closed_at: float | None = None


@dataclass(frozen=True)
class ModelRequest:
    """A request, and the connection on which it was received."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    connection: Connection

    @property
    def api(self) -> Api | None:
        path = self.path.partition("?")[0]
        if path.endswith("/v1/messages"):
            return "anthropic"
        return "openai" if path.endswith("/chat/completions") else None


_FACTS = ("/api/show", "/api/v0/models/", "/api/v1/models", "/props?", "/v1/models", "/models")
"""The paths by which the product asks a server for facts about a model. This one has none to give."""

Answer: TypeAlias = ModelReply | ModelStatusReply
Scripted: TypeAlias = Answer | Callable[[ModelRequest], Answer]


@dataclass
class Upstream:
    """`async with Upstream() as upstream`. `key`: the API key that clients must send. None: they must send none."""

    key: str | None = KEY
    extensions: frozenset[str] = frozenset()
    """Fields of messages that this server knows beyond the official API, such as `reasoning_details`."""
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])
    problems: list[str] = field(default_factory=list[str])
    port: int = 0
    connections: list[Connection] = field(default_factory=list[Connection])
    _script: list[Scripted] = field(default_factory=list[Scripted])
    _open: set["_Conversation"] = field(default_factory=set["_Conversation"])
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_listening()

    async def listen(self) -> None:
        """Starts to accept connections; after `stop_listening` on the same port again."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Conversation(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop_listening(self) -> None:
        """Refuses new connections, and drops the open ones."""
        if self._server is None:
            return
        self._server.close()
        for conversation in list(self._open):
            await conversation.drop()
        await self._server.wait_closed()
        self._server = None

    def script(self, *answers: Scripted) -> None:
        """One answer for each request, in order. A function answers every request from its place on."""
        self._script += answers

    async def wait_received(self, count: int) -> ModelRequest:
        """Waits for request number `count` (from 1)."""
        while len(self.requests) < count:
            self._changed.clear()
            await self._changed.wait()
        return self.requests[count - 1]

    def answer(self, request: ModelRequest) -> Answer:
        if request.path.startswith(_FACTS):
            return steps.status(404, "404 page not found")
        self.requests.append(request)
        self._changed.set()
        problems = self._check(request)
        if problems:
            self.problems += problems
            return steps.status(400, "; ".join(problems))
        if not self._script:
            self.problems.append(f"request {len(self.requests)} has no answer in the script")
            return steps.status(400, self.problems[-1])
        answer = self._script[0]
        if callable(answer):
            return answer(request)
        del self._script[0]
        return answer

    def _check(self, request: ModelRequest) -> list[str]:
        match request.api:
            case "anthropic":
                return anthropic_rules.request_problems(request.headers, request.body, self.key)
            case "openai":
                return openai_rules.request_problems(request.headers, request.body, self.key, self.extensions)
            case None:
                return [f"{request.method} {request.path} is neither of the two APIs"]


class _Conversation(asyncio.Protocol):
    """The requests of one connection, answered one after the other."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._connection = Connection(len(upstream.connections))
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._upstream.connections.append(self._connection)
        self._upstream._open.add(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, mark, rest = self._buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, path, _ = first.split(" ")
        body = json.loads(rest[:length]) if length else None
        request = ModelRequest(method, path, headers, body, self._connection)
        self._task = asyncio.ensure_future(self._respond(request))

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.closed_at = asyncio.get_running_loop().time()
        self._connection.closed.set()
        self._upstream._open.discard(self)

    async def drop(self) -> None:
        self._transport.abort()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _respond(self, request: ModelRequest) -> None:
        answer = self._upstream.answer(request)
        if isinstance(answer, ModelStatusReply):
            self._send_status(request, answer)
        else:
            await _Stream(request, answer, self._transport).run()

    def _send_status(self, request: ModelRequest, answer: ModelStatusReply) -> None:
        shape = anthropic_wire if request.api == "anthropic" else openai_wire
        body = shape.error_body(answer) if answer.body is None else answer.body
        headers = {"content-type": "application/json", "content-length": str(len(body)), **answer.headers}
        self._transport.write(_head(answer.code, headers) + body)


class _Stream:
    """One streamed response: the head before the first byte, pieces as HTTP chunks, and the end if it is reached."""

    def __init__(self, request: ModelRequest, reply: ModelReply, transport: asyncio.Transport) -> None:
        self._request = request
        self._reply = reply
        self._transport = transport
        self._buffer = b""
        self._has_sent_head = False
        writer = anthropic_wire.AnthropicWriter if request.api == "anthropic" else openai_wire.OpenAIWriter
        self._writer = writer(reply, request.body)

    async def run(self) -> None:
        for step in self._reply.steps:
            if self._transport.is_closing():
                return
            match step:
                case steps.UsageStep():
                    pass
                case steps.Raw(data):
                    await self._put(data)
                case steps.Pause() | steps.Hold() | steps.Stall() | steps.Cut() | steps.Reset():
                    await self._flush()
                    if await self._apply_effect(step):
                        return
                case _:
                    await self._put(self._writer.write(step))
        await self._put(self._writer.end())
        await self._flush(last=True)
        self._transport.write(b"0\r\n\r\n")

    async def _apply_effect(self, step: steps.Effect) -> bool:
        """Applies an effect of the network; true if nothing can follow it."""
        match step:
            case steps.Pause(seconds):
                await asyncio.sleep(seconds)
            case steps.Hold(until):
                await until.wait()
            case steps.Stall():
                await self._request.connection.closed.wait()
            case steps.Cut():
                self._transport.close()
            case _:
                linger = struct.pack("ii", 1, 0)
                self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self._transport.abort()
        return not isinstance(step, steps.Pause | steps.Hold)

    async def _put(self, data: bytes) -> None:
        self._buffer += data
        if self._reply.wire.piece == "event":
            await self._flush()

    async def _flush(self, *, last: bool = False) -> None:
        """Writes the buffer, each piece in a turn of the event loop of its own."""
        data, self._buffer = self._buffer, b""
        if not data and not last:
            return
        if last and not self._reply.wire.last_newline:
            data = data.rstrip(b"\r\n")
        if not self._has_sent_head:
            self._has_sent_head = True
            self._transport.write(_head(200, _STREAM_HEADERS))
        for piece in self._reply.wire.pieces(data):
            if piece:
                self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await asyncio.sleep(0)


_STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}


def _head(code: int, headers: dict[str, str]) -> bytes:
    phrase = HTTPStatus(code).phrase if code in set(HTTPStatus) else "Overloaded"
    lines = [f"HTTP/1.1 {code} {phrase}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def render_body(api: Api, reply: ModelReply) -> bytes:
    """The whole body of `reply`, for tests that feed a decoder without a server."""
    body = {"model": "model", "stream_options": {"include_usage": True}}
    writer = (anthropic_wire.AnthropicWriter if api == "anthropic" else openai_wire.OpenAIWriter)(reply, body)
    parts: list[bytes] = []
    for step in reply.steps:
        match step:
            case steps.UsageStep():
                pass
            case steps.Raw(data):
                parts.append(data)
            case steps.Pause() | steps.Hold() | steps.Stall() | steps.Cut() | steps.Reset():
                raise ValueError("a network effect has no bytes")
            case _:
                parts.append(writer.write(step))
    data = b"".join([*parts, writer.end()])
    return data if reply.wire.last_newline else data.rstrip(b"\r\n")
