"""Responses of the servers of the small web."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class PageRequest:
    """A request as it was received. `connection` numbers the connections of a server, from 1."""

    method: str
    path: str
    headers: Mapping[str, str]
    connection: int


@dataclass(frozen=True)
class PageReply:
    """`stream` sends the body piece by piece until the client closes the connection; the piece None never ends."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": HTML})
    body: bytes = b""
    stream: Callable[[], AsyncGenerator[bytes | None, None]] | None = None
    head: bool = True
    """Whether a response head is sent at all."""
    length: int | None = None
    """A wrong Content-Length."""


Answer: TypeAlias = PageReply | Callable[[PageRequest], PageReply]


def page(text: str, *, title: str = "A page", language: str = "en", **headers: str) -> PageReply:
    """A plain page with one paragraph. Headers are written with underscores: `Cache_Control="no-store"`."""
    body = f"<!doctype html><html lang={language}><title>{title}</title><body><p>{text}</p></body></html>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PageReply(headers={"Content-Type": HTML, **named}, body=body.encode())


def redirect(location: str, status: int = 302) -> PageReply:
    return PageReply(status, {"Location": location})


def hanging_reply() -> PageReply:
    """Receives the request and never responds."""
    return PageReply(head=False, stream=_nothing)


def hanging_body() -> PageReply:
    """Begins the body, and then sends nothing more."""

    async def body() -> AsyncGenerator[bytes | None, None]:
        yield b"<p>The beginning of"
        yield None

    return PageReply(stream=body)


def dripping_reply(seconds: float = 0.01) -> PageReply:
    """Sends a byte from time to time for ever, so that no idle timeout applies."""

    async def drops() -> AsyncGenerator[bytes | None, None]:
        for letter in itertools.cycle(b"drip "):
            yield bytes([letter])
            await asyncio.sleep(seconds)

    return PageReply(stream=drops)


async def _nothing() -> AsyncGenerator[bytes | None, None]:
    yield None
