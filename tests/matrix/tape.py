"""A response without a socket: bytes in given pieces, for the tests that try every position of a stream."""

from collections.abc import Iterable, Mapping
from typing import Any

from footnote.models.base import Model
from footnote.models.catalog import ApiType, build_model
from footnote.models.failures import Endpoint
from footnote.models.profiles import Profile
from footnote.models.retry import Retry


class _Tape:
    """Stands where `Net` and its `Response` stand: plays the pieces, then the end of the body."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter([piece for piece in pieces if piece])

    async def post(self, url: str, **_: Any) -> "_Tape":
        return self

    async def read_some(self) -> bytes:
        return next(self._pieces, b"")

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass


def played(api: ApiType, *pieces: bytes) -> Model:
    """A model whose one response is `pieces`. It is not asked again when the first attempt fails."""
    endpoint = Endpoint("tape", "http://tape")
    tape: Any = _Tape(pieces)
    return build_model(api, endpoint, "model", Profile(), net=tape, retry=Retry(times=0))
