"""Files in a `multipart/form-data` body, one after the other, none of them ever whole in memory.

async for part in parts_of(content_type, pieces):
    async for piece in part:
        ...
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, Self, TypeVar
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from footnote.protocol.errors import TooLarge, UsageError, WrongKind

T = TypeVar("T")
STALL_SECONDS = 60.0
"""A body may take as long as it needs, but not so long between two pieces of it."""
LINGER_SECONDS = 10.0
LINGER_SILENCE_SECONDS = 1.0


class RequestBody:
    """`async for piece in call.incoming.up_to(most)`. Errors are sentences for the sender, if they are still there."""

    __slots__ = ("_content_length", "_is_done", "_max_bytes", "_receive", "_size", "_stall")

    def __init__(self, receive: Receive, headers: Headers, *, stall: float = STALL_SECONDS) -> None:
        declared = headers.get("content-length", "")
        self._content_length = int(declared[:20]) if declared.isascii() and declared.isdecimal() else None
        self._receive = receive
        self._stall = stall
        self._max_bytes = 0
        self._size = 0
        self._is_done = not self._content_length and "transfer-encoding" not in headers

    @property
    def is_done(self) -> bool:
        """Nothing more comes."""
        return self._is_done

    def with_limit(self, max_bytes: int) -> Self:
        """`TooLarge`: the sender says itself that it is more."""
        self._max_bytes = max_bytes
        if self._content_length is not None and self._content_length > max_bytes:
            raise self._too_large()
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._is_done:
            raise StopAsyncIteration
        if self._size > self._max_bytes:
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
        if self._size > self._max_bytes:
            self._is_done = False
            raise self._too_large()
        return piece

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled as soon as the client is gone: nobody would read the answer. The
        body must have been read."""
        task, gone = asyncio.create_task(work), asyncio.create_task(self._wait_for_disconnect())
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise UsageError("The client did not wait for the answer.")
        finally:
            task.cancel()
            gone.cancel()
            await asyncio.wait((task, gone))

    async def _wait_for_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is larger than {self._max_bytes:,} bytes; send less at once.")


def lingering_send(receive: Receive, send: Send) -> Send:
    """Sends an answer while the body that it does without still comes. A connection that is closed at that moment is
    reset, and the sender would never read why: so what comes is thrown away for a while."""

    async def sending(message: Message) -> None:
        if message["type"] != "http.response.body" or message.get("more_body", False):
            await send(message)
            return
        await send({**message, "more_body": True})
        await _discard_body(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sending


async def _discard_body(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            more = True
            while more:
                async with asyncio.timeout(LINGER_SILENCE_SECONDS):
                    more = (await receive()).get("more_body", False)
    except TimeoutError:
        return


FORM = "multipart/form-data"
MAX_FILES = 20
MAX_PARTS = 100
"""Those that are no files are passed over, but not without end."""
MAX_EPILOGUE_BYTES = 65_536
_EXTENDED = re.compile(r";\s*filename\*\s*=\s*utf-8''([!-~]+?)\s*(?:;|$)", re.IGNORECASE)


class _PartStart(Struct, frozen=True):
    """A part begins. `filename` is empty where it is no file."""

    filename: str


class UploadPart:
    """One file of a body. Its bytes are read once, and before the next part is asked for."""

    __slots__ = ("_is_over", "_reader", "filename")

    def __init__(self, filename: str, reader: "_MultipartParser") -> None:
        self.filename = filename
        self._reader = reader
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        piece = None if self._is_over else await self._reader.next_chunk()
        if piece is None:
            self._is_over = True
            raise StopAsyncIteration
        return piece


async def iter_parts(content_type: str | None, chunks: AsyncIterator[bytes]) -> AsyncGenerator[UploadPart, None]:
    """The parts that have a file name. `WrongKind`, `TooLarge` and `UsageError` say what is wrong with the body."""
    reader = _MultipartParser(_boundary(content_type), chunks)
    count = 0
    while (filename := await reader.next_part()) is not None:
        if not filename:  # a field of a form, or one for a file in which none was chosen
            continue
        count += 1
        if count > MAX_FILES:
            raise TooLarge(f"More than {MAX_FILES} files came at once; send the rest in another request.")
        yield UploadPart(filename, reader)
    # Nobody wants what stands behind the form, but a connection can only be used again when it has been read.
    left = MAX_EPILOGUE_BYTES
    while left >= 0 and (piece := await anext(chunks, None)) is not None:
        left -= len(piece)


def _boundary(content_type: str | None) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind.decode("latin-1") != FORM:
        raise WrongKind(f"Send the files as a form, with the header `Content-Type: {FORM}; boundary=…`.")
    boundary = options.get(b"boundary", b"")
    if not boundary or len(boundary) > 200:
        raise UsageError("The header `Content-Type` of a form names a boundary of 1 to 200 characters.")
    return boundary


class _MultipartParser:
    """What the parser says of the pieces that it is fed with, to be asked for one after the other."""

    def __init__(self, boundary: bytes, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._events: deque[_PartStart | bytes | None] = deque()
        """A part begins, some bytes of it, or None: it ends."""
        self._field = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._part_count = 0
        self._is_over = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": lambda: self._events.append(_PartStart(_filename(self._disposition))),
                "on_part_data": self._on_part_data,
                "on_part_end": lambda: self._events.append(None),
                "on_end": self._on_end,
            },
        )

    async def next_part(self) -> str | None:
        """The name of the next part, empty where it is no file; None: there is none. What is left of the part before
        it is passed over."""
        while await self._parse_more():
            said = self._events.popleft()
            if isinstance(said, _PartStart):
                return said.filename
        return None

    async def next_chunk(self) -> bytes | None:
        """The next bytes of this part; None: that were all."""
        return said if await self._parse_more() and isinstance(said := self._events.popleft(), bytes) else None

    async def _parse_more(self) -> bool:
        """Whether there is something to be said; False at the end of the form."""
        while not self._events and not self._is_over:
            piece = await anext(self._chunks, None)
            if piece is None:
                raise UsageError("The form ended in the middle of a part; send it again.")
            try:
                self._parser.write(piece)
            except FormParserError as error:
                raise UsageError("The body is not a form as its `Content-Type` describes it.") from error
        return bool(self._events)

    def _on_part_begin(self) -> None:
        self._disposition = b""
        self._part_count += 1
        if self._part_count > MAX_PARTS:
            raise TooLarge(f"The form has more than {MAX_PARTS} parts; send its files in several requests.")

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(data[start:end])

    def _on_header_end(self) -> None:
        if bytes(self._field).strip().lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._field.clear()
        self._value.clear()

    def _on_end(self) -> None:
        self._is_over = True


def _filename(disposition: bytes) -> str:
    """Browsers write UTF-8 as it is; some programs use the form for other headers, which then is the exact one, and
    some quote all that is not ASCII as in an address, without a word about it."""
    text = disposition.decode("latin-1")
    if extended := _EXTENDED.search(text):
        return unquote_to_bytes(extended[1]).decode("utf-8", "replace")
    raw = parse_options_header(text)[1].get(b"filename", b"")
    if raw.isascii() and (quoted := _percent_decode(raw)):
        return quoted
    name = raw.decode("utf-8", "replace")
    return name.replace("%22", '"')  # the one sign that browsers and curl have to escape in a name


def _percent_decode(raw: bytes) -> str | None:
    """None: it quotes no letter, and so may well mean its signs of per cent."""
    try:
        name = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    return None if name.isascii() else name
