"""Passwords, hashed and verified with argon2id in threads of their own, a few at a time: each takes much memory and
time on purpose, and whoever sends many of them must not take all of both."""

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from footnote.protocol.errors import ConfigError, LimitReached, UsageError

MIN_LENGTH, MAX_LENGTH = 8, 1024
THREADS = 2
MAX_WAITING = 64
RETRY_SECONDS = 3.0
T = TypeVar("T")


class Hasher(Protocol):
    """What we need of argon2's `PasswordHasher`."""

    def hash(self, password: str | bytes) -> str: ...

    def verify(self, hash: str | bytes, password: str | bytes) -> bool: ...  # noqa: A002 - the name that argon2 gave it

    def check_needs_rehash(self, hash: str | bytes) -> bool: ...  # noqa: A002 - the name that argon2 gave it


class Passwords:
    """`hasher`: with argon2's own defaults where none is given. Its threads begin with the first password."""

    def __init__(self, hasher: Hasher | None = None) -> None:
        self._hasher = hasher
        self._dummy_hash: str | None = None
        self._pool = ThreadPoolExecutor(THREADS, "footnote-passwords")
        self._in_flight: set[Future[Any]] = set()

    async def hash(self, password: str) -> str:
        """`UsageError` for a password that is too short or too long."""
        return await self._run_in_pool(self._hash, check_password(password))

    async def verify(self, password: str, hashed: str | None) -> bool:
        """Whether it is the one. Without a hash the answer is no, and takes as long: nobody learns who has one."""
        return await self._run_in_pool(self._verify, password, hashed)

    def needs_rehash(self, hashed: str) -> bool:
        """Whether it was hashed with other settings than today's."""
        return self._argon2().check_needs_rehash(hashed)

    def close(self) -> None:
        """What nobody has begun with is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _run_in_pool(self, work: Callable[..., T], *arguments: Any) -> T:
        if len(self._in_flight) >= THREADS + MAX_WAITING:
            raise LimitReached("Too many people log in at this moment. Try again soon.", retry_after=RETRY_SECONDS)
        future = self._pool.submit(work, *arguments)
        self._in_flight.add(future)
        future.add_done_callback(self._in_flight.discard)
        return await asyncio.wrap_future(future)

    def _hash(self, password: str) -> str:
        return self._argon2().hash(_bytes_of(password))

    def _verify(self, password: str, hashed: str | None) -> bool:
        hasher = self._argon2()
        from argon2.exceptions import InvalidHashError, VerifyMismatchError  # noqa: PLC0415 - see `_argon2`

        if self._dummy_hash is None:  # made whoever asks first, so that it tells nothing about them
            self._dummy_hash = hasher.hash(secrets.token_bytes(32))
        fits = len(password) <= MAX_LENGTH
        try:
            hasher.verify(hashed or self._dummy_hash, _bytes_of(password if fits else ""))
        except (VerifyMismatchError, InvalidHashError):
            return False
        return fits and hashed is not None

    def _argon2(self) -> Hasher:
        """Imported when it is first needed: argon2 is part of the extra `server`, and many never need it."""
        if self._hasher is None:
            try:
                from argon2 import PasswordHasher  # noqa: PLC0415 - see above
            except ImportError:
                raise ConfigError('Passwords need argon2. Install it with: pip install "footnote[server]"') from None
            self._hasher = PasswordHasher()
        return self._hasher


def check_password(password: str) -> str:
    """The password itself, if it may be one."""
    if len(password) > MAX_LENGTH or len(_normalize(password)) < MIN_LENGTH:
        raise UsageError(f"A password has {MIN_LENGTH} to {MAX_LENGTH:,} characters. Choose another one.")
    return password


def _normalize(password: str) -> str:
    """The same letters are the same password, however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)


def _bytes_of(password: str) -> bytes:
    return _normalize(password).encode("utf-8", "surrogatepass")
