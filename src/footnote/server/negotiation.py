"""What a client would like: `Accept`, `Accept-Encoding` and `Accept-Language`."""

from collections.abc import Iterator

from footnote.protocol.sessions import parse_locale
from footnote.protocol.tools import Locale

MAX_PREFERENCES = 50


def _parse_preferences(header: str) -> Iterator[tuple[str, float]]:
    """What is named, in lower case, and how much it is wanted (0 to 1); what cannot be read is left out."""
    for part in header.split(",")[:MAX_PREFERENCES]:
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name:
            yield name, next((_quality(value[2:]) for value in parameters if value.startswith("q=")), 1.0)


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return min(1.0, quality) if quality > 0 else 0.0


def prefers_json(accept: str | None) -> bool:
    """Whether plain JSON is wanted more than an event stream, which is what is sent when both will do."""
    wishes = dict(_parse_preferences(accept or "*/*"))
    stream = _preference(wishes, "text/event-stream", "text/*")
    return _preference(wishes, "application/json", "application/*") > stream


def accepts_gzip(accept_encoding: str | None) -> bool:
    wishes = dict(_parse_preferences(accept_encoding or ""))
    return next((wishes[one] for one in ("gzip", "x-gzip", "*") if one in wishes), 0.0) > 0


def _preference(preferences: dict[str, float], name: str, family: str) -> float:
    """The most exact of the wishes counts."""
    return next((preferences[one] for one in (name, family, "*/*") if one in preferences), 0.0)


def locale_of(accept_language: str | None) -> Locale | None:
    """The best of our languages that was asked for; None if none was."""
    best: tuple[float, Locale | None] = (0.0, None)
    for name, quality in _parse_preferences(accept_language or ""):
        locale = parse_locale(name)
        if locale is not None and quality > best[0]:
            best = (quality, locale)
    return best[1]
