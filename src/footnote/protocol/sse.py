"""Server-sent events: decoders without I/O, for chunks that are cut anywhere, and the encoder of our own events."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from footnote.protocol.errors import LimitReached, UpstreamError
from footnote.protocol.events import Event, Ping

MAX_LINE_BYTES = 32_000_000

_BOM = b"\xef\xbb\xbf"
_D = ord("d")
_encoder = msgspec.json.Encoder()
_LINE_MARKS = [(mark.encode(), f"\\u{ord(mark):04x}".encode()) for mark in "\x85\u2028\u2029"]


class SseDecoder:
    """Bytes in, `data` payloads out.

    Lines end at LF only (a CR before it is dropped), so that U+2028 and the like inside JSON stay text. Event
    names are ignored: both model APIs repeat them inside the JSON, and some servers leave them out.
    """

    __slots__ = ("_data", "_rest", "_size")

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []

    def push(self, chunk: bytes) -> list[bytes]:
        """The payloads that `chunk` completes."""
        if chunk.find(b"\n") < 0:
            self._buffer(chunk)
            return []
        text = b"".join([*self._rest, chunk]) if self._rest else chunk
        lines = text.split(b"\n")
        rest = lines.pop()
        self._rest, self._size = [], 0
        if rest:
            self._buffer(rest)
        # Looked for in the whole text first: this runs for every delta, and hardly any server sends them.
        if text.find(b"\r") >= 0 or text.find(_BOM) >= 0:
            lines = [_clean(line) for line in lines]
        return self._payloads(lines)

    def flush(self) -> list[bytes]:
        """The payload that the end of the stream completes, for servers that leave out the last newline."""
        lines = [_clean(b"".join(self._rest)), b""]
        self._rest = []
        return self._payloads(lines)

    def _buffer(self, piece: bytes) -> None:
        """Buffers the beginning of a line. Pieces are joined once, since a line may arrive in very many of them."""
        self._size += len(piece)
        if self._size > MAX_LINE_BYTES:
            raise LimitReached(f"a line of the stream is longer than {MAX_LINE_BYTES:,} bytes")
        if piece:
            self._rest.append(piece)

    def _payloads(self, lines: list[bytes]) -> list[bytes]:
        payloads: list[bytes] = []
        data = self._data
        for line in lines:
            if not line:
                if data:
                    payloads.append(b"\n".join(data))
                    data.clear()
            elif line[0] == _D:  # spares the other lines, one of two or three, the comparisons
                if line[:6] == b"data: ":
                    data.append(line[6:])
                elif line[:5] == b"data:":
                    data.append(line[5:])
        return payloads


def _clean(line: bytes) -> bytes:
    """A line without the byte order mark that some servers send first, and the CR that some send before each LF."""
    return line.removeprefix(_BOM).removesuffix(b"\r")


def encode(event: Event | dict[str, Any]) -> bytes:
    """The event as one line of JSON. U+2028 and the like are escaped, since many clients take them for line ends."""
    return _escape_line_marks(_encoder.encode(event))


def _escape_line_marks(encoded: bytes) -> bytes:
    if encoded.isascii():
        return encoded
    for mark, escape in _LINE_MARKS:
        encoded = encoded.replace(mark, escape)
    return encoded


_FRAME = b"id: %d\nevent: %b\ndata: %b\n\n"


def frame(seq: int, event: Event) -> bytes:
    """The event as one server-sent event with its id."""
    return join_frames(frame_fields(seq, event))


def frame_fields(seq: int, event: Event) -> tuple[int, bytes, bytes]:
    """The event as `join_frames` takes it: its id, its name and its JSON."""
    return seq, _names[type(event)], _encoder.encode(event)


def join_frames(fields: Sequence[int | bytes]) -> bytes:
    """Several events in one piece, which costs less than a piece for each of them. `fields`: theirs, one after the
    other."""
    return _escape_line_marks((_FRAME * (len(fields) // 3)) % tuple(fields))


_names: dict[type[Event], bytes] = {kind: str(kind.__struct_config__.tag).encode() for kind in get_args(Event)}


_decoder = msgspec.json.Decoder(Event)


class EventDecoder:
    """Decodes our own event stream. Pings, comments, and events that only a newer server knows are left out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0

    def push(self, chunk: bytes) -> list[tuple[int, Event]]:
        """The events that `chunk` completes."""
        tail = self._rest[-1][-1:] if self._rest else b""
        if b"\n\n" not in tail + chunk:
            self._buffer(chunk)
            return []
        *frames, rest = b"".join([*self._rest, chunk]).split(b"\n\n")
        self._rest, self._size = [], 0
        self._buffer(rest)
        return [found for frame in frames if (found := _event(frame)) is not None]

    def _buffer(self, piece: bytes) -> None:
        """Pieces are joined once, since an event may arrive in very many of them."""
        self._size += len(piece)
        if self._size > MAX_LINE_BYTES:
            raise UpstreamError(f"An event of the stream is longer than {MAX_LINE_BYTES:,} bytes.")
        if piece:
            self._rest.append(piece)


def _event(frame: bytes) -> tuple[int, Event] | None:
    number, data = b"", b""
    for line in frame.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"id":
            number = value.strip()
        elif name == b"data":
            data = value
    try:
        event = _decoder.decode(data)
    except msgspec.DecodeError:
        return None
    return (int(number), event) if number.isdigit() and not isinstance(event, Ping) else None
