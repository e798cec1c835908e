"""Responses as plain ASGI applications: `Reply` is whole, `FileStream` comes in chunks, `EventStream` as server-sent
events."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from footnote.protocol.errors import FootnoteError
from footnote.protocol.events import ErrorBody, ErrorEvent
from footnote.protocol.sse import encode
from footnote.server.requests import wait_for_disconnect
from footnote.server.site import Site

_PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    b"connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    b"frame-ancestors 'none'; form-action 'self'"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _PAGE_POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Sent with every response, streams included. They forbid external scripts, framing, sniffing and referrers."""
SANDBOX_POLICY = "sandbox; default-src 'none'"
"""Nothing in a file runs in a browser that shows it."""

JSON = "application/json"
_encoder = msgspec.json.Encoder()
_ENCODE_CHUNK = 1 << 20
_LONG_TEXT = 1_000_000

SEND_STALL_SECONDS = 120.0
"""The connection of a client that reads nothing for so long is closed."""
PING_SECONDS = 15.0
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
"""Without an id, so that it does not change the place from which a client resumes."""

_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    *SECURITY_HEADERS,
)

log = logging.getLogger(__name__)


class Reply(Response):
    """A whole response. Browsers and proxies may not cache it unless its headers allow it."""

    def __init__(
        self, body: bytes | str = b"", status: int = 200, *, media_type: str | None = None, **headers: str
    ) -> None:
        """`headers` are named as arguments: `retry_after="3"`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(body, status, {"cache-control": "no-store", **named}, media_type)
        self.raw_headers.extend(SECURITY_HEADERS)


def json_response(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(_encoder.encode(value), status, media_type=JSON, **headers)


async def struct_response(value: Struct, status: int = 200, **headers: str) -> Reply:
    """`json_response`, in a thread if a field holds a text that is long enough to block the event loop."""
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    long = {name: text for name, text in fields.items() if isinstance(text, str) and len(text) >= _LONG_TEXT}
    if not long:
        return json_response(value, status, **headers)
    return await asyncio.to_thread(_long_text_response, value, long, status, headers)


def _long_text_response(value: Struct, long: dict[str, str], status: int, headers: dict[str, str]) -> Reply:
    return json_response(replace(value, **{name: _json_string(text) for name, text in long.items()}), status, **headers)


def _json_string(text: str) -> Raw:
    """Encodes a long text chunk by chunk: one call over megabytes would hold the interpreter's lock for longer than the
    event loop may be blocked."""
    chunks = (_encoder.encode(text[at : at + _ENCODE_CHUNK])[1:-1] for at in range(0, len(text), _ENCODE_CHUNK))
    return Raw(b'"%b"' % b"".join(chunks))


class FileStream:
    """Sends each chunk as it comes, until the last one or until the client disconnects; `chunks` is closed in any case.

    An error in the middle can only be reported by breaking off: the length, or the final chunk, is missing then.
    """

    __slots__ = ("_chunks", "_headers", "status_code")

    def __init__(self, chunks: AsyncGenerator[bytes, None], status: int = 200, **headers: str) -> None:
        """`headers` are named as arguments: `content_length="3"`. A policy among them replaces the one that forbids
        everything."""
        self._chunks = chunks
        self._headers = {"content_security_policy": SANDBOX_POLICY, **headers}
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        security_headers = (header for header in SECURITY_HEADERS if header[0] != b"content-security-policy")
        headers = [*_encode_headers(self._headers), *security_headers]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        if scope["method"] == "HEAD":
            await self._chunks.aclose()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        sending = asyncio.create_task(self._send(send))
        disconnect = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await asyncio.wait((sending, disconnect), return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
            sending.cancel()
            await asyncio.wait((sending, disconnect))

    async def _send(self, send: Send) -> None:
        try:
            async for chunk in self._chunks:
                if chunk:
                    async with asyncio.timeout(SEND_STALL_SECONDS):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            log.info("A client read nothing for %g seconds. Its download is broken off.", SEND_STALL_SECONDS)
        except FootnoteError as error:
            log.error("A download broke off: %s", error.message)  # noqa: TRY400 - the message says it all
        except Exception:
            log.exception("A download broke off.")
        finally:
            await self._chunks.aclose()


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]


async def prefetch(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The same chunks, the first of which has been read: an error in it can still be answered with its status."""
    first = await anext(chunks, b"")

    async def all_chunks() -> AsyncGenerator[bytes, None]:
        async with aclosing(chunks):
            yield first
            async for chunk in chunks:
                yield chunk

    return all_chunks()


class EventStream:
    """Sends each chunk of events as it comes; an empty one, which means that nothing came for a while, as a ping.

    It ends with the last chunk, when the client disconnects, or when the server stops; `chunks` is closed in any case.
    An idle client costs a connection, this object and two small tasks: that of the request, and one that waits for the
    disconnect. A slow client delays only itself: `send` waits until its connection accepts more.
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
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": [*_STREAM_HEADERS, *_encode_headers(self._headers)],
            }
        )
        self._ended = scope["method"] == "HEAD" or self._site.is_closing
        _release_scope(scope)
        self._headers = {}
        self._task = asyncio.current_task()
        watcher = asyncio.create_task(self._end_on_disconnect(receive))
        self._site.streams.add(self)
        try:
            if not self._ended:
                async for chunk in self._chunks:
                    await send({"type": "http.response.body", "body": chunk or self._ping, "more_body": True})
                    del chunk  # a long answer must not stay in memory until the next chunk comes
                    if self._ended:
                        break
        except asyncio.CancelledError:
            if not self._ended or self._task is None:
                raise
            self._task.uncancel()
        except Exception as error:  # noqa: BLE001 - the status is sent already, so the error becomes an event
            await send({"type": "http.response.body", "body": _error_event(error), "more_body": True})
        finally:
            self._ended = True
            self._site.streams.discard(self)
            watcher.cancel()
            await self._chunks.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def end(self) -> None:
        """Ends the stream now, in a way that a connected client sees as a regular end."""
        if self._task is not None and not self._ended:
            self._ended = True
            self._task.cancel()

    async def _end_on_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass  # not `wait_for_disconnect`, since one more frame for every idle client takes memory
        self.end()


def _release_scope(scope: Scope) -> None:
    """Frees what an open stream, which may last for hours, no longer needs: the headers of a browser are the largest
    part of its memory."""
    scope["headers"].clear()
    for name in ("asgi", "state", "path", "raw_path", "query_string"):
        scope.pop(name, None)


def _error_event(error: Exception) -> bytes:
    """Without an id: it is not part of the run, which can be followed again."""
    if isinstance(error, FootnoteError):
        body = ErrorBody.from_error(error)
    else:
        log.error("A stream failed.", exc_info=error)
        message = "The stream broke off. Follow the run again from its last event."
        body = ErrorBody("internal_error", message, retryable=True, code="stream_broken")
    return b"event: error\ndata: %b\n\n" % encode(ErrorEvent(body))
