"""Answers with a body that is there at once. What every answer of the server carries stands here too."""

import asyncio
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from starlette.responses import Response

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    b"connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    b"frame-ancestors 'none'; form-action 'self'"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""On every answer, streams included: nothing from elsewhere runs, frames, sniffs or learns an address of ours."""

JSON = "application/json"
_encoder = msgspec.json.Encoder()
_PIECE = 1 << 20
_LONG_TEXT = 1_000_000


class Reply(Response):
    """An answer in one piece. It is not to be kept by browsers and proxies unless its headers say so."""

    def __init__(
        self, body: bytes | str = b"", status: int = 200, *, media_type: str | None = None, **headers: str
    ) -> None:
        """`headers` are named as arguments: `retry_after="3"`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(body, status, {"cache-control": "no-store", **named}, media_type)
        self.raw_headers.extend(SECURITY_HEADERS)


def json_response(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(_encoder.encode(value), status, media_type=JSON, **headers)


async def struct_response(value: Struct, status: int = 200, **headers: str) -> Reply:
    """`as_json`, in a thread where a text in one of the fields is long enough to hold up the event loop."""
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    long = {name: one for name, one in fields.items() if isinstance(one, str) and len(one) >= _LONG_TEXT}
    if not long:
        return json_response(value, status, **headers)
    return await asyncio.to_thread(_long_text_response, value, long, status, headers)


def _long_text_response(value: Struct, long: dict[str, str], status: int, headers: dict[str, str]) -> Reply:
    return json_response(replace(value, **{name: _json_string(text) for name, text in long.items()}), status, **headers)


def _json_string(text: str) -> Raw:
    """A long text as JSON, encoded piece by piece: one call over megabytes would hold the interpreter's lock for longer
    than the event loop may stand still."""
    pieces = (_encoder.encode(text[at : at + _PIECE])[1:-1] for at in range(0, len(text), _PIECE))
    return Raw(b'"%b"' % b"".join(pieces))
