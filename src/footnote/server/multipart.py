"""Files in a `multipart/form-data` body, one after the other, none of them ever whole in memory.

async for part in parts_of(content_type, pieces):
    async for piece in part:
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
MOST_FILES = 20
MOST_PARTS = 100
"""Those that are no files are passed over, but not without end."""
MOST_BEHIND = 65_536
_EXTENDED = re.compile(r";\s*filename\*\s*=\s*utf-8''([!-~]+?)\s*(?:;|$)", re.IGNORECASE)


class _Begun(Struct, frozen=True):
    """A part begins. `filename` is empty where it is no file."""

    filename: str


class Part:
    """One file of a body. Its bytes are read once, and before the next part is asked for."""

    __slots__ = ("_is_over", "_reader", "filename")

    def __init__(self, filename: str, reader: "_Reader") -> None:
        self.filename = filename
        self._reader = reader
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        piece = None if self._is_over else await self._reader.data()
        if piece is None:
            self._is_over = True
            raise StopAsyncIteration
        return piece


async def parts_of(content_type: str | None, pieces: AsyncIterator[bytes]) -> AsyncGenerator[Part, None]:
    """The parts that have a file name. `WrongKind`, `TooLarge` and `UsageError` say what is wrong with the body."""
    reader = _Reader(_boundary(content_type), pieces)
    count = 0
    while (filename := await reader.begin()) is not None:
        if not filename:  # a field of a form, or one for a file in which none was chosen
            continue
        count += 1
        if count > MOST_FILES:
            raise TooLarge(f"More than {MOST_FILES} files came at once; send the rest in another request.")
        yield Part(filename, reader)
    # Nobody wants what stands behind the form, but a connection can only be used again when it has been read.
    left = MOST_BEHIND
    while left >= 0 and (piece := await anext(pieces, None)) is not None:
        left -= len(piece)


def _boundary(content_type: str | None) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind.decode("latin-1") != FORM:
        raise WrongKind(f"Send the files as a form, with the header `Content-Type: {FORM}; boundary=…`.")
    boundary = options.get(b"boundary", b"")
    if not boundary or len(boundary) > 200:
        raise UsageError("The header `Content-Type` of a form names a boundary of 1 to 200 characters.")
    return boundary


class _Reader:
    """What the parser says of the pieces that it is fed with, to be asked for one after the other."""

    def __init__(self, boundary: bytes, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._said: deque[_Begun | bytes | None] = deque()
        """A part begins, some bytes of it, or None: it ends."""
        self._field = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._parts = 0
        self._is_over = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": lambda: self._said.append(_Begun(_filename(self._disposition))),
                "on_part_data": self._on_part_data,
                "on_part_end": lambda: self._said.append(None),
                "on_end": self._on_end,
            },
        )

    async def begin(self) -> str | None:
        """The name of the next part, empty where it is no file; None: there is none. What is left of the part before
        it is passed over."""
        while await self._more():
            said = self._said.popleft()
            if isinstance(said, _Begun):
                return said.filename
        return None

    async def data(self) -> bytes | None:
        """The next bytes of this part; None: that were all."""
        return said if await self._more() and isinstance(said := self._said.popleft(), bytes) else None

    async def _more(self) -> bool:
        """Whether there is something to be said; False at the end of the form."""
        while not self._said and not self._is_over:
            piece = await anext(self._pieces, None)
            if piece is None:
                raise UsageError("The form ended in the middle of a part; send it again.")
            try:
                self._parser.write(piece)
            except FormParserError as error:
                raise UsageError("The body is not a form as its `Content-Type` describes it.") from error
        return bool(self._said)

    def _on_part_begin(self) -> None:
        self._disposition = b""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise TooLarge(f"The form has more than {MOST_PARTS} parts; send its files in several requests.")

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._said.append(data[start:end])

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
    if raw.isascii() and (quoted := _unquoted(raw)):
        return quoted
    name = raw.decode("utf-8", "replace")
    return name.replace("%22", '"')  # the one sign that browsers and curl have to escape in a name


def _unquoted(raw: bytes) -> str | None:
    """None: it quotes no letter, and so may well mean its signs of per cent."""
    try:
        name = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    return None if name.isascii() else name
