"""Bodies that are too large to be held: read in pieces, by whoever wants them, as they come."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from footnote.protocol.errors import TooLarge, UsageError

T = TypeVar("T")
STALL_SECONDS = 60.0
"""A body may take as long as it needs, but not so long between two pieces of it."""
LINGER_SECONDS = 10.0
LINGER_SILENCE_SECONDS = 1.0


class Incoming:
    """`async for piece in call.incoming.up_to(most)`. Errors are sentences for the sender, if they are still there."""

    __slots__ = ("_declared", "_is_done", "_most", "_receive", "_size", "_stall")

    def __init__(self, receive: Receive, headers: Headers, *, stall: float = STALL_SECONDS) -> None:
        declared = headers.get("content-length", "")
        self._declared = int(declared[:20]) if declared.isascii() and declared.isdecimal() else None
        self._receive = receive
        self._stall = stall
        self._most = 0
        self._size = 0
        self._is_done = not self._declared and "transfer-encoding" not in headers

    @property
    def is_done(self) -> bool:
        """Nothing more comes."""
        return self._is_done

    def up_to(self, most: int) -> Self:
        """`TooLarge`: the sender says itself that it is more."""
        self._most = most
        if self._declared is not None and self._declared > most:
            raise self._too_large()
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._is_done:
            raise StopAsyncIteration
        if self._size > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._stall):
                message = await self._receive()
        except TimeoutError as error:
            raise UsageError(f"Nothing of the body came for {self._stall:g} seconds; send it again.") from error
        if message["type"] == "http.disconnect":
            self._is_done = True
            raise UsageError("The request ended before its body did.")
        piece: bytes = message.get("body", b"")
        self._is_done = not message.get("more_body", False)
        self._size += len(piece)
        if self._size > self._most:
            self._is_done = False
            raise self._too_large()
        return piece

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled as soon as the client is gone: nobody would read the answer. The
        body must have been read."""
        task, gone = asyncio.create_task(work), asyncio.create_task(self._disconnected())
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise UsageError("The client did not wait for the answer.")
        finally:
            task.cancel()
            gone.cancel()
            await asyncio.wait((task, gone))

    async def _disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is larger than {self._most:,} bytes; send less at once.")


def lingering(receive: Receive, send: Send) -> Send:
    """Sends an answer while the body that it does without still comes. A connection that is closed at that moment is
    reset, and the sender would never read why: so what comes is thrown away for a while."""

    async def sending(message: Message) -> None:
        if message["type"] != "http.response.body" or message.get("more_body", False):
            await send(message)
            return
        await send({**message, "more_body": True})
        await _throw_away(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sending


async def _throw_away(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            more = True
            while more:
                async with asyncio.timeout(LINGER_SILENCE_SECONDS):
                    more = (await receive()).get("more_body", False)
    except TimeoutError:
        return
