"""A client has room and time enough for what it sends, and not more. Of those that send nothing, only some may stay."""

import asyncio
import logging

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 65_536
HEADER_TIMEOUT_SECONDS = 60.0
"""How long the head of a request may take to come, from the first moment of the connection on."""
MAX_IDLE_CONNECTIONS = 1_000
"""Connections on which something is to come from the client: the head of a request, the rest of its body, or the next
request. Streams and other answers under way are not among them."""
LOG_SECONDS = 60.0
_HEADERS_COMPLETE = -1

log = logging.getLogger(__name__)


class SilentConnections:
    """The connections of one server that wait for their clients. Where there are too many, the one that has been silent
    for longest is closed: strangers who send nothing cannot keep others out."""

    def __init__(self, max_idle: int = MAX_IDLE_CONNECTIONS) -> None:
        self._max_idle = max_idle
        self._idle_connections: dict[BoundedProtocol, None] = {}
        """The one that is silent for longest stands first."""
        self._closed_count = 0
        self._logging: asyncio.TimerHandle | None = None

    def add(self, connection: "BoundedProtocol") -> None:
        """Its silence begins now, or goes on: the first letters of a head do not end it."""
        self._idle_connections.setdefault(connection)
        if len(self._idle_connections) > self._max_idle:
            self.close(next(iter(self._idle_connections)))

    def remove(self, connection: "BoundedProtocol") -> None:
        self._idle_connections.pop(connection, None)

    def close(self, connection: "BoundedProtocol") -> None:
        """Counts it, and logs one line for all that are closed within a minute."""
        self.remove(connection)
        connection.transport.close()
        self._closed_count += 1
        if self._logging is None:
            self._log()

    def _log(self) -> None:
        self._logging = None
        if self._closed_count:
            log.warning(
                "Silent connections closed: %d. The head of a request has %d seconds to come, and %d connections may "
                "wait for their clients at once.",
                self._closed_count,
                HEADER_TIMEOUT_SECONDS,
                self._max_idle,
            )
            self._closed_count = 0
            self._logging = asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head does not end: the parser beneath would keep it all in memory, and wait for ever."""

    # Slots, since one attribute more would make the dict of every connection a kilobyte larger.
    __slots__ = ("_awaits_body", "_header_bytes", "_header_timer", "_is_idle")
    silent = SilentConnections()
    """Of all connections of a server: each has a class of its own (`bounded`)."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._header_bytes = 0
        self._awaits_body = self._is_idle = False
        self._header_timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.silent.remove(self)
        super().connection_lost(exc)

    def _start_header_timer(self) -> None:
        self._is_idle = False
        self._stop_timer()
        self._header_timer = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self.silent.close, self)
        self.silent.add(self)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            # Also a line break, which begins no head, but ends the wait for the next request.
            self._header_bytes = 0
            self.silent.remove(self)
            self._start_header_timer()
        super().data_received(data)
        if self._awaits_body:
            self.silent.remove(self)
            self.silent.add(self)
        if self._header_bytes != _HEADERS_COMPLETE:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._header_bytes = 0
        self._start_header_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._header_bytes = _HEADERS_COMPLETE
        self._stop_timer()
        self._awaits_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._awaits_body = False
        self.silent.remove(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None and self._header_timer is None:
            self._is_idle = True
            self.silent.add(self)


def bounded_protocol() -> type[BoundedProtocol]:
    """The protocol of one server, which counts its own connections."""
    return type("BoundedProtocolOfServer", (BoundedProtocol,), {"__slots__": (), "silent": SilentConnections()})
