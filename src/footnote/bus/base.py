"""What a bus can do.

The database is the truth and a bus carries hints: a message may be late, lost or come twice. Whoever listens looks into
the database now and then all the same, and whenever `b""` comes in place of a message.
"""

from typing import Protocol

from msgspec import Struct

from footnote.bus.subscriptions import Listener
from footnote.protocol.errors import FootnoteError


class BusDown(FootnoteError):
    """It cannot be reached, or does not answer. The message names it without its password."""

    type = "bus_down"
    retryable = True


class BusState(Struct, frozen=True):
    """`dropped`: messages that were not sent, since the bus was down or slower than we are."""

    kind: str
    is_connected: bool
    published: int = 0
    received: int = 0
    dropped: int = 0
    reconnects: int = 0


class Bus(Protocol):
    """Nothing is connected before it is first used."""

    @property
    def reaches_others(self) -> bool:
        """Whether other processes hear what is published."""
        ...

    @property
    def max_bytes(self) -> int:
        """How large a message should be at most. Where that is little, it is a hint and no more."""
        ...

    def publish(self, topic: str, message: bytes) -> None:
        """Sends a message soon, if it can be sent. Never waits and never fails."""
        ...

    def listen(self, topic: str) -> Listener:
        """The messages of a topic from now on, those of this process among them. To be closed."""
        ...

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        """Takes one from the bucket `key`, which holds `size` and fills with `per_minute`, over all replicas.

        Returns 0, or how many seconds it takes until there is one. While the bus is down each replica counts for
        itself."""
        ...

    @property
    def state(self) -> BusState: ...

    async def close(self) -> None:
        """Sends what is left to send, if that does not take long."""
        ...
