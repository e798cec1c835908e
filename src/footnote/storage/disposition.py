"""Under which name a browser is to save what it fetches: `Content-Disposition` (RFC 6266)."""

import unicodedata
from urllib.parse import quote

_ASCII_SAFE = frozenset("!#$&+-.^_`|~ ()[]{}@=',;abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""With these a name that ends in `.exe` looks as if it ended in `.png`."""


def content_disposition(filename: str) -> str:
    """The name in both forms: for everybody, and for the few programs that know only ASCII."""
    name = "".join("_" if _is_unsafe(character) else character for character in filename)
    plain = "".join(character if character in _ASCII_SAFE else "_" for character in name)
    exact = quote(name, safe="!#$&+-.^_`|~")
    return f'attachment; filename="{plain}"' + ("" if plain == name else f"; filename*=UTF-8''{exact}")


def _is_unsafe(character: str) -> bool:
    return character in "/\\" or character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs")
