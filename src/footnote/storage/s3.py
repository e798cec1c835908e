"""Files in a bucket of an S3-compatible service, over the one way out.

Every operation may be repeated, since a place is written once and always with the same bytes: what passes is tried
again.
"""

import asyncio
import hashlib
import random
import re
import secrets
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from footnote.net.client import Net, Response
from footnote.net.failures import ConnectionFailed
from footnote.storage.base import PIECE_BYTES, checked, read_piece
from footnote.storage.disposition import attachment
from footnote.storage.failures import StorageFailed, StorageFull
from footnote.storage.signing import EMPTY_HASH, Signer

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before each further try, more or less."""
STALL_SECONDS = 15.0
"""A bucket that says nothing for so long is not waited for: somebody waits for us."""
PATIENCE_SECONDS = 10.0
"""Once as much time is gone, nothing is tried again."""
MOST_ERROR_BYTES = 20_000
OUT_OF_RANGE = 416
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_code = re.compile(rb"<Code>([A-Za-z0-9]{1,80})</Code>")
_KEYS = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_REASONS = {
    "NoSuchBucket": "it does not exist. Create it, or correct storage.url in config.json",
    "InvalidAccessKeyId": f"the access key is not known there. {_KEYS}",
    "SignatureDoesNotMatch": f"the secret key is not the right one. {_KEYS}",
    "AccessDenied": f"the keys may not read, write and delete in it. {_KEYS}, and the rights that belong to them",
    "ExpiredToken": "the session token has expired. Renew AWS_SESSION_TOKEN with its keys",
    "InvalidToken": "the session token is not valid. Renew AWS_SESSION_TOKEN with its keys",
    "RequestTimeTooSkewed": "the clocks differ too much. Set the clock of this machine",
    "AuthorizationHeaderMalformed": "the region is not the right one. Correct `region` in storage.url",
    "PermanentRedirect": "it is in another region. Correct `region` and `endpoint` in storage.url",
    "TemporaryRedirect": "it is in another region. Correct `region` and `endpoint` in storage.url",
}
_FULL = frozenset({"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "EntityTooLarge"})


class Bucket(Struct, frozen=True):
    """`endpoint` is scheme, host and port. `prefix` is empty or ends in a slash. No character of a name, an endpoint or
    a prefix needs to be percent-encoded."""

    name: str
    endpoint: str
    prefix: str = ""
    by_path: bool = True
    """The name stands in the path, and not before the host."""
    direct: bool = True
    """Whoever is handed an address of the bucket can reach it."""

    @property
    def base(self) -> str:
        scheme, _, host = self.endpoint.partition("://")
        return self.endpoint if self.by_path else f"{scheme}://{self.name}.{host}"

    @property
    def host(self) -> str:
        return urlsplit(self.base).netloc

    def path(self, place: str) -> str:
        return f"/{self.name}/{self.prefix}{place}" if self.by_path else f"/{self.prefix}{place}"


class S3Storage:
    """The net is the caller's, and stays open."""

    def __init__(
        self,
        bucket: Bucket,
        signer: Signer,
        net: Net,
        *,
        pauses: Sequence[float] = PAUSES,
        stall: float = STALL_SECONDS,
    ) -> None:
        self._bucket = bucket
        self._signer = signer
        self._net = net
        self._pauses = pauses
        self._stall = stall

    @property
    def address(self) -> str:
        return f"s3://{self._bucket.name}/{self._bucket.prefix}"

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        (await self._done("PUT", place, content=content, sha256=sha256)).close()

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        pauses = iter(self._pauses)
        while end is None or start < end:
            wanted = {} if start == 0 and end is None else {"range": f"bytes={start}-{'' if end is None else end - 1}"}
            response = await self._done("GET", place, wanted=wanted, also=(OUT_OF_RANGE,))
            try:
                if response.status == OUT_OF_RANGE:
                    return
                if wanted and response.status != 206:
                    raise StorageFailed(f"{self._named()} hands out no parts of a file, which is needed here.")
                while piece := await response.read_some():
                    start += len(piece)
                    yield piece
            except ConnectionFailed as error:
                # What came has been handed on; only the rest is asked for.
                await self._pause(pauses, self._unreachable(error))
            else:
                return
            finally:
                response.close()

    async def delete(self, place: str) -> None:
        (await self._done("DELETE", place, also=(404,))).close()

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        if not self._bucket.direct:
            return None
        path = self._bucket.path(checked(place))
        asked = {"response-content-disposition": attachment(filename), "response-content-type": media_type}
        moment = datetime.now(UTC)
        query = self._signer.query("GET", self._bucket.host, path, moment=moment, seconds=seconds, asked=asked)
        return f"{self._bucket.base}{path}?{query}"

    async def check(self) -> None:
        """Writes, reads and deletes a few bytes."""
        content = secrets.token_bytes(32)
        sha256 = hashlib.sha256(content).hexdigest()
        place = f"{sha256[:2]}/{sha256}.{secrets.token_hex(4)}"
        await self.put(place, content, sha256)
        read = b"".join([piece async for piece in self.read(place)])
        await self.delete(place)
        if read != content:
            raise StorageFailed(f"{self._named()} does not hand out what was put into it.")

    async def close(self) -> None:
        """Nothing is held."""

    async def _done(
        self,
        method: str,
        place: str,
        *,
        content: bytes | Path | None = None,
        sha256: str = EMPTY_HASH,
        wanted: dict[str, str] | None = None,
        also: Sequence[int] = (),
    ) -> Response:
        """The answer to a request that worked: a 2xx, or one of `also`."""
        path = self._bucket.path(checked(place))
        size = await _size(content)
        pauses = iter(self._pauses)
        until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            moment = datetime.now(UTC)
            headers = self._signer.headers(
                method, self._bucket.host, path, sha256=sha256, moment=moment, **(wanted or {})
            )
            if size is not None:
                headers["content-length"] = str(size)
            body = None if content is None else _pieces(content)
            try:
                url = f"{self._bucket.base}{path}"
                response = await self._net.request(method, url, headers=headers, body=body, stall=self._stall)
            except ConnectionFailed as error:
                passes = error.retryable and asyncio.get_running_loop().time() < until
                await self._pause(pauses, self._unreachable(error), passes=passes)
                continue
            if 200 <= response.status < 300 or response.status in also:
                return response
            await self._pause(pauses, await self._refusal(response), passes=response.status in _PASSING)

    async def _pause(self, pauses: Iterator[float], failure: StorageFailed, *, passes: bool = True) -> None:
        pause = next(pauses, None)
        if pause is None or not passes:
            raise failure
        await asyncio.sleep(pause * random.uniform(0.7, 1.3))  # noqa: S311 - so that not all come back at once

    def _named(self) -> str:
        return f"The bucket {self._bucket.name} at {self._bucket.endpoint}"

    def _unreachable(self, error: ConnectionFailed) -> StorageFailed:
        return StorageFailed(f"{self._named()} cannot be reached: {error.message}.")

    async def _refusal(self, response: Response) -> StorageFailed:
        """Says the code of the error and none of its other words: they may repeat what was sent."""
        try:
            body = await response.read_all(MOST_ERROR_BYTES)
        except ConnectionFailed:
            body = b""
        finally:
            response.close()
        found = _code.search(body)
        code = found[1].decode() if found else ""
        if response.status == 507 or code in _FULL:
            return StorageFull(f"There is no space left in the bucket {self._bucket.name}.")
        if code == "NoSuchKey":
            return StorageFailed(
                f"A file that the database knows of is not in the bucket {self._bucket.name}. Bring back the bucket "
                "that belongs to this database, or correct storage.url in config.json."
            )
        if reason := _REASONS.get(code):
            return StorageFailed(f"{self._named()} cannot be used: {reason}.")
        return StorageFailed(f"{self._named()} answered with status {response.status}{f' ({code})' if code else ''}.")


async def _size(content: bytes | Path | None) -> int | None:
    if not isinstance(content, Path):
        return None if content is None else len(content)
    try:
        return (await asyncio.to_thread(content.stat)).st_size
    except OSError as error:
        raise StorageFailed(f"A file that was to be kept cannot be read: {error.strerror}.") from error


async def _pieces(content: bytes | Path) -> AsyncGenerator[bytes, None]:
    start = 0
    if isinstance(content, bytes):
        while piece := content[start : start + PIECE_BYTES]:
            start += len(piece)
            yield piece
        return
    while piece := await asyncio.to_thread(read_piece, content, start):
        start += len(piece)
        yield piece
