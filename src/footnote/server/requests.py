"""What a request carries: its body, its query, and the headers that choose the form of the response."""

import asyncio
import re
from collections.abc import Coroutine, Iterator
from typing import Any, Self, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from footnote.protocol.errors import TooLarge, UsageError, WrongKind
from footnote.protocol.sessions import parse_locale
from footnote.protocol.tools import Locale

S = TypeVar("S", bound=Struct)
T = TypeVar("T")

# Headers ----------------------------------------------------------------------------------------------------

MAX_PREFERENCES = 50
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def _parse_preferences(header: str) -> Iterator[tuple[str, float]]:
    """Each name in lower case with its quality (0 to 1). Parts without a name are skipped."""
    for part in header.split(",")[:MAX_PREFERENCES]:
        name, *parameters = (parameter.strip().lower() for parameter in part.split(";"))
        if name:
            yield name, next((_quality(value[2:]) for value in parameters if value.startswith("q=")), 1.0)


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return min(1.0, quality) if quality > 0 else 0.0


def _preference(preferences: dict[str, float], name: str, family: str) -> float:
    """The most specific entry counts."""
    return next((preferences[key] for key in (name, family, "*/*") if key in preferences), 0.0)


def prefers_json(accept: str | None) -> bool:
    """Whether the client prefers plain JSON to an event stream, which is sent if it accepts both equally."""
    preferences = dict(_parse_preferences(accept or "*/*"))
    stream = _preference(preferences, "text/event-stream", "text/*")
    return _preference(preferences, "application/json", "application/*") > stream


def accepts_gzip(accept_encoding: str | None) -> bool:
    preferences = dict(_parse_preferences(accept_encoding or ""))
    return next((preferences[key] for key in ("gzip", "x-gzip", "*") if key in preferences), 0.0) > 0


def locale_of(accept_language: str | None) -> Locale | None:
    """The supported language that the client likes best; None if it accepts none of them."""
    best: tuple[float, Locale | None] = (0.0, None)
    for name, quality in _parse_preferences(accept_language or ""):
        locale = parse_locale(name)
        if locale is not None and quality > best[0]:
            best = (quality, locale)
    return best[1]


class ByteRange(Struct, frozen=True):
    """The bytes from `start` to before `end`; empty if the client asked for bytes behind the end of the file."""

    start: int
    end: int

    @property
    def is_empty(self) -> bool:
        return self.start >= self.end


