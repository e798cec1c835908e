"""Server-sent events: a decoder without I/O, right at any chunk boundary, and the encoder of our own events."""

from typing import Any, get_args

import msgspec

from footnote.protocol.errors import LimitReached
from footnote.protocol.events import Event

MAX_LINE_BYTES = 32_000_000

_BOM = b"\xef\xbb\xbf"
_encoder = msgspec.json.Encoder()
_LINE_MARKS = [(mark.encode(), f"\\u{ord(mark):04x}".encode()) for mark in "\x85\u2028\u2029"]


class SseDecoder:
    """Bytes in, `data` payloads out.

    Lines end at LF only (a CR before it is dropped), so that U+2028 and its kin inside JSON stay text. Event
    names are ignored: both model APIs repeat them inside the JSON, and some servers leave them out.
    """

    __slots__ = ("_data", "_rest", "_size")

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []

    def push(self, chunk: bytes) -> list[bytes]:
        """The payloads that `chunk` completes."""
        if b"\n" not in chunk:
            self._buffer(chunk)
            return []
        *lines, rest = b"".join([*self._rest, chunk]).split(b"\n")
        self._rest, self._size = [], 0
        self._buffer(rest)
        return self._payloads(lines)

    def flush(self) -> list[bytes]:
        """The payload that the end of the stream completes, for servers that leave out the last newline."""
        lines = [b"".join(self._rest), b""]
        self._rest = []
        return self._payloads(lines)

    def _buffer(self, piece: bytes) -> None:
        """Keeps the beginning of a line. Pieces are joined once, since a line may come in very many of them."""
        self._size += len(piece)
        if self._size > MAX_LINE_BYTES:
            raise LimitReached(f"a line of the stream is longer than {MAX_LINE_BYTES:,} bytes")
        if piece:
            self._rest.append(piece)

    def _payloads(self, lines: list[bytes]) -> list[bytes]:
        payloads: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:3] == _BOM:
                line = line[3:]  # noqa: PLW2901 - a mark that some servers put before the first line
            if line[-1:] == b"\r":
                line = line[:-1]  # noqa: PLW2901 - the line without the end that some servers give it
            if line[:5] == b"data:":
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line and data:
                payloads.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
        return payloads


def encode(event: Event | dict[str, Any]) -> bytes:
    """The event as one line of JSON, also for those who take U+2028 and its kin for the end of a line: many do."""
    encoded = _encoder.encode(event)
    if encoded.isascii():
        return encoded
    for mark, escape in _LINE_MARKS:
        encoded = encoded.replace(mark, escape)
    return encoded


def frame(seq: int, event: Event) -> bytes:
    """The event as one server-sent event with its id."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (seq, _names[type(event)], encode(event))


_names: dict[type[Event], bytes] = {kind: str(kind.__struct_config__.tag).encode() for kind in get_args(Event)}
