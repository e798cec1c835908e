"""From what a provider sent to hits that can be shown, read and counted: clean text, web addresses, dates."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET, UnsetType

from footnote.protocol.sources import SearchHit
from footnote.web_search.providers.base import Outcome

MAX_TITLE_LENGTH = 300
MAX_DESCRIPTION_LENGTH = 2000
MAX_URL_LENGTH = 4000
MAX_ICON_URL_LENGTH = 2000
MAX_ROWS = 200
"""No provider sends more; behind that, nothing is looked at."""

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:[\s/][^<>]*)?>|<!-[^<>]*>")
# Controls, marks that turn the direction of writing, invisible tags, halves of characters. The two joiners
# (U+200C, U+200D) stay: Persian and emoji are written with them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_INVALID_IN_URL = re.compile(r"[\x00-\x1f\x7f\\<>\"\ud800-\udfff]")

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_RELATIVE_DATE = re.compile(r"(\d{1,3}) (min|minute|hour|day)s? ago", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})")
_RFC_2822_DATE = re.compile(r"[A-Za-z]{3}, \d{1,2} [A-Za-z]{3} \d{4} ")
_DAY_FIRST = re.compile(r"(\d{1,2}) ([A-Za-z]{3,9})\.? (\d{4})")


def make_hit(
    *, title: Any, url: Any, description: Any, published: str | None = None, favicon: Any = None
) -> SearchHit | None:
    """A hit of whatever the provider sent; None for one that leads nowhere on the web."""
    address = _web_url(url)
    if address is None:
        return None
    host = urlsplit(address).hostname
    name = clean_text(title, MAX_TITLE_LENGTH) or host or address
    text = clean_text(description, MAX_DESCRIPTION_LENGTH)
    return SearchHit(
        title=name, url=address, description=text, published=published, site_name=host, favicon=_icon_url(favicon)
    )


def results_outcome(hits: Iterable[SearchHit | None], count: int) -> Outcome:
    """The first `count` hits, each page once; `empty` if there are none."""
    chosen = tuple(islice(_deduplicate(islice(hits, MAX_ROWS)), count))
    return Outcome(kind="results", hits=chosen) if chosen else Outcome(kind="empty")


def outcome_of_rows(
    rows: Iterable[Mapping[str, Any]],
    count: int,
    received_at: float,
    *,
    url: str = "url",
    description: str = "description",
    published: tuple[str, ...] = (),
    favicon: Callable[[Mapping[str, Any]], Any] = lambda _: None,
) -> Outcome:
    """The results of rows of JSON; the names are those of the fields that hold each part. `favicon` finds the address
    of the site's icon in a row."""

    def hit_of(row: Mapping[str, Any]) -> SearchHit | None:
        dates = (parse_date(row.get(name), received_at) for name in published)
        return make_hit(
            title=row.get("title"),
            url=row.get(url),
            description=row.get(description),
            published=next(filter(None, dates), None),
            favicon=favicon(row),
        )

    return results_outcome(map(hit_of, rows), count)


def clean_text(value: Any, max_length: int) -> str:
    """Text in one line, without markup, entities and characters that nobody sees; cut to `length`."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_TAG.sub("", value[: 20 * max_length]))
    text = " ".join(_INVISIBLE.sub("", text).split())
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def parse_date(value: Any, received_at: float) -> str | None:
    """An ISO date, with the time where there is one; None for what cannot be told to the day.

    `5 days ago` counts from when the answer was `received`; `3 months ago` is no date.
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        if _ISO.fullmatch(text):
            return _format_datetime(datetime.fromisoformat(text))
        if ago := _RELATIVE_DATE.fullmatch(text):
            unit = {"min": "minutes", "minute": "minutes", "hour": "hours", "day": "days"}[ago[2].lower()]
            then = datetime.fromtimestamp(received_at, UTC) - timedelta(**{unit: int(ago[1])})
            return then.date().isoformat()
        if named := _MONTH_FIRST.fullmatch(text):
            return _format_day(named[3], named[1], named[2])
        if named := _DAY_FIRST.fullmatch(text):
            return _format_day(named[3], named[2], named[1])
        return _format_datetime(parsedate_to_datetime(text)) if _RFC_2822_DATE.match(text) else None
    except ValueError:  # the 31st of February
        return None


def _format_datetime(moment: datetime) -> str:
    """Midnight without a zone is how some write a day without a time."""
    is_day = moment.tzinfo is None and (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")


def _format_day(year: str, month: str, day: str) -> str:
    return datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), tzinfo=UTC).date().isoformat()


def _web_url(value: Any) -> str | None:
    """A web address as it can be asked for; None for any other."""
    text = value.strip().replace(" ", "%20") if isinstance(value, str) else ""
    if len(text) > MAX_URL_LENGTH or _INVALID_IN_URL.search(text):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return None
    return text if parts.scheme in ("http", "https") and parts.hostname else None


def _icon_url(value: Any) -> str | UnsetType:
    address = _web_url(value)
    return UNSET if address is None or len(address) > MAX_ICON_URL_LENGTH else address


def _deduplicate(hits: Iterable[SearchHit | None]) -> Iterator[SearchHit]:
    """With and without TLS, with and without a fragment or a last slash, it is the same page."""
    seen: set[tuple[str, str, str]] = set()
    for found in hits:
        if found is None:
            continue
        parts = urlsplit(found.url)
        page = (parts.netloc.lower(), parts.path.rstrip("/"), parts.query)
        if page not in seen:
            seen.add(page)
            yield found
