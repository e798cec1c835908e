"""The token of the person at the machine itself: from the environment, or made once and kept in the home folder."""

import logging
import os
import stat
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from footnote.accounts.proofs import LOCAL_PREFIX, new_secret
from footnote.protocol.errors import ConfigError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

TOKEN_VARIABLE = "FOOTNOTE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MIN_SAFE_LENGTH, MAX_LENGTH = 16, 512
_OWNER_ONLY = 0o600

log = logging.getLogger(__name__)


def local_token(home: Path, environ: Mapping[str, str]) -> str:
    """Of any number of processes that begin at once, all get the same."""
    if given := environ.get(TOKEN_VARIABLE, "").strip():
        return _validate(given, TOKEN_VARIABLE)
    path = home / TOKEN_FILE
    try:
        token = _read(path) or _create(path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be used ({error.strerror or type(error).__name__}). Give yourself access to it, or set "
            f"{TOKEN_VARIABLE}."
        ) from error
    return _validate(token, str(path))


def _validate(token: str, place: str) -> str:
    """A header of a request must be able to carry it. A short one is its owner's choice, for a trial."""
    if len(token) > MAX_LENGTH or not all("!" <= one <= "~" for one in token):
        raise ConfigError(
            f"{place} must have at most {MAX_LENGTH} characters: letters, digits and signs of ASCII, no spaces. "
            "`openssl rand -hex 32` makes a good one."
        )
    if len(token) < MIN_SAFE_LENGTH:
        log.warning("%s is short enough to be guessed. `openssl rand -hex 32` makes a good one.", place)
    return token


def _read(path: Path) -> str | None:
    """What the file has, if there is one with something in it. It is nobody else's to read from now on."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            token = file.read(MAX_LENGTH * 8).decode("utf-8", "replace").strip()
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
    """Whether the operator has chosen it."""
    return bool(environ.get(TOKEN_VARIABLE, "").strip())


def store_shared_token(home: Path, token: str) -> None:
    """The one that all replicas have, in the place of the one that was made here."""
    path = home / TOKEN_FILE
    try:
        if _read(path) != token:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _file_lock(path):
                _write(path, token)
    except OSError as error:
        log.warning("%s cannot be written (%s). %s names the token.", path, error.strerror, TOKEN_VARIABLE)


def _create(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _file_lock(path):
        if token := _read(path):  # another process was faster
            return token
        token = new_secret(LOCAL_PREFIX)
        _write(path, token)
        return token


def _write(path: Path, token: str) -> None:
    """Beside its place and moved there, so that nobody ever reads a part of it."""
    descriptor, aside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # of mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{token}\n")
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(aside).unlink()
        raise


@contextmanager
def _file_lock(path: Path) -> Generator[None, None, None]:
    """One process after the other. They meet at the file itself, empty as it is until the first has made a token."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
    try:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
