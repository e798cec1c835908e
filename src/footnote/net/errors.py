"""Why a connection failed, in our words: no error of the HTTP client leaves `net`."""

from typing import Literal, TypeAlias

import aiohttp

from footnote.protocol.errors import UpstreamError

FailureKind: TypeAlias = Literal["refused_address", "dns", "connection", "tls", "timeout"]


class ConnectionFailed(UpstreamError):
    """Nobody answered, or the connection broke. The message says which, and names no header or body."""

    type = "connection_error"

    def __init__(self, message: str, *, retryable: bool = True, kind: FailureKind = "connection") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.kind: FailureKind = kind


class AddressRefused(ConnectionFailed):
    """We did not even try: the URL, or the address that it leads to, is none that a page or a model may choose."""

    type = "refused_address"

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, kind="refused_address")


class NotPublic(OSError):
    """An address was refused on the way to it. It travels through the HTTP client as what a connection fails with."""


_CAUSES: tuple[tuple[type[Exception], FailureKind, str], ...] = (
    (aiohttp.InvalidURL, "connection", "the address is not a valid URL"),
    (aiohttp.ConnectionTimeoutError, "timeout", "no connection could be made in time"),
    (TimeoutError, "timeout", "nothing was received for too long"),
    (aiohttp.ClientConnectorDNSError, "dns", "the host name could not be resolved"),
    (aiohttp.ClientProxyConnectionError, "connection", "the proxy could not be reached"),
    (aiohttp.ClientHttpProxyError, "connection", "the proxy refused the connection"),
    (aiohttp.ClientConnectorCertificateError, "tls", "its certificate was not accepted"),
    (aiohttp.ClientSSLError, "tls", "the TLS handshake failed"),
    (aiohttp.ClientConnectorError, "connection", "the connection was refused"),
)

CLIENT_ERRORS = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""All that the HTTP client raises when a request or a body fails."""


def connection_failure(error: Exception) -> ConnectionFailed:
    passing = not isinstance(error, aiohttp.InvalidURL | aiohttp.ClientConnectorCertificateError)
    for kind, trouble, reason in _CAUSES:
        if isinstance(error, kind):
            return ConnectionFailed(reason, retryable=passing, kind=trouble)
    return ConnectionFailed("the connection was broken", retryable=passing)


def is_refused_address(error: Exception) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, NotPublic)
