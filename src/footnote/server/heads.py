"""The head of a request has a size and a time that are enough for everybody, and not more."""

import asyncio
import logging

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 65_536
HEAD_SECONDS = 60.0
"""How long the head of a request may take to come, from the first moment of the connection on."""
MAX_WAITING = 1_000
"""Connections on which no whole head has come yet. Everybody else's comes within milliseconds."""
LOG_SECONDS = 60.0
_WHOLE = -1

log = logging.getLogger(__name__)


class WaitingConnections:
    """The connections of one server on which the head of a request is waited for. Where there are too many, the one
    that has waited longest is closed: strangers who send nothing cannot keep others out."""

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._max_waiting = max_waiting
        self._waiting: dict[BoundedProtocol, None] = {}
        self._closed = 0
        self._logging: asyncio.TimerHandle | None = None

    def add(self, connection: "BoundedProtocol") -> None:
        self._waiting.setdefault(connection)
        if len(self._waiting) > self._max_waiting:
            self.close(next(iter(self._waiting)))

    def remove(self, connection: "BoundedProtocol") -> None:
        self._waiting.pop(connection, None)

    def close(self, connection: "BoundedProtocol") -> None:
        """Counts it, and logs one line for all that are closed within a minute."""
        self.remove(connection)
        connection.transport.close()
        self._closed += 1
        if self._logging is None:
            self._log()

    def _log(self) -> None:
        self._logging = None
        if self._closed:
            log.warning(
                "Connections closed on which no whole request had come: %d. Each has %d seconds for its head, and %d "
                "may wait at once.",
                self._closed,
                HEAD_SECONDS,
                self._max_waiting,
            )
            self._closed = 0
            self._logging = asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head does not end: the parser beneath would keep it all in memory, and wait for ever."""

    # A slot, since one attribute more would make the dict of every connection a kilobyte larger.
    __slots__ = ("_head_bytes", "_late")
    waiting = WaitingConnections()
    """Of all connections of a server: each has a class of its own (`bounded`)."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._head_bytes = 0
        self._late: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = self.loop.call_later(HEAD_SECONDS, self.waiting.close, self)
        self.waiting.add(self)

    def _expect_nothing(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
            self.waiting.remove(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes != _WHOLE:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = _WHOLE
        self._expect_nothing()
        super().on_headers_complete()


def bounded() -> type[BoundedProtocol]:
    """The protocol of one server, which counts its own connections."""
    return type("BoundedProtocolOfServer", (BoundedProtocol,), {"__slots__": (), "waiting": WaitingConnections()})
