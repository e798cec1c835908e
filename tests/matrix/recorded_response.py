"""A response without a socket: bytes in given pieces, for tests that split a stream at every position."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from footnote.models.base import Endpoint, Model
from footnote.models.profiles import Profile
from footnote.models.retry import Retry
from footnote.models.stream import build_model


class RecordedResponse:
    """Takes the place of `Net` and its `Response`: returns the pieces, then ends, or hangs if `hangs` is set."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, pieces: Iterable[bytes], *, hangs: bool = False) -> None:
        self._pieces = iter([piece for piece in pieces if piece])
        self._hangs = hangs
        self.closed = False

    async def post(self, url: str, **_: Any) -> "RecordedResponse":
        return self

    async def read_chunk(self) -> bytes:
        piece = next(self._pieces, b"")
        if not piece and self._hangs:
            await asyncio.Event().wait()
        return piece

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def model_of(api: str, response: Any) -> Model:
    """A model that gets this response. It does not retry."""
    endpoint = Endpoint("recorded", "http://recorded")
    return build_model(api, endpoint, "model", Profile(), net=response, retry=Retry(max_retries=0))


def model_with_response(api: str, *pieces: bytes) -> Model:
    return model_of(api, RecordedResponse(pieces))
