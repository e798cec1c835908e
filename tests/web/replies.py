"""What a server of the small web answers with."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """One request as it came. `connection` numbers the connections of a server, from 1."""

    method: str
    path: str
    headers: Mapping[str, str]
    connection: int


@dataclass(frozen=True)
class Reply:
    """`stream` sends the body piece by piece until the client goes away; None as a piece: nothing more ever comes."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": HTML})
    body: bytes = b""
    stream: Callable[[], AsyncGenerator[bytes | None, None]] | None = None
    head: bool = True
    """Whether there is an answer at all."""
    length: int | None = None
    """A Content-Length that is not true."""


Answer: TypeAlias = Reply | Callable[[Request], Reply]


def page(text: str, *, title: str = "A page", language: str = "en", **headers: str) -> Reply:
    """A plain page with one paragraph. Headers are written with underscores: `Cache_Control="no-store"`."""
    body = f"<!doctype html><html lang={language}><title>{title}</title><body><p>{text}</p></body></html>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(headers={"Content-Type": HTML, **named}, body=body.encode())


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status, {"Location": location})


def hanging_reply() -> Reply:
    """Takes the request and never answers."""
    return Reply(head=False, stream=_nothing)


def hanging_body() -> Reply:
    """Answers, begins, and then says nothing more."""

    async def begun() -> AsyncGenerator[bytes | None, None]:
        yield b"<p>The beginning of"
        yield None

    return Reply(stream=begun)


def dripping_reply(seconds: float = 0.01) -> Reply:
    """A byte from time to time, for ever: never silent, and never done."""

    async def drops() -> AsyncGenerator[bytes | None, None]:
        for letter in itertools.cycle(b"drip "):
            yield bytes([letter])
            await asyncio.sleep(seconds)

    return Reply(stream=drops)


async def _nothing() -> AsyncGenerator[bytes | None, None]:
    yield None
