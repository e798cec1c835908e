"""Files in a bucket of an S3-compatible service.

Every request is idempotent, since an object is written once and always with the same bytes: transient failures are
retried.
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

from footnote.net import ConnectionFailed
from footnote.net.client import Net, Response
from footnote.storage.base import CHUNK_BYTES, StorageFailed, StorageFull, check_place, content_disposition, read_chunk

ALGORITHM = "AWS4-HMAC-SHA256"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"


class Credentials(Struct, frozen=True):
    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        """Without the keys: values appear in logs and errors."""
        return "Credentials(***)"


class Signer(Struct, frozen=True):
    """Signs requests with AWS Signature Version 4."""

    credentials: Credentials
    region: str

    def __repr__(self) -> str:
        """Without the keys."""
        return f"Signer({self.region!r})"

    def headers(
        self, method: str, host: str, path: str, *, sha256: str, moment: datetime, **extra_headers: str
    ) -> dict[str, str]:
        """The headers of a request whose body has this hash. `path` is percent-encoded; the extra headers are signed
        too."""
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
        del signed["host"]  # the HTTP client sets this header
        return {**signed, "authorization": authorization}

    def query(
        self, method: str, host: str, path: str, *, moment: datetime, seconds: int, response_fields: Mapping[str, str]
    ) -> str:
        """The query of a presigned URL, which anyone may use until it expires."""
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
        return f"{moment:%Y%m%d}/{self.region}/s3/aws4_request"

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
"""Seconds before each retry, with jitter."""
STALL_SECONDS = 15.0
"""Idle timeout of a request: a user waits for the answer."""
RETRY_SECONDS = 10.0
"""No retry starts later than this after the first attempt."""
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
    """`endpoint` is scheme, host and port. `prefix` is empty or ends in a slash. No character of the name, the endpoint
    or the prefix needs percent-encoding."""

    name: str
    endpoint: str
    prefix: str = ""
    by_path: bool = True
    """Path-style addressing: the bucket name is part of the path, not of the host."""
    direct: bool = True
    """A client that gets a presigned URL can reach the endpoint."""

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
    """The HTTP client belongs to the caller and stays open."""

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
            is_part = start > 0 or end is not None
            headers = {"range": f"bytes={start}-{'' if end is None else end - 1}"} if is_part else {}
            response = await self._request("GET", place, extra_headers=headers, also_accepted=(RANGE_NOT_SATISFIABLE,))
            try:
                if response.status == RANGE_NOT_SATISFIABLE:
                    return
                if is_part and response.status != 206:
                    raise StorageFailed(f"{self._label()} hands out no parts of a file, which is needed here.")
                while chunk := await response.read_chunk():
                    start += len(chunk)
                    yield chunk
            except ConnectionFailed as error:
                # The bytes so far have been passed on; the next request asks only for the rest.
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
        response_fields = {
            "response-content-disposition": content_disposition(filename),
            "response-content-type": media_type,
        }
        query = self._signer.query(
            "GET",
            self._bucket.host,
            path,
            moment=datetime.now(UTC),
            seconds=seconds,
            response_fields=response_fields,
        )
        return f"{self._bucket.base}{path}?{query}"

    async def check(self) -> None:
        """Writes, reads and deletes a test object."""
        content = secrets.token_bytes(32)
        sha256 = hashlib.sha256(content).hexdigest()
        place = f"{sha256[:2]}/{sha256}.{secrets.token_hex(4)}"
        await self.put(place, content, sha256)
        read = b"".join([chunk async for chunk in self.read(place)])
        await self.delete(place)
        if read != content:
            raise StorageFailed(f"{self._label()} does not hand out what was put into it.")

    async def close(self) -> None: ...

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
        """The response to a successful request: 2xx, or one of `also_accepted`."""
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
                is_retryable = error.retryable and asyncio.get_running_loop().time() < until
                await self._backoff(pauses, self._unreachable(error), is_retryable=is_retryable)
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
        await asyncio.sleep(pause * random.uniform(0.7, 1.3))  # noqa: S311 - jitter, so that clients do not retry at the same moment

    def _label(self) -> str:
        return f"The bucket {self._bucket.name} at {self._bucket.endpoint}"

    def _unreachable(self, error: ConnectionFailed) -> StorageFailed:
        return StorageFailed(f"{self._label()} cannot be reached: {error.message}.")

    async def _read_error(self, response: Response) -> StorageFailed:
        """The error code of a response, without its message: that may repeat what was sent."""
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
        while chunk := content[start : start + CHUNK_BYTES]:
            start += len(chunk)
            yield chunk
        return
    while chunk := await asyncio.to_thread(read_chunk, content, start):
        start += len(chunk)
        yield chunk
