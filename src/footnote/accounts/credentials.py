"""Passwords and tokens: of those in the database only hashes are stored; the local token is in a file.

Passwords are hashed with argon2id, in threads of their own, a few at a time: a hash takes much memory and time on
purpose, and many requests at once must not exhaust the server.
"""

import asyncio
import hashlib
import hmac
import logging
import os
import secrets
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from footnote.db.accounts import CredentialKind
from footnote.protocol.errors import ConfigError, LimitReached, UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 8, 1024
THREADS = 2
MAX_WAITING = 64
RETRY_SECONDS = 3.0
T = TypeVar("T")

log = logging.getLogger(__name__)


class Hasher(Protocol):
    """What we need of argon2's `PasswordHasher`."""

    def hash(self, password: str | bytes) -> str: ...

    def verify(self, hash: str | bytes, password: str | bytes) -> bool: ...  # noqa: A002 - the name that argon2 gave it

    def check_needs_rehash(self, hash: str | bytes) -> bool: ...  # noqa: A002 - the name that argon2 gave it


class Passwords:
    """`hasher`: argon2 with its default parameters if None. The threads start with the first password."""

    def __init__(self, hasher: Hasher | None = None) -> None:
        self._hasher = hasher
        self._dummy_hash: str | None = None
        self._pool = ThreadPoolExecutor(THREADS, "footnote-passwords")
        self._in_flight: set[Future[Any]] = set()

    async def hash(self, password: str) -> str:
        """`UsageError` for a password that is too short or too long."""
        return await self._run_in_pool(self._hash, check_password(password))

    async def verify(self, password: str, hashed: str | None) -> bool:
        """Whether the password matches. Without a hash it does not, after the same time, so that the time does not tell
        which users have a password."""
        return await self._run_in_pool(self._verify, password, hashed)

    def needs_rehash(self, hashed: str) -> bool:
        """Whether the hash was made with other parameters than the current ones."""
        return self._argon2().check_needs_rehash(hashed)

    def close(self) -> None:
        """Pending jobs that have not started are cancelled."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _run_in_pool(self, work: Callable[..., T], *arguments: Any) -> T:
        if len(self._in_flight) >= THREADS + MAX_WAITING:
            raise LimitReached(
                "Too many people log in at this moment. Try again soon.",
                retry_after=RETRY_SECONDS,
                code="too_many_logins",
            )
        future = self._pool.submit(work, *arguments)
        self._in_flight.add(future)
        future.add_done_callback(self._in_flight.discard)
        return await asyncio.wrap_future(future)

    def _hash(self, password: str) -> str:
        return self._argon2().hash(_bytes_of(password))

    def _verify(self, password: str, hashed: str | None) -> bool:
        hasher = self._argon2()
        from argon2.exceptions import InvalidHashError, VerifyMismatchError  # noqa: PLC0415 - see `_argon2`

        if self._dummy_hash is None:  # made at the first verification of any user, so that its time tells nothing
            self._dummy_hash = hasher.hash(secrets.token_bytes(32))
        is_allowed = len(password) <= MAX_PASSWORD_LENGTH
        try:
            hasher.verify(hashed or self._dummy_hash, _bytes_of(password if is_allowed else ""))
        except (VerifyMismatchError, InvalidHashError):
            return False
        return is_allowed and hashed is not None

    def _argon2(self) -> Hasher:
        """A lazy import: argon2 is part of the extra `server`, and many installations do not need it."""
        if self._hasher is None:
            try:
                from argon2 import PasswordHasher  # noqa: PLC0415 - see above
            except ImportError:
                raise ConfigError('Passwords need argon2. Install it with: pip install "footnote[server]"') from None
            self._hasher = PasswordHasher()
        return self._hasher


def check_password(password: str) -> str:
    """Returns the password, or raises `UsageError` if its length is not allowed."""
    if len(password) > MAX_PASSWORD_LENGTH or len(_normalize(password)) < MIN_PASSWORD_LENGTH:
        raise UsageError(
            f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH:,} characters. Choose another one.",
            code="password_length",
            min=MIN_PASSWORD_LENGTH,
            max=MAX_PASSWORD_LENGTH,
        )
    return password


def _normalize(password: str) -> str:
    """NFKC, because keyboards compose the same letters differently."""
    return unicodedata.normalize("NFKC", password)


def _bytes_of(password: str) -> bytes:
    return _normalize(password).encode("utf-8", "surrogatepass")


# Tokens -----------------------------------------------------------------------------------------------------


SECRET_BITS = 256
MAX_SECRET_LENGTH = 512
"""Longer strings are refused without a lookup."""
PREFIXES: dict[CredentialKind, str] = {"token": "fn_", "cookie": "fnc_", "login": "fnl_"}
"""The prefix of each kind, by which people and secret scanners recognise it."""
LOCAL_PREFIX = "fn_local_"


def new_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(SECRET_BITS // 8)


def hash_of(secret: str) -> str:
    """A fast hash, unlike that of a password, because 256 random bits cannot be guessed."""
    return hashlib.sha256(_encode(secret)).hexdigest()


def has_prefix_of(secret: str, kind: CredentialKind) -> bool:
    """Whether the secret has the form of this kind, so that it is worth a lookup."""
    return len(secret) <= MAX_SECRET_LENGTH and secret.startswith(PREFIXES[kind])


def is_equal(one: str, other: str) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(_encode(one), _encode(other))


def _encode(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")


# The token of the user of this machine ----------------------------------------------------------------------


TOKEN_VARIABLE = "FOOTNOTE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MIN_SAFE_LENGTH = 16
_OWNER_ONLY = 0o600


def local_token(home: Path, environ: Mapping[str, str]) -> str:
    """Processes that start at the same time get the same token."""
    if given := environ.get(TOKEN_VARIABLE, "").strip():
        return _validate_token(given, TOKEN_VARIABLE)
    path = home / TOKEN_FILE
    try:
        token = _read_token(path) or _create_token(path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be used ({error.strerror or type(error).__name__}). Give yourself access to it, or set "
            f"{TOKEN_VARIABLE}."
        ) from error
    return _validate_token(token, str(path))


def _validate_token(token: str, source: str) -> str:
    """The token must fit into a request header. The operator may choose a short one."""
    if len(token) > MAX_SECRET_LENGTH or not all("!" <= char <= "~" for char in token):
        raise ConfigError(
            f"{source} must have at most {MAX_SECRET_LENGTH} characters: letters, digits and signs of ASCII, no "
            "spaces. `openssl rand -hex 32` makes a good one."
        )
    if len(token) < MIN_SAFE_LENGTH:
        log.warning("%s is short enough to be guessed. `openssl rand -hex 32` makes a good one.", source)
    return token


def _read_token(path: Path) -> str | None:
    """The content of the file, if there is any. The file is made readable by its owner only."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            token = file.read(MAX_SECRET_LENGTH * 8).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return None
    if token and os.name == "posix" and mode & 0o077:
        _restrict_mode(path)
    return token or None


