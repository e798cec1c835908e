"""Files in a bucket of an S3-compatible service, over the one way out.

Every operation may be repeated, since a place is written once and always with the same bytes: what passes is tried
again.
"""

import asyncio
import hashlib
import hmac
import random
import re
import secrets
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

from msgspec import Struct

from footnote.net.client import Net, Response
from footnote.net.errors import ConnectionFailed
from footnote.storage.base import CHUNK_BYTES, StorageFailed, StorageFull, check_place, read_chunk
from footnote.storage.disposition import content_disposition

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"


class Credentials(Struct, frozen=True):
    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        """Never the keys: values are shown in logs and errors."""
        return "Credentials(***)"


class Signer(Struct, frozen=True):
    """What is the same in all signatures of one storage."""

    credentials: Credentials
    region: str
    service: str = "s3"

    def __repr__(self) -> str:
        return f"Signer({self.region!r}, {self.service!r})"

    def headers(
        self, method: str, host: str, path: str, *, sha256: str, moment: datetime, **extra_headers: str
    ) -> dict[str, str]:
        """What is sent with a request whose body has this hash. `path` is percent-encoded; `named` are signed too."""
        signed = {
            **{name.replace("_", "-"): value for name, value in extra_headers.items()},
            "host": host,
            "x-amz-content-sha256": sha256,
            "x-amz-date": _amz_date(moment),
        }
        if self.credentials.session_token is not None:
            signed["x-amz-security-token"] = self.credentials.session_token
        names = ";".join(sorted(signed))
        signature = self._signature(_canonical_request(method, path, {}, signed, sha256), moment)
        key = f"{self.credentials.access_key}/{self._scope(moment)}"
        authorization = f"{ALGORITHM} Credential={key}, SignedHeaders={names}, Signature={signature}"
        del signed["host"]  # the client says it itself
        return {**signed, "authorization": authorization}

    def query(
        self, method: str, host: str, path: str, *, moment: datetime, seconds: int, response_fields: Mapping[str, str]
    ) -> str:
        """The query of an address with which anybody may do this until it is over."""
        fields = {
            **response_fields,
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self.credentials.access_key}/{self._scope(moment)}",
            "X-Amz-Date": _amz_date(moment),
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        if self.credentials.session_token is not None:
            fields["X-Amz-Security-Token"] = self.credentials.session_token
        signature = self._signature(_canonical_request(method, path, fields, {"host": host}, UNSIGNED_PAYLOAD), moment)
        return f"{_encode_query(fields)}&X-Amz-Signature={signature}"

    def _scope(self, moment: datetime) -> str:
        return f"{moment:%Y%m%d}/{self.region}/{self.service}/aws4_request"

    def _signature(self, canonical: str, moment: datetime) -> str:
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        to_sign = f"{ALGORITHM}\n{_amz_date(moment)}\n{self._scope(moment)}\n{hashed}"
        key = f"AWS4{self.credentials.secret_key}".encode()
        for part in (*self._scope(moment).split("/"), to_sign):
            key = hmac.digest(key, part.encode(), "sha256")
        return key.hex()


def _canonical_request(
    method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], sha256: str
) -> str:
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    return f"{method}\n{path}\n{_encode_query(query)}\n{lines}\n{';'.join(sorted(headers))}\n{sha256}"


def _encode_query(query: Mapping[str, str]) -> str:
    return "&".join(f"{_quote(name)}={_quote(query[name])}" for name in sorted(query, key=_quote))


def _quote(text: str) -> str:
    return quote(text, safe="-_.~")


