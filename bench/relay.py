"""The reference for the server: raw ASGI on uvicorn, in a process of its own, without log, runs and accounts.

    POST /relay    the upstream's events, read by the product's HTTP client and forwarded as they arrive
    POST /engine   the same through model adapter and agent loop: the cost of a run without a server around it
    POST /history  the rows of a session, as sqlite3 reads them

Each takes one line of JSON as its body. Prints its port; ends when its stdin is closed.
"""

import asyncio
import json
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

import uvicorn

from footnote.agent.loop import run
from footnote.agent.turn import Checkpoint, Turn
from footnote.agent.turn_state import TurnState
from footnote.cancel import CancelScope
from footnote.models.base import Endpoint
from footnote.models.profiles import profile_of
from footnote.models.stream import build_model
from footnote.net.client import Net
from footnote.protocol.messages import user_message
from footnote.protocol.sse import SseDecoder, frame
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox

HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
PROFILE = profile_of("claude-sonnet-5")
ROWS = (
    "SELECT * FROM session WHERE id = ?",
    "SELECT * FROM question WHERE session_id = ? ORDER BY id",
    "SELECT * FROM run WHERE session_id = ? ORDER BY id",
    "SELECT m.* FROM run JOIN run_message m ON m.run_id = run.id WHERE run.session_id = ? ORDER BY run.id, m.ordinal",
)

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]


async def relay_events(sent: Message, net: Net) -> AsyncIterator[bytes]:
    """Sends events that arrived together in one piece."""
    request = {"model": sent["model"], "messages": [{"role": "user", "content": "…"}], "stream": True}
    url = f"http://127.0.0.1:{sent['port']}/v1/messages"
    response = await net.post(url, headers=HEADERS, body=json.dumps(request).encode())
    decoder = SseDecoder()
    number = 0
    try:
        while chunk := await response.read_chunk():
            frames: list[bytes] = []
            for payload in decoder.push(chunk):
                number += 1
                frames.append(b"id: %d\nevent: message\ndata: %b\n\n" % (number, payload))
            if frames:
                yield b"".join(frames)
    finally:
        response.close()


async def run_engine(request: Message, net: Net) -> AsyncIterator[bytes]:
    """One event per piece, because the loop yields them one at a time."""
    endpoint = Endpoint("bench", f"http://127.0.0.1:{request['port']}", api_key="not-a-key")
    model = build_model("anthropic", endpoint, request["model"], PROFILE, net=net)
    abilities = Abilities()
    turn = Turn("session_1", "run_1", "msg_1", "You are a careful analyst.", (user_message("…"),))
    number = 0
    async for step in run(
        TurnState(turn, model.id, model.profile.price), model, Toolbox.of([], abilities), abilities, CancelScope()
    ):
        if not isinstance(step, Checkpoint):
            number += 1
            yield frame(number, step)


@cache
def _connection(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, check_same_thread=False)


def rows(request: Message) -> bytes:
    connection = _connection(request["database"])
    found = [row for query in ROWS for row in connection.execute(query, (request["session"],))]
    return b"\n".join(value for row in found for value in row if isinstance(value, bytes))


class Relay:
    def __init__(self, net: Net) -> None:
        self._net = net

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        request = json.loads((await receive())["body"])
        kind = b"application/octet-stream" if scope["path"] == "/history" else b"text/event-stream"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        if scope["path"] == "/history":
            await send({"type": "http.response.body", "body": rows(request)})
            return
        pieces = (relay_events if scope["path"] == "/relay" else run_engine)(request, self._net)
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def main() -> None:
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    place.listen(4096)
    async with Net() as net:
        settings = uvicorn.Config(
            Relay(net), loop="uvloop", http="httptools", lifespan="off", log_config=None, access_log=False, backlog=4096
        )
        server = uvicorn.Server(settings)
        print(place.getsockname()[1], flush=True)
        serving = asyncio.create_task(server.serve(sockets=[place]))
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = server.force_exit = True
        await serving


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
