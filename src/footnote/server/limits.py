"""Limits of clients: token buckets for requests and logins, and bounds on request headers and idle connections."""

import asyncio
import hashlib
import logging
import math
from ipaddress import IPv4Address, ip_address, ip_network

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from footnote.bus.base import Bus
from footnote.protocol.errors import LimitReached


class RequestLimits:
    """A token bucket for each key, shared by all replicas: `size` requests at once, `per_minute` in the long run."""

    __slots__ = ("_bus", "_name", "_per_minute", "_size")

    def __init__(self, bus: Bus, name: str, size: float, per_minute: float) -> None:
        self._bus = bus
        self._name = name
        self._size = size
        self._per_minute = per_minute

    async def acquire(self, key: str, what: str, code: str) -> None:
        """Takes a token, or raises `LimitReached`, with `code` and with `what` in its message."""
        wait = await self._bus.acquire_token(f"{self._name} {key}", self._size, self._per_minute)
        if wait > 0:
            raise LimitReached(
                f"Too many {what}: wait {_format_seconds(wait)}, then try again.",
                retry_after=wait,
                code=code,
                seconds=max(1, math.ceil(wait)),
            )


def _format_seconds(seconds: float) -> str:
    rounded = max(1, math.ceil(seconds))
    return "1 second" if rounded == 1 else f"{rounded} seconds"


def client_network(address: str) -> str:
    """The address itself, or its /64 network for IPv6, where one subscriber has all addresses of such a network."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed) >> 64 << 64, 64)))


class LoginLimits:
    """Limits attempts to log in, by the network of the client, by the name, and by both together.

    The limit of a name alone is wide, so that guesses by others do not lock its owner out for long.
    """

    def __init__(self, bus: Bus) -> None:
        self._addresses = RequestLimits(bus, "logins from", 20, 10)
        self._pairs = RequestLimits(bus, "logins of", 5, 5)
        self._names = RequestLimits(bus, "logins with", 60, 30)

    async def acquire(self, address: str, name: str | None) -> None:
        network = client_network(address)
        await self._addresses.acquire(network, "logins from here", code="too_many_logins_from_address")
        if name is not None:
            # A hash, because the bus must not hold what was typed as a name, which may be long or a password.
            key = hashlib.sha256(name.casefold().encode(errors="surrogatepass")).hexdigest()[:32]
            await self._pairs.acquire(f"{network} {key}", "logins with this name", code="too_many_logins_with_name")
            await self._names.acquire(key, "logins with this name", code="too_many_logins_with_name")


MAX_HEADER_BYTES = 65_536
HEADER_TIMEOUT_SECONDS = 60.0
"""How long a client may take to send the headers of a request, from the start of the connection."""
MAX_IDLE_CONNECTIONS = 1_000
"""Connections that wait for their client: for the headers of a request, the rest of its body, or the next request.
Streams and other responses in progress are not counted."""
LOG_SECONDS = 60.0
_HEADERS_COMPLETE = -1

log = logging.getLogger(__name__)


class IdleConnections:
    """The connections of one server that wait for their clients. If there are too many, the one that has waited longest
    is closed, so that clients that send nothing cannot keep others out."""

    def __init__(self, max_idle: int = MAX_IDLE_CONNECTIONS) -> None:
        self._max_idle = max_idle
        self._connections: dict[BoundedProtocol, None] = {}
        """The one that has waited longest comes first."""
        self._closed_count = 0
        self._logging: asyncio.TimerHandle | None = None

    def add(self, connection: "BoundedProtocol") -> None:
        """It waits from now on, or still: the first bytes of a request do not end the wait."""
        self._connections.setdefault(connection)
        if len(self._connections) > self._max_idle:
            self.close(next(iter(self._connections)))

    def remove(self, connection: "BoundedProtocol") -> None:
        self._connections.pop(connection, None)

    def close(self, connection: "BoundedProtocol") -> None:
        """Closes the connection; all that are closed within a minute are logged in one line."""
        self.remove(connection)
        connection.transport.close()
        self._closed_count += 1
        if self._logging is None:
            self._log()

    def _log(self) -> None:
        self._logging = None
        if self._closed_count:
            log.warning(
                "Idle connections closed: %d. The headers of a request must arrive within %d seconds, and at most %d "
                "connections may wait for their clients.",
                self._closed_count,
                HEADER_TIMEOUT_SECONDS,
                self._max_idle,
            )
            self._closed_count = 0
            self._logging = asyncio.get_running_loop().call_later(LOG_SECONDS, self._log)


class BoundedProtocol(HttpToolsProtocol):
    """Refuses headers that do not end: the parser of uvicorn would buffer them without limit, and wait for ever."""

    # Slots, because one more attribute would enlarge the `__dict__` of each connection by a kilobyte.
    __slots__ = ("_awaits_body", "_header_bytes", "_header_timer", "_is_idle")
    idle_connections = IdleConnections()
    """Shared by all connections of a server, which has a class of its own (`bounded_protocol`)."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._header_bytes = 0
        self._awaits_body = self._is_idle = False
        self._header_timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.idle_connections.remove(self)
        super().connection_lost(exc)

    def _start_header_timer(self) -> None:
        self._is_idle = False
        self._stop_timer()
        self._header_timer = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self.idle_connections.close, self)
        self.idle_connections.add(self)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            # Any byte ends the wait for the next request, even a line break, which does not begin one.
            self._header_bytes = 0
            self.idle_connections.remove(self)
            self._start_header_timer()
        super().data_received(data)
        if self._awaits_body:
            self.idle_connections.remove(self)
            self.idle_connections.add(self)
        if self._header_bytes != _HEADERS_COMPLETE:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
                self.send_400_response("The headers of the request are too large.")

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
        self.idle_connections.remove(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None and self._header_timer is None:
            self._is_idle = True
            self.idle_connections.add(self)


def bounded_protocol() -> type[BoundedProtocol]:
    """A protocol class for one server, so that it counts its own connections only."""
    return type("BoundedProtocolOfServer", (BoundedProtocol,), {"__slots__": (), "idle_connections": IdleConnections()})
