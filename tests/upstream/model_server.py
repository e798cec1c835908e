"""Local model servers as the addresses of their own describe a model: Ollama, llama.cpp, LM Studio, vLLM.

`Ollama` also answers as Ollama does: it loads a model with the first request to it, cuts what is larger than its window
from the beginning without a word, and knows only models that were pulled.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from upstream import openai_wire
from upstream.steps import ModelReply, reply, say, stop, usage

Handler: TypeAlias = Callable[[str, str, Any], Awaitable["JsonReply | ModelReply"]]


@dataclass(frozen=True)
class JsonReply:
    value: Any
    status: int = 200


NOT_FOUND = JsonReply({"error": "404 page not found"}, 404)


class JsonServer:
    """`async with JsonServer(answer) as server`: HTTP/1.1 on loopback, a connection for each request."""

    def __init__(self, answer: Handler) -> None:
        self._answer = answer
        self.requests: list[tuple[str, str]] = []
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            method, path, _ = first.split(" ")
            self.requests.append((method, path))
            answer = await self._answer(method, path, json.loads(body) if body else None)
            if isinstance(answer, JsonReply):
                writer.write(_response(answer.status, "application/json", json.dumps(answer.value).encode()))
            else:
                stream = openai_wire.OpenAIWriter(answer, json.loads(body))
                content = b"".join(stream.write(step) for step in answer.steps if not isinstance(step, type(usage())))
                writer.write(_response(200, "text/event-stream", content + stream.end()))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def _response(status: int, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body


def routes(answers: Mapping[str, Any]) -> Handler:
    """Answers by `METHOD /path`; anything else is not found."""

    async def answer(method: str, path: str, _: Any) -> JsonReply:
        found = answers.get(f"{method} {path}")
        return NOT_FOUND if found is None else found if isinstance(found, JsonReply) else JsonReply(found)

    return answer


@dataclass(frozen=True)
class OllamaModel:
    """`num_ctx`: what its Modelfile says. `says`: its answer to a request, of which it sees only `seen`."""

    size: str = "1.5B"
    count: int | None = 1_543_714_304
    trained: int = 32_768
    num_ctx: int | None = None
    capabilities: tuple[str, ...] = ("completion", "tools")


@dataclass
class Ollama:
    """`async with ollama.serve() as server`. `window`: OLLAMA_CONTEXT_LENGTH."""

    models: dict[str, OllamaModel]
    window: int = 4_096
    answer: Callable[[str, Any], ModelReply] = field(default=lambda seen, _: reply(say(f"Seen: {seen[-40:]}"), stop()))
    loaded: dict[str, int] = field(default_factory=dict[str, int])
    chats: list[Any] = field(default_factory=list[Any])
    """The bodies of the requests for answers."""
    cut: int = 0
    """The number of requests of which the beginning was left out."""
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Models are loaded once this is set."""

    def __post_init__(self) -> None:
        self.is_ready.set()

    def serve(self) -> JsonServer:
        return JsonServer(self._handle)

    async def _handle(self, method: str, path: str, body: Any) -> JsonReply | ModelReply:
        match method, path:
            case "GET", "/v1/models":
                return JsonReply(
                    {"object": "list", "data": [{"id": name, "owned_by": "library"} for name in self.models]}
                )
            case "GET", "/api/ps":
                loaded = [{"name": name, "context_length": window} for name, window in self.loaded.items()]
                return JsonReply({"models": loaded})
            case "POST", "/api/show":
                return self._show(body["model"])
            case "POST", "/v1/chat/completions":
                return await self._chat(body)
            case _:
                return NOT_FOUND

    def _show(self, name: str) -> JsonReply:
        model = self.models.get(self._full_name(name))
        if model is None:
            return JsonReply({"error": f"model '{name}' not found"}, 404)
        info = {"general.architecture": "qwen2", "qwen2.context_length": model.trained}
        return JsonReply(
            {
                "parameters": f'stop "<|im_end|>"\nnum_ctx                        {model.num_ctx}'
                if model.num_ctx
                else "",
                "details": {"family": "qwen2", "parameter_size": model.size},
                "model_info": info | ({"general.parameter_count": model.count} if model.count else {}),
                "capabilities": list(model.capabilities),
            }
        )

    def _full_name(self, name: str) -> str:
        return name if ":" in name else f"{name}:latest"

    async def _chat(self, body: Any) -> JsonReply | ModelReply:
        name = self._full_name(body["model"])
        if name not in self.models:
            message = f"model '{body['model']}' not found"
            return JsonReply({"error": {"message": message, "type": "not_found_error", "code": None}}, 404)
        await self.is_ready.wait()
        model = self.models[name]
        window = self.loaded.setdefault(name, min(model.num_ctx or self.window, model.trained))
        self.chats.append(body)
        text = "\n".join(str(message.get("content") or "") for message in body["messages"])
        text += json.dumps(body.get("tools", ""))
        # As many characters a token as in plain English. What does not fit is dropped from the beginning.
        seen = text[-window * 4 :]
        self.cut += seen != text
        return self.answer(seen, body)