def _amz_date(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"


BACKOFFS = (0.2, 1.0, 3.0)
"""Seconds before each further try, more or less."""
STALL_SECONDS = 15.0
"""A bucket that says nothing for so long is not waited for: somebody waits for us."""
RETRY_SECONDS = 10.0
"""Once as much time is gone, nothing is tried again."""
MAX_ERROR_BYTES = 20_000
RANGE_NOT_SATISFIABLE = 416
_RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_error_code = re.compile(rb"<Code>([A-Za-z0-9]{1,80})</Code>")
_KEYS_HINT = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_REASONS = {
    "NoSuchBucket": "it does not exist. Create it, or correct storage.url in config.json",
    "InvalidAccessKeyId": f"the access key is not known there. {_KEYS_HINT}",
    "SignatureDoesNotMatch": f"the secret key is not the right one. {_KEYS_HINT}",
    "AccessDenied": f"the keys may not read, write and delete in it. {_KEYS_HINT}, and the rights that belong to them",
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
        backoffs: Sequence[float] = BACKOFFS,
        stall: float = STALL_SECONDS,
    ) -> None:
        self._bucket = bucket
        self._signer = signer
        self._net = net
        self._backoffs = backoffs
        self._stall = stall

    @property
    def address(self) -> str:
        return f"s3://{self._bucket.name}/{self._bucket.prefix}"

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        (await self._request("PUT", place, content=content, sha256=sha256)).close()

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        pauses = iter(self._backoffs)
        while end is None or start < end:
            wanted = {} if start == 0 and end is None else {"range": f"bytes={start}-{'' if end is None else end - 1}"}
            response = await self._request("GET", place, extra_headers=wanted, also_accepted=(RANGE_NOT_SATISFIABLE,))
            try:
                if response.status == RANGE_NOT_SATISFIABLE:
                    return
                if wanted and response.status != 206:
                    raise StorageFailed(f"{self._label()} hands out no parts of a file, which is needed here.")
                while piece := await response.read_chunk():
                    start += len(piece)
                    yield piece
            except ConnectionFailed as error:
                # What came has been handed on; only the rest is asked for.
                await self._backoff(pauses, self._unreachable(error))
            else:
                return
            finally:
                response.close()

    async def delete(self, place: str) -> None:
        (await self._request("DELETE", place, also_accepted=(404,))).close()

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        if not self._bucket.direct:
            return None
        path = self._bucket.path(check_place(place))
        asked = {"response-content-disposition": content_disposition(filename), "response-content-type": media_type}
        moment = datetime.now(UTC)
        query = self._signer.query(
            "GET", self._bucket.host, path, moment=moment, seconds=seconds, response_fields=asked
        )
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
            raise StorageFailed(f"{self._label()} does not hand out what was put into it.")

    async def close(self) -> None:
        """Nothing is held."""

    async def _request(
        self,
        method: str,
        place: str,
        *,
        content: bytes | Path | None = None,
        sha256: str = EMPTY_HASH,
        extra_headers: dict[str, str] | None = None,
        also_accepted: Sequence[int] = (),
    ) -> Response:
        """The answer to a request that worked: a 2xx, or one of `also`."""
        path = self._bucket.path(check_place(place))
        size = await _size(content)
        pauses = iter(self._backoffs)
        until = asyncio.get_running_loop().time() + RETRY_SECONDS
        while True:
            moment = datetime.now(UTC)
            headers = self._signer.headers(
                method, self._bucket.host, path, sha256=sha256, moment=moment, **(extra_headers or {})
            )
            if size is not None:
                headers["content-length"] = str(size)
            body = None if content is None else _chunks(content)
            try:
                url = f"{self._bucket.base}{path}"
                response = await self._net.request(method, url, headers=headers, body=body, idle_timeout=self._stall)
            except ConnectionFailed as error:
                passes = error.retryable and asyncio.get_running_loop().time() < until
                await self._backoff(pauses, self._unreachable(error), is_retryable=passes)
                continue
            if 200 <= response.status < 300 or response.status in also_accepted:
                return response
            await self._backoff(
                pauses, await self._read_error(response), is_retryable=response.status in _RETRYABLE_STATUSES
            )

    async def _backoff(self, backoffs: Iterator[float], failure: StorageFailed, *, is_retryable: bool = True) -> None:
        pause = next(backoffs, None)
        if pause is None or not is_retryable:
            raise failure
        await asyncio.sleep(pause * random.uniform(0.7, 1.3))  # noqa: S311 - so that not all come back at once

    def _label(self) -> str:
        return f"The bucket {self._bucket.name} at {self._bucket.endpoint}"

    def _unreachable(self, error: ConnectionFailed) -> StorageFailed:
        return StorageFailed(f"{self._label()} cannot be reached: {error.message}.")

    async def _read_error(self, response: Response) -> StorageFailed:
        """Says the code of the error and none of its other words: they may repeat what was sent."""
        try:
            body = await response.read_all(MAX_ERROR_BYTES)
        except ConnectionFailed:
            body = b""
        finally:
            response.close()
        found = _error_code.search(body)
        code = found[1].decode() if found else ""
        if response.status == 507 or code in _FULL:
            return StorageFull(f"There is no space left in the bucket {self._bucket.name}.")
        if code == "NoSuchKey":
            return StorageFailed(
                f"A file that the database knows of is not in the bucket {self._bucket.name}. Bring back the bucket "
                "that belongs to this database, or correct storage.url in config.json."
            )
        if reason := _REASONS.get(code):
            return StorageFailed(f"{self._label()} cannot be used: {reason}.")
        return StorageFailed(f"{self._label()} answered with status {response.status}{f' ({code})' if code else ''}.")


async def _size(content: bytes | Path | None) -> int | None:
    if not isinstance(content, Path):
        return None if content is None else len(content)
    try:
        return (await asyncio.to_thread(content.stat)).st_size
    except OSError as error:
        raise StorageFailed(f"A file that was to be kept cannot be read: {error.strerror}.") from error


async def _chunks(content: bytes | Path) -> AsyncGenerator[bytes, None]:
    start = 0
    if isinstance(content, bytes):
        while piece := content[start : start + CHUNK_BYTES]:
            start += len(piece)
            yield piece
        return
    while piece := await asyncio.to_thread(read_chunk, content, start):
        start += len(piece)
        yield piece