def _restrict_mode(path: Path) -> None:
    try:
        path.chmod(_OWNER_ONLY)
    except OSError:
        log.warning("%s can be read by others on this machine. Make it yours alone with: chmod 600", path)
    else:
        log.warning("%s could be read by others on this machine. It is yours alone now; a new one is safer.", path)


def is_token_set(environ: Mapping[str, str]) -> bool:
    """Whether the operator has set the token."""
    return bool(environ.get(TOKEN_VARIABLE, "").strip())


def store_shared_token(home: Path, token: str) -> None:
    """Replaces the generated token by the one that all replicas share."""
    path = home / TOKEN_FILE
    try:
        if _read_token(path) != token:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _file_lock(path):
                _write_token(path, token)
    except OSError as error:
        log.warning("%s cannot be written (%s). %s names the token.", path, error.strerror, TOKEN_VARIABLE)


def _create_token(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _file_lock(path):
        if token := _read_token(path):  # another process was faster
            return token
        token = new_secret(LOCAL_PREFIX)
        _write_token(path, token)
        return token


def _write_token(path: Path, token: str) -> None:
    """Writes a temporary file and renames it, so that no process reads a partial token."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # of mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{token}\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


@contextmanager
def _file_lock(path: Path) -> Generator[None, None, None]:
    """Holds an exclusive lock on the token file, which is empty until the first process has written a token."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
    try:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
