"""From bytes to the values that a route wants, or a sentence about what is wrong with them."""

import asyncio
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.types import Receive

from footnote.protocol.errors import TooLarge, UsageError, WrongKind

S = TypeVar("S", bound=Struct)
MAX_QUERY_FIELDS = 50
BODY_SECONDS = 120
_NUL = "A text holds a NUL character; leave it out."
_LARGE_BODY_BYTES = 65_536


async def read_body(receive: Receive, headers: Headers, max_bytes: int) -> bytearray:
    """The whole body, of which never more than `most` bytes are held.

    It grows in place: to join the pieces of a large body at its end would hold up the event loop.
    """
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    more = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise UsageError("The request ended before its body did.")
                piece: bytes = message.get("body", b"")
                if len(body) + len(piece) > max_bytes:
                    raise _too_large(max_bytes)
                body += piece
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise UsageError(f"The body did not come within {BODY_SECONDS} seconds.") from error
    return body


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The body is larger than {max_bytes:,} bytes; send less at once.")


async def decode(raw: bytearray, headers: Headers, kind: type[S]) -> S:
    """`decode_body`, in a thread where the body is large enough to hold up the event loop."""
    if len(raw) < _LARGE_BODY_BYTES:
        return decode_body(raw, headers, kind)
    return await asyncio.to_thread(decode_body, raw, headers, kind)


def decode_body(raw: bytearray, headers: Headers, kind: type[S]) -> S:
    """Strict: a number is no text, and what the type does not know is an error if it forbids that."""
    if not raw and can_be_omitted(kind):
        raw = bytearray(b"{}")
    elif headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise WrongKind("Send the body as JSON, with the header `Content-Type: application/json`.")
    try:
        raw.decode("utf-8")
        value = msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"The body cannot be used: {_error_text(error)}.") from error
    except RecursionError as error:
        raise UsageError("The body is nested too deeply.") from error
    # A NUL character can only be written as an escape. The decoded value tells it from an escaped backslash before
    # "u0000". Fields that the type does not know are not decoded, and so cost nothing here.
    if b"\\u0000" in raw and _contains_nul(value):
        raise UsageError(_NUL)
    return value


def can_be_omitted(kind: type[Struct]) -> bool:
    """Whether a body may be left out: all of its fields have defaults."""
    return not any(one.required for one in msgspec.structs.fields(kind))


def decode_query(raw: bytes, kind: type[S] | None, *, lenient: bool = False) -> S | None:
    """Texts become what the fields of `kind` are. A name that is not known, unless `lenient`, or comes twice is an
    error."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except ValueError as error:  # also what is no UTF-8
        raise UsageError("The query of the address cannot be read; percent-encode it as UTF-8.") from error
    names = {one.encode_name for one in msgspec.structs.fields(kind)} if kind is not None else set[str]()
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name not in names and lenient:
            continue
        if name not in names:
            known = f"; it takes {', '.join(sorted(names))}" if names else "; it takes none"
            raise UsageError(f"The query has a field {name[:100]!r} that is not known here{known}.")
        if name in fields:
            raise UsageError(f"The query has {name!r} more than once.")
        fields[name] = reject_nul(value)
    if kind is None:
        return None
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.MsgspecError as error:
        raise UsageError(f"The query cannot be used: {_error_text(error)}.") from error


def reject_nul(text: str) -> str:
    """A text of an address, which may hold anything once it is decoded."""
    if "\0" in text:
        raise UsageError(_NUL)
    return text


def _error_text(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error).rstrip(".")


def _contains_nul(value: Any) -> bool:
    rest: list[Any] = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            if "\0" in one:
                return True
        elif isinstance(one, dict):
            fields = cast("dict[Any, Any]", one)
            rest.extend(fields)
            rest.extend(fields.values())
        elif isinstance(one, list | tuple):
            rest.extend(cast("list[Any]", one))
        elif isinstance(one, Struct):
            rest.extend(getattr(one, name) for name in one.__struct_fields__)
    return False
