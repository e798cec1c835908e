"""A response without a socket: bytes in given pieces, for the tests that try every position of a stream."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from footnote.models.base import Endpoint, Model
from footnote.models.catalog import ApiType, build_model
from footnote.models.profiles import Profile
from footnote.models.retry import Retry


class RecordedResponse:
    """Stands where `Net` and its `Response` stand: plays the pieces, then ends, or hangs if it `hangs`."""

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


def model_of(api: ApiType, response: Any) -> Model:
    """A model whose one response is `tape`. It is not asked again when the first attempt fails."""
    endpoint = Endpoint("tape", "http://tape")
    return build_model(api, endpoint, "model", Profile(), net=response, retry=Retry(max_retries=0))


def model_with_response(api: ApiType, *pieces: bytes) -> Model:
    return model_of(api, RecordedResponse(pieces))
