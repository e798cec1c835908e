"""Secrets that prove who somebody is. They are handed out once; what is kept is a hash that does not lead back."""

import hashlib
import hmac
import secrets

from footnote.db.accounts import CredentialKind

SECRET_BITS = 256
MAX_SECRET_LENGTH = 512
"""Longer than any secret: what is longer is not looked at."""
PREFIXES: dict[CredentialKind, str] = {"token": "fn_", "cookie": "fnc_", "login": "fnl_"}
"""What each begins with, so that a person, or a program that looks for leaked secrets, sees what it is."""
LOCAL_PREFIX = "fn_local_"


def new_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(SECRET_BITS // 8)


def hash_of(secret: str) -> str:
    """Fast, unlike that of a password: 256 random bits cannot be guessed, however fast one tries."""
    return hashlib.sha256(_bytes_of(secret)).hexdigest()


def has_prefix_of(secret: str, kind: CredentialKind) -> bool:
    """Whether it looks like one, so that it is worth a look into the database."""
    return len(secret) <= MAX_SECRET_LENGTH and secret.startswith(PREFIXES[kind])


def is_equal(one: str, other: str) -> bool:
    """Takes as long wherever the first difference is."""
    return hmac.compare_digest(_bytes_of(one), _bytes_of(other))


def _bytes_of(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")
