"""How long a page that was read need not be asked for again."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

USUAL_SECONDS = 5 * 60
"""Without a word from the server: as long as one line of questions takes."""
MOST_SECONDS = 24 * 60 * 60

_DIRECTIVE = re.compile(r"([a-z-]+)\s*(?:=\s*\"?([0-9]+)\"?)?", re.IGNORECASE)


def fresh_seconds(headers: Mapping[str, str]) -> float | None:
    """0 is a page that must be asked for again each time; None one that must not be kept at all."""
    said = {name.lower(): value for name, value in _DIRECTIVE.findall(headers.get("Cache-Control", ""))}
    if "no-store" in said:
        return None
    if "no-cache" in said:
        return 0
    age = headers.get("Age", "")
    seconds = _lifetime(said.get("max-age"), headers) - (int(age[:9]) if age.isdecimal() else 0)
    return max(0, min(seconds, MOST_SECONDS))


def _lifetime(max_age: str | None, headers: Mapping[str, str]) -> float:
    if max_age:
        return int(max_age[:9])
    expires, now = headers.get("Expires"), headers.get("Date")
    if expires is None or now is None:
        return USUAL_SECONDS
    try:
        return (parsedate_to_datetime(expires) - parsedate_to_datetime(now)).total_seconds()
    except (ValueError, TypeError):
        return 0  # such as `Expires: 0`
