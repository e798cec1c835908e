"""What a user may be called, and when two names are the same."""

import unicodedata

from footnote.protocol.errors import UsageError

MAX_NAME_LENGTH = 64
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Characters that show nothing, or not what they are: with one of them a name looks like another one."""


def normalize_name(name: str) -> str:
    """As it is kept and shown, or `UsageError`."""
    if len(name) > 4 * MAX_NAME_LENGTH:  # before work is spent on it
        raise _invalid_name()
    shown = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(shown) <= MAX_NAME_LENGTH or any(unicodedata.category(one) in _INVISIBLE for one in shown):
        raise _invalid_name()
    return " ".join(shown.split())


def name_key(name: str) -> str:
    """Equal for names that are the same: in capitals or not, in whatever width, with however many spaces."""
    return " ".join(_fold(_fold(name)).split())


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _invalid_name() -> UsageError:
    return UsageError(f"A user's name has 1 to {MAX_NAME_LENGTH} characters that can be seen. Choose another one.")
