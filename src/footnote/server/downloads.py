"""Answers whose body comes in pieces: files that are saved, or shown by the page."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from footnote.protocol.errors import FootnoteError
from footnote.server.responses import SECURITY_HEADERS

STALL_SECONDS = 120.0
"""A client that takes nothing for so long is no longer waited for."""
SANDBOX_POLICY = "sandbox; default-src 'none'"
"""Whatever is in a file, a browser that shows it runs nothing of it."""
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")

log = logging.getLogger(__name__)


class FileStream:
    """Sends each of `pieces` as it comes. It ends with them, or when the client goes; they are closed in any case.

    What fails in the middle can only be told by breaking off: the length, or the last chunk, is missing then.
    """

    __slots__ = ("_chunks", "_headers", "status_code")

    def __init__(self, chunks: AsyncGenerator[bytes, None], status: int = 200, **headers: str) -> None:
        """`headers` are named as arguments: `content_length="3"`. A policy among them takes the place of the one that
        forbids everything."""
        self._chunks = chunks
        self._headers = {"content_security_policy": SANDBOX_POLICY, **headers}
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._encode_headers()})
        if scope["method"] == "HEAD":
            await self._chunks.aclose()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            sending.cancel()
            await asyncio.wait((sending, leaving))

    async def _send(self, send: Send) -> None:
        try:
            async for piece in self._chunks:
                if piece:
                    async with asyncio.timeout(STALL_SECONDS):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            log.info("A client took nothing for %g seconds, and is no longer waited for.", STALL_SECONDS)
        except FootnoteError as error:
            log.error("A download broke off: %s", error.message)  # noqa: TRY400 - a sentence that says all
        except Exception:
            log.exception("A download broke off.")
        finally:
            await self._chunks.aclose()

    def _encode_headers(self) -> list[tuple[bytes, bytes]]:
        named = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in self._headers.items()]
        return [*named, *(header for header in SECURITY_HEADERS if header[0] != b"content-security-policy")]


async def prefetch(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The same pieces, of which the first is there: what fails at once can still be answered with its error."""
    first = await anext(chunks, b"")

    async def all_of_them() -> AsyncGenerator[bytes, None]:
        async with aclosing(chunks):
            yield first
            async for piece in chunks:
                yield piece

    return all_of_them()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class ByteRange(Struct, frozen=True):
    """The bytes from `start` to before `end`; none where somebody asked for what is behind the end."""

    start: int
    end: int

    @property
    def is_empty(self) -> bool:
        return self.start >= self.end


def requested_range(headers: Headers, etag: str, size: int) -> ByteRange | None:
    """The part that is asked for; None: all of it, also where several parts are, or it is about another content."""
    found = _RANGE.fullmatch(headers.get("range", "").replace(" ", ""))
    if found is None or headers.get("if-range", etag) != etag:
        return None
    first, last = found.groups()
    if not first:
        return ByteRange(max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return ByteRange(int(first), min(size, int(last) + 1) if last else size)


def is_not_modified(headers: Headers, etag: str) -> bool:
    """Whether the client has this content already."""
    known = {tag.strip().removeprefix("W/") for tag in headers.get("if-none-match", "").split(",")}
    return etag.removeprefix("W/") in known or "*" in known
