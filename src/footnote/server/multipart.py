"""A parser of `multipart/form-data` bodies, which yields file after file and holds none of them whole in memory.

async for part in iter_parts(content_type, chunks):
    async for chunk in part:
        ...
"""

import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Self
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from footnote.protocol.errors import TooLarge, UsageError, WrongKind

FORM = "multipart/form-data"
MAX_FILES = 20
MAX_PARTS = 100
"""Parts that are not files are skipped, but counted too."""
MAX_EPILOGUE_BYTES = 65_536
_EXTENDED = re.compile(r";\s*filename\*\s*=\s*utf-8''([!-~]+?)\s*(?:;|$)", re.IGNORECASE)


class _PartStart(Struct, frozen=True):
    """A part begins. `filename` is empty if the part is not a file."""

    filename: str


class UploadPart:
    """One file of a body. Its chunks can be read once, and only before the next part is requested."""

    __slots__ = ("_has_ended", "_parser", "filename")

    def __init__(self, filename: str, parser: "_MultipartParser") -> None:
        self.filename = filename
        self._parser = parser
        self._has_ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        chunk = None if self._has_ended else await self._parser.next_chunk()
        if chunk is None:
            self._has_ended = True
            raise StopAsyncIteration
        return chunk


async def iter_parts(content_type: str | None, chunks: AsyncIterator[bytes]) -> AsyncGenerator[UploadPart, None]:
    """The parts that have a file name. An invalid body raises `WrongKind`, `TooLarge` or `UsageError`."""
    parser = _MultipartParser(_boundary(content_type), chunks)
    count = 0
    while (filename := await parser.next_part()) is not None:
        if not filename:  # a plain field, or a file field that was left empty
            continue
        count += 1
        if count > MAX_FILES:
            raise TooLarge(
                f"More than {MAX_FILES} files came at once; send the rest in another request.",
                code="too_many_files",
                max=MAX_FILES,
            )
        yield UploadPart(filename, parser)
    # The epilogue is read and ignored, because a connection can only be reused once the whole body has been read.
    left = MAX_EPILOGUE_BYTES
    while left >= 0 and (chunk := await anext(chunks, None)) is not None:
        left -= len(chunk)


def _boundary(content_type: str | None) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind.decode("latin-1") != FORM:
        raise WrongKind(f"Send the files as a form, with the header `Content-Type: {FORM}; boundary=…`.")
    boundary = options.get(b"boundary", b"")
    if not boundary or len(boundary) > 200:
        raise UsageError("The header `Content-Type` of a form names a boundary of 1 to 200 characters.")
    return boundary


class _MultipartParser:
    """Turns the callbacks of python-multipart's parser into events that can be awaited one by one."""

    def __init__(self, boundary: bytes, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._events: deque[_PartStart | bytes | None] = deque()
        """A part begins, a chunk of it, or None: the part ends."""
        self._field = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._part_count = 0
        self._has_ended = False
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
        """The file name of the next part, empty if the part is not a file; None at the end of the form. The rest of the
        current part is skipped."""
        while await self._parse_more():
            event = self._events.popleft()
            if isinstance(event, _PartStart):
                return event.filename
        return None

    async def next_chunk(self) -> bytes | None:
        """The next chunk of the current part; None at its end."""
        return event if await self._parse_more() and isinstance(event := self._events.popleft(), bytes) else None

    async def _parse_more(self) -> bool:
        """Feeds the parser until there is an event; False at the end of the form."""
        while not self._events and not self._has_ended:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                raise UsageError("The form ended in the middle of a part; send it again.", code="body_incomplete")
            try:
                self._parser.write(chunk)
            except FormParserError as error:
                raise UsageError("The body is not a form as its `Content-Type` describes it.") from error
        return bool(self._events)

    def _on_part_begin(self) -> None:
        self._disposition = b""
        self._part_count += 1
        if self._part_count > MAX_PARTS:
            raise TooLarge(
                f"The form has more than {MAX_PARTS} parts; send its files in several requests.",
                code="too_many_parts",
                max=MAX_PARTS,
            )

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
        self._has_ended = True


def _filename(disposition: bytes) -> str:
    """Browsers send raw UTF-8. Some programs send `filename*`, which wins because it is exact; others percent-encode a
    plain `filename`."""
    text = disposition.decode("latin-1")
    if extended := _EXTENDED.search(text):
        return unquote_to_bytes(extended[1]).decode("utf-8", "replace")
    raw = parse_options_header(text)[1].get(b"filename", b"")
    if raw.isascii() and (quoted := _percent_decode(raw)):
        return quoted
    name = raw.decode("utf-8", "replace")
    return name.replace("%22", '"')  # the only character that browsers and curl escape in a name


def _percent_decode(raw: bytes) -> str | None:
    """None if nothing but ASCII comes out: the percent signs may then be part of the name."""
    try:
        name = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    return None if name.isascii() else name
