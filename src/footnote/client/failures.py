"""What a server answered instead of what was asked for, as an error of ours."""

from collections.abc import Mapping
from typing import Any

import msgspec

from footnote.protocol.errors import (
    Conflict,
    FileChanged,
    FootnoteError,
    LimitReached,
    NotAllowed,
    NotLoggedIn,
    RunActive,
    TooLarge,
    Unknown,
    Unworkable,
    UpstreamError,
    UsageError,
    WrongKind,
)
from footnote.protocol.events import ErrorBody

PASSING = frozenset({502, 503, 504})
"""Statuses after which it is worth another try: a server that starts, or what stands before it."""

_KINDS: dict[str, type[UsageError]] = {
    kind.type: kind
    for kind in (
        *(UsageError, Unknown, Conflict, RunActive, FileChanged, TooLarge, WrongKind, Unworkable),
        *(NotLoggedIn, NotAllowed),
    )
}


class _Refusal(msgspec.Struct, frozen=True):
    error: ErrorBody


def refusal(base_url: str, status: int, headers: Mapping[str, str], body: bytes) -> FootnoteError:
    """The error of a response that is no success, with the server's own sentence where it has one."""
    if 300 <= status < 400:
        return UpstreamError(
            f"{base_url} sends us on to another address, and the token is for this one only. "
            f"Give the address itself{_leading_to(headers)}.",
            status=status,
        )
    said = _said(body)
    if status == 401:
        return NotLoggedIn(
            f"{base_url} does not accept the token. Set FOOTNOTE_TOKEN to a token of that server: one that was made "
            "for you there, or what stands in the file `token` of its home folder."
        )
    if said is None:
        return UpstreamError(
            f"{base_url} answered with status {status} and does not seem to be Footnote.", status=status
        )
    if status == 429:
        return LimitReached(said.message, retry_after=_seconds(headers))
    if 400 <= status < 500:
        return _KINDS.get(said.type, UsageError)(said.message)
    return UpstreamError(said.message, status=status)


def _seconds(headers: Mapping[str, str]) -> float | None:
    """What `Retry-After` says, if it is a number of seconds."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def unreachable(base_url: str, reason: str) -> UpstreamError:
    return UpstreamError(
        f"{base_url} cannot be reached: {reason}. Start a server there with `footnote serve`, or leave out --server."
    )


def _said(body: bytes) -> ErrorBody | None:
    try:
        return msgspec.json.decode(body, type=_Refusal).error
    except msgspec.DecodeError:
        return None


def _leading_to(headers: Mapping[str, Any]) -> str:
    place = str(headers.get("Location", ""))
    return f": {place}" if place.startswith(("http://", "https://")) else ""
