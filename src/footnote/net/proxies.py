"""Which requests go through a proxy, by the variables that every other program of the machine follows."""

import ipaddress
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct


class Proxies(Struct, frozen=True):
    """`HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in either case. This machine itself is never behind one."""

    http: str | None = None
    https: str | None = None
    exceptions: tuple[str, ...] = ()

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        def value(name: str) -> str | None:
            return (
                environ.get(name) or environ.get(name.upper()) or environ.get("all_proxy") or environ.get("ALL_PROXY")
            )

        listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
        exceptions = tuple(name.strip().lower() for name in listed.split(",") if name.strip())
        return cls(value("http_proxy"), value("https_proxy"), exceptions)

    def of_url(self, url: str) -> str | None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if _is_this_machine(host) or any(_matches(host, name) for name in self.exceptions):
            return None
        return self.https if parts.scheme == "https" else self.http


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _matches(host: str, exception: str) -> bool:
    name = exception.removeprefix("*").lstrip(".")
    return exception == "*" or host == name or host.endswith(f".{name}")
