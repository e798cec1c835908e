"""The server-sent events of a run, back into events with their ids: bytes in, events out. No I/O."""

import msgspec

from footnote.protocol.errors import UpstreamError
from footnote.protocol.events import Event, Ping
from footnote.protocol.sse import MAX_LINE_BYTES

_decoder = msgspec.json.Decoder(Event)


class EventDecoder:
    """Right at any chunk boundary. Pings, comments, and events that a newer server may know are left out."""

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
        """Pieces are joined once, since an event may come in very many of them."""
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