def requested_range(headers: Headers, etag: str, size: int) -> ByteRange | None:
    """The requested part. None, for the whole file, also if several parts are requested, or `If-Range` names another
    content."""
    match = _RANGE.fullmatch(headers.get("range", "").replace(" ", ""))
    if match is None or headers.get("if-range", etag) != etag:
        return None
    first, last = match.groups()
    if not first:
        return ByteRange(max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return ByteRange(int(first), min(size, int(last) + 1) if last else size)


def is_not_modified(headers: Headers, etag: str) -> bool:
    """Whether the client has this content already."""
    known = {tag.strip().removeprefix("W/") for tag in headers.get("if-none-match", "").split(",")}
    return etag.removeprefix("W/") in known or "*" in known


# Body and query as values -----------------------------------------------------------------------------------

MAX_QUERY_FIELDS = 50
BODY_SECONDS = 120
_NUL = "A text holds a NUL character; leave it out."
_LARGE_BODY_BYTES = 65_536


async def read_body(receive: Receive, headers: Headers, max_bytes: int) -> bytearray:
    """The whole body; at most `max_bytes` of it are held in memory.

    The buffer grows in place: joining the chunks of a large body at its end would block the event loop.
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
                    raise _incomplete()
                chunk: bytes = message.get("body", b"")
                if len(body) + len(chunk) > max_bytes:
                    raise _too_large(max_bytes)
                body += chunk
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise UsageError(
            f"The body did not come within {BODY_SECONDS} seconds.", code="body_timeout", seconds=BODY_SECONDS
        ) from error
    return body


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(
        f"The body is larger than {max_bytes:,} bytes; send less at once.", code="body_too_large", max=max_bytes
    )


def _incomplete() -> UsageError:
    return UsageError("The request ended before its body did.", code="body_incomplete")


async def decode(raw: bytearray, headers: Headers, kind: type[S]) -> S:
    """`decode_body`, in a thread if the body is large enough to block the event loop."""
    if len(raw) < _LARGE_BODY_BYTES:
        return decode_body(raw, headers, kind)
    return await asyncio.to_thread(decode_body, raw, headers, kind)


def decode_body(raw: bytearray, headers: Headers, kind: type[S]) -> S:
    """Strict: a number is no string, and an unknown field is an error if the type forbids unknown fields."""
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
    """Whether a body of this type may be left out: all fields have defaults."""
    return not any(field.required for field in msgspec.structs.fields(kind))


def decode_query(raw: bytes, kind: type[S] | None, *, lenient: bool = False) -> S | None:
    """Converts the strings of the query to the types of the fields. A repeated name is an error, and so is an unknown
    one unless `lenient`."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except ValueError as error:  # also raised for bytes that are not UTF-8
        raise UsageError("The query of the address cannot be read; percent-encode it as UTF-8.") from error
    names = {field.encode_name for field in msgspec.structs.fields(kind)} if kind is not None else set[str]()
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
    """For the decoded text of a URL, which may hold any character."""
    if "\0" in text:
        raise UsageError(_NUL)
    return text


def _error_text(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error).rstrip(".")


def _contains_nul(value: Any) -> bool:
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if "\0" in item:
                return True
        elif isinstance(item, dict):
            fields = cast("dict[Any, Any]", item)
            pending.extend(fields)
            pending.extend(fields.values())
        elif isinstance(item, list | tuple):
            pending.extend(cast("list[Any]", item))
        elif isinstance(item, Struct):
            pending.extend(getattr(item, name) for name in item.__struct_fields__)
    return False


# Body in chunks ---------------------------------------------------------------------------------------------

BODY_STALL_SECONDS = 60.0
"""The longest pause between two chunks of a streamed body, which may take any time in total."""
LINGER_SECONDS = 10.0
LINGER_SILENCE_SECONDS = 1.0


class RequestBody:
    """A body as it arrives: `async for chunk in call.incoming.with_limit(max_bytes)`."""

    __slots__ = ("_content_length", "_is_done", "_max_bytes", "_receive", "_size", "_stall")

    def __init__(self, receive: Receive, headers: Headers, *, stall: float = BODY_STALL_SECONDS) -> None:
        declared = headers.get("content-length", "")
        self._content_length = int(declared[:20]) if declared.isascii() and declared.isdecimal() else None
        self._receive = receive
        self._stall = stall
        self._max_bytes = 0
        self._size = 0
        self._is_done = not self._content_length and "transfer-encoding" not in headers

    @property
    def is_done(self) -> bool:
        """The body has been read to its end, or there is none."""
        return self._is_done

    def with_limit(self, max_bytes: int) -> Self:
        """`TooLarge`: the client declares a larger body."""
        self._max_bytes = max_bytes
        if self._content_length is not None and self._content_length > max_bytes:
            raise _too_large(max_bytes)
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._is_done:
            raise StopAsyncIteration
        if self._size > self._max_bytes:
            raise _too_large(self._max_bytes)
        try:
            async with asyncio.timeout(self._stall):
                message = await self._receive()
        except TimeoutError as error:
            raise UsageError(
                f"Nothing of the body came for {self._stall:g} seconds; send it again.",
                code="body_timeout",
                seconds=self._stall,
            ) from error
        if message["type"] == "http.disconnect":
            self._is_done = True
            raise _incomplete()
        chunk: bytes = message.get("body", b"")
        self._is_done = not message.get("more_body", False)
        self._size += len(chunk)
        if self._size > self._max_bytes:
            self._is_done = False
            raise _too_large(self._max_bytes)
        return chunk

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled when the client disconnects. The body must have been read before."""
        task, disconnect = asyncio.create_task(work), asyncio.create_task(wait_for_disconnect(self._receive))
        try:
            await asyncio.wait((task, disconnect), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise UsageError("The client disconnected before the response was ready.")
        finally:
            task.cancel()
            disconnect.cancel()
            await asyncio.wait((task, disconnect))


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def lingering_send(receive: Receive, send: Send) -> Send:
    """For a response that is sent while the body of its request still arrives.

    Closing the connection at that moment would reset it, and the client would never read why its request was refused:
    so the body is discarded for a while.
    """

    async def send_and_linger(message: Message) -> None:
        if message["type"] != "http.response.body" or message.get("more_body", False):
            await send(message)
            return
        await send({**message, "more_body": True})
        await _discard_body(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_and_linger


async def _discard_body(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            more = True
            while more:
                async with asyncio.timeout(LINGER_SILENCE_SECONDS):
                    more = (await receive()).get("more_body", False)
    except TimeoutError:
        return
