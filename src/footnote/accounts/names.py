"""What a user may be called, and when two names are the same."""

import unicodedata

from footnote.protocol.errors import UsageError

LONGEST = 64
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Characters that show nothing, or not what they are: with one of them a name looks like another one."""


def shown_name(name: str) -> str:
    """As it is kept and shown, or `UsageError`."""
    if len(name) > 4 * LONGEST:  # before work is spent on it
        raise _refused()
    shown = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(shown) <= LONGEST or any(unicodedata.category(one) in _UNSEEN for one in shown):
        raise _refused()
    return " ".join(shown.split())


def name_key(name: str) -> str:
    """Equal for names that are the same: in capitals or not, in whatever width, with however many spaces."""
    return " ".join(_folded(_folded(name)).split())


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _refused() -> UsageError:
    return UsageError(f"A user's name has 1 to {LONGEST} characters that can be seen. Choose another one.")
