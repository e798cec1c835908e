"""How often somebody may ask: a bucket each, which fills again with time."""

import hashlib
import math
from ipaddress import IPv4Address, ip_address, ip_network

from footnote.bus.base import Bus
from footnote.protocol.errors import LimitReached


class RequestLimits:
    """Each key may take `size` at once, and `per_minute` in the long run, from all replicas together."""

    __slots__ = ("_bus", "_name", "_per_minute", "_size")

    def __init__(self, bus: Bus, name: str, size: float, per_minute: float) -> None:
        self._bus = bus
        self._name = name
        self._size = size
        self._per_minute = per_minute

    async def acquire(self, key: str, what: str) -> None:
        """`LimitReached`: nothing is left of `what` for this key now."""
        wait = await self._bus.acquire_token(f"{self._name} {key}", self._size, self._per_minute)
        if wait > 0:
            raise LimitReached(f"Too many {what}: wait {_format_seconds(wait)}, then try again.", retry_after=wait)


def _format_seconds(seconds: float) -> str:
    whole = max(1, math.ceil(seconds))
    return "1 second" if whole == 1 else f"{whole} seconds"


def client_network(address: str) -> str:
    """Whom an address stands for: itself, or the whole network of which one subscriber has every address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed) >> 64 << 64, 64)))


class LoginLimits:
    """Guesses of passwords and of one-time tokens, by where they come from and by whom they are about.

    The limit of a name is wide: a stranger who guesses at it must not keep its owner out for long.
    """

    def __init__(self, bus: Bus) -> None:
        self._addresses = RequestLimits(bus, "logins from", 20, 10)
        self._pairs = RequestLimits(bus, "logins of", 5, 5)
        self._names = RequestLimits(bus, "logins with", 60, 30)

    async def acquire(self, address: str, name: str | None) -> None:
        place = client_network(address)
        await self._addresses.acquire(place, "logins from here")
        if name is not None:
            # Whatever somebody typed there, what others keep of it is short and tells nothing.
            key = hashlib.sha256(name.casefold().encode(errors="surrogatepass")).hexdigest()[:32]
            await self._pairs.acquire(f"{place} {key}", "logins with this name")
            await self._names.acquire(key, "logins with this name")
