"""Signed URLs at which a content can be downloaded for an hour. They are made on request and never stored."""

import base64
import binascii
import hmac
import mimetypes
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from urllib.parse import quote

import msgspec
from msgspec import Struct

from footnote.db import blobs as db
from footnote.db.engine import Database
from footnote.protocol.errors import Unknown
from footnote.workspace.blobs import Blobs

EXPIRY_SECONDS = 3600
PATH = "/v2/downloads/"
_SIGNATURE_BYTES = 32
_MAX_TOKEN_CHARS = 4000
_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}
"""The media type of a name such as `a.tar.gz` or `a.svgz` is that of the compressed file, not of its content."""
_UNKNOWN = "application/octet-stream"


class _Ticket(Struct, frozen=True, array_like=True):
    """The signed fields of a URL: user, session, content, file name and expiry."""

    user_id: str
    session_id: str
    hash: str
    filename: str
    expires: int


_ticket_decoder = msgspec.json.Decoder(_Ticket)


@dataclass(frozen=True, slots=True)
class Download:
    filename: str
    media_type: str
    size: int
    hash: str
    read: Callable[[int, int | None], AsyncGenerator[bytes, None]]
    signed_url: Callable[[], Awaitable[str | None]]
    """A URL of the storage itself for the remaining time, where it has one."""


class Downloads:
    def __init__(self, database: Database, blobs: Blobs, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock
        self._key: bytes | None = None

    async def create_url(self, user_id: str, session_id: str, content_hash: str, filename: str) -> str:
        """The path and the name of a URL on this server."""
        ticket = _Ticket(user_id, session_id, content_hash, filename, int(self._clock()) + EXPIRY_SECONDS)
        body = msgspec.json.encode(ticket)
        token = base64.urlsafe_b64encode(await self._signature(body) + body).decode().rstrip("=")
        return f"{PATH}{token}/{quote(filename, safe='')}"

    async def open(self, token: str, requester_id: str | None) -> Download:
        """`Unknown`: the signature is wrong or expired, the content is deleted, or the requester is another user.
        Deleting a session or a user invalidates its URLs."""
        ticket = await self._read(token)
        left = ticket.expires - int(self._clock())
        if left <= 0 or requester_id not in (None, ticket.user_id):
            raise _expired_error()
        blob = await self._database.read(db.blob_location(ticket.hash))
        if blob is None or not await self._database.read(
            db.has_content(ticket.user_id, ticket.session_id, ticket.hash)
        ):
            raise _expired_error()
        media_type = _media_type(ticket.filename)
        return Download(
            ticket.filename,
            media_type,
            blob.size,
            ticket.hash,
            partial(self._blobs.stream, ticket.hash),
            partial(self._blobs.signed_url, ticket.hash, seconds=left, filename=ticket.filename, media_type=media_type),
        )

    async def _read(self, token: str) -> _Ticket:
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _expired_error() from None
        signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if len(token) > _MAX_TOKEN_CHARS or not hmac.compare_digest(signature, await self._signature(body)):
            raise _expired_error()
        return _ticket_decoder.decode(body)

    async def _signature(self, body: bytes) -> bytes:
        if self._key is None:
            self._key = await self._database.write(db.get_or_create_secret("downloads", secrets.token_bytes(32)))
        return hmac.digest(self._key, body, sha256)


def _media_type(filename: str) -> str:
    media_type, packing = mimetypes.guess_type(filename)
    return (_PACKED.get(packing) if packing else media_type) or _UNKNOWN


def _expired_error() -> Unknown:
    return Unknown(
        "There is nothing to download here. Addresses expire after an hour: ask for a new one.", code="download_expired"
    )
