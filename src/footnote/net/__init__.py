"""The egress: every outgoing connection of the program is made here.

No error of the HTTP client leaves the package; it raises its own, which are defined here.
"""

from typing import Literal, TypeAlias

from footnote.protocol.errors import UpstreamError

FailureKind: TypeAlias = Literal["refused_address", "dns", "connection", "tls", "timeout"]


class ConnectionFailed(UpstreamError):
    """The host did not answer, or the connection broke. The message says which, and contains no header or body."""

    type = "connection_error"

    def __init__(
        self, message: str, *, retryable: bool = True, kind: FailureKind = "connection", was_connected: bool = True
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.kind: FailureKind = kind
        self.was_connected = was_connected
        """Whether the server may have received the request."""


class AddressRefused(ConnectionFailed):
    """No connection was attempted: a page or a model may not choose this URL, or the address that its host has."""

    type = "refused_address"

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, kind="refused_address", was_connected=False)
