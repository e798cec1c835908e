"""Which requests go through a proxy, by the usual environment variables."""

import ipaddress
import logging
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct

log = logging.getLogger(__name__)


class Proxies(Struct, frozen=True):
    """`HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in upper or lower case. Loopback addresses are never proxied."""

    http: str | None = None
    https: str | None = None
    exceptions: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        def value(name: str) -> str | None:
            named = (environ.get(known) for known in (name, name.upper(), "all_proxy", "ALL_PROXY"))
            return _proxy_url(next(filter(None, named), ""))

        listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
        exceptions = tuple(name.strip().lower() for name in listed.split(",") if name.strip())
        return cls(value("http_proxy"), value("https_proxy"), exceptions)

    def __repr__(self) -> str:
        """Without the URLs: that of a proxy often holds a password."""
        return f"Proxies(http={bool(self.http)}, https={bool(self.https)})"

    def for_url(self, url: str) -> str | None:
        parts = urlsplit(url)
        return self.for_host(parts.scheme, (parts.hostname or "").lower())

    def for_host(self, scheme: str, host: str) -> str | None:
        if _is_loopback(host) or any(_matches(host, name) for name in self.exceptions):
            return None
        return self.https if scheme == "https" else self.http


def _proxy_url(value: str) -> str | None:
    """The URL of an HTTP proxy; a bare `host:port` is one. Other kinds of proxies are not supported."""
    scheme, separator, _ = value.partition("://")
    if not value or not separator:
        return f"http://{value}" if value else None
    if scheme.lower() in ("http", "https"):
        return value
    log.warning("A proxy of the kind %s is set in the environment and cannot be used; it is left out.", scheme)
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _matches(host: str, exception: str) -> bool:
    name = exception.removeprefix("*").lstrip(".")
    return exception == "*" or host == name or host.endswith(f".{name}")
