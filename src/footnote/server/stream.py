"""Server-sent events as a plain ASGI answer.

An idle follower costs a connection, this object and two small tasks: the request's own, and one that waits for the
client to go. A slow client only delays itself: `send` waits until its connection takes more.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator

from starlette.types import Receive, Scope, Send

from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import ErrorBody, ErrorEvent
from footnote.protocol.sse import encode
from footnote.server.responses import SECURITY_HEADERS
from footnote.server.site import Site

PING_SECONDS = 15.0
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
"""Without an id, so that it does not move the place from which a client resumes."""

_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    *SECURITY_HEADERS,
)

log = logging.getLogger(__name__)


class EventStream:
    """Sends each of `pieces` as it comes; an empty one, which says that nothing came for a while, as a ping.

    It ends with the pieces, when the client goes, or when the server is being stopped. `pieces` is closed in any case.
    """

    __slots__ = ("_chunks", "_ended", "_headers", "_ping", "_site", "_task")
    status_code = 200

    def __init__(self, site: Site, chunks: AsyncGenerator[bytes, None], *, ping: bytes = PING, **headers: str) -> None:
        """`headers` are named as arguments: `footnote_run="run_…"`."""
        self._site = site
        self._chunks = chunks
        self._ping = ping
        self._headers = headers
        self._task: asyncio.Task[None] | None = None
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._encode_headers()})
        self._ended = scope["method"] == "HEAD" or self._site.is_closing
        _release_scope(scope)
        self._headers = {}
        self._task = asyncio.current_task()
        watcher = asyncio.create_task(self._end_on_disconnect(receive))
        self._site.streams.add(self)
        try:
            while not self._ended and (piece := await anext(self._chunks, None)) is not None:
                await send({"type": "http.response.body", "body": piece or self._ping, "more_body": True})
                del piece  # it may be the whole of a long answer, and the next one may be long in coming
        except asyncio.CancelledError:
            if not self._ended or self._task is None:
                raise
            self._task.uncancel()
        except Exception as error:  # noqa: BLE001 - the status is sent already; the client is told in the stream
            await send({"type": "http.response.body", "body": _error_event(error), "more_body": True})
        finally:
            self._ended = True
            self._site.streams.discard(self)
            watcher.cancel()
            await self._chunks.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def end(self) -> None:
        """Ends it now, in good order for a client that is still there."""
        if self._task is not None and not self._ended:
            self._ended = True
            self._task.cancel()

    def _encode_headers(self) -> list[tuple[bytes, bytes]]:
        named = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in self._headers.items()]
        return [*_STREAM_HEADERS, *named]

    async def _end_on_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end()


def _release_scope(scope: Scope) -> None:
    """For hours, perhaps, nobody looks at these again; of a browser, they are the larger part of what is held."""
    scope["headers"].clear()
    for name in ("asgi", "state", "path", "raw_path", "query_string"):
        scope.pop(name, None)


def _error_event(error: Exception) -> bytes:
    """An error event without an id: it is no part of the run, which can be followed again."""
    if isinstance(error, FootnoteError):
        body = ErrorBody(error.type, error.message, error.retryable)
    else:
        log.error("A stream failed.", exc_info=error)
        body = ErrorBody("internal_error", "The stream broke off. Follow the run again from its last event.", True)  # noqa: FBT003 - the fields of the wire
    return b"event: error\ndata: %b\n\n" % encode(ErrorEvent(body))
