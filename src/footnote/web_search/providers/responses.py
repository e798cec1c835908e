"""The reading of responses: errors and rate limits of a provider, and hits with clean text, URLs and dates."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from msgspec import UNSET, UnsetType

from footnote.models import wire
from footnote.models.retry import retry_after_seconds
from footnote.protocol.sources import SearchHit
from footnote.text.boundary import quote_external
from footnote.web_search.providers import outcomes
from footnote.web_search.providers.base import HttpResponse, UnreadableResponse
from footnote.web_search.providers.outcomes import Outcome, ProviderLimits, Rate

MAX_QUOTE_LENGTH = 200
_RATE_WINDOW = re.compile(r"w=(\d+)")

Fields: TypeAlias = dict[str, Any]


def json_object(response: HttpResponse) -> Fields:
    """The JSON object of a response. Raises `UnreadableResponse` for anything else."""
    try:
        value = wire.loads(response.body.decode("utf-8-sig", "replace"))
    except wire.MalformedJson:
        kind = "a web page" if response.body.lstrip()[:1] == b"<" else "something"
        raise UnreadableResponse(f"it answered with {kind} that is not JSON (status {response.status})") from None
    if not isinstance(value, dict):
        raise UnreadableResponse(f"it answered with JSON of another shape than its API has (status {response.status})")
    return cast("Fields", value)


def object_fields(value: Any) -> Fields:
    """The fields of an object inside a response; none if the value is not an object."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def object_rows(value: Any, name: str) -> Iterator[Fields]:
    """The objects of a list. Raises `UnreadableResponse` if there is no list."""
    if not isinstance(value, list):
        raise UnreadableResponse(f"its answer has no list of {name}")
    return (cast("Fields", row) for row in cast("list[Any]", value) if isinstance(row, dict))


def error_fields(response: HttpResponse) -> Fields:
    """The fields of an error without the usual wrappers around them; empty if the response has none."""
    try:
        fields = json_object(response)
    except UnreadableResponse:
        return {}
    for name in ("error", "errors", "detail"):
        inner = fields.get(name)
        if isinstance(inner, list) and inner:
            inner = cast("list[Any]", inner)[0]
        if isinstance(inner, dict):
            return cast("Fields", inner)
    return fields


def error_detail(response: HttpResponse) -> str:
    """The status and, if there is one, the provider's own message: `(status 429: “Slow down”)`."""
    fields = error_fields(response)
    messages = (clean_text(fields.get(name), MAX_QUOTE_LENGTH) for name in ("detail", "message", "error", "msg"))
    parts = (next(filter(None, messages), "").rstrip("."), clean_text(_invalid_option(fields), MAX_QUOTE_LENGTH))
    return f"(status {': '.join((str(response.status), *map(quote_external, filter(None, parts))))})"


def _invalid_option(error: Fields) -> Any:
    """The name of the option that the provider's validation refused."""
    inner = object_fields(error.get("meta")).get("errors")
    first = object_fields(cast("list[Any]", inner)[0]) if isinstance(inner, list) and inner else error
    location = first.get("loc")
    return cast("list[Any]", location)[-1] if isinstance(location, list) and location else None


def retry_after(response: HttpResponse) -> float | None:
    """The seconds to wait before the next request, if the response says so."""
    return retry_after_seconds(response.headers, response.received_at)


def key_refused_outcome(response: HttpResponse, key_name: str) -> Outcome:
    return outcomes.key_refused(error_detail(response), key_name)


def quota_outcome(response: HttpResponse, quota_name: str) -> Outcome:
    return outcomes.quota_used_up(error_detail(response), quota_name, retry_after=retry_after(response))


def rate_limit_outcome(response: HttpResponse, throttle_seconds: float | None = None) -> Outcome:
    return outcomes.rate_limited(
        error_detail(response), retry_after=retry_after(response), throttle_seconds=throttle_seconds
    )


def status_outcome(response: HttpResponse, key_name: str | None = None) -> Outcome:
    """The outcome for a status other than 200 that means the same for all providers."""
    status = response.status
    if status == 401 or (status == 403 and key_name and error_fields(response)):
        return key_refused_outcome(response, key_name or "the password in its baseUrl")
    if status == 429:
        return rate_limit_outcome(response)
    if status == 403:
        return outcomes.forbidden(status)
    if status >= 500 or status == 408:
        return outcomes.server_error(error_detail(response))
    if 300 <= status < 400:
        raise UnreadableResponse(f"it sends the request elsewhere (status {status}), where it is not followed")
    if status == 404:
        raise UnreadableResponse(f"there is nothing at its address {error_detail(response)}")
    return outcomes.bad_request(error_detail(response))


def parse_rate_limit_headers(headers: Mapping[str, str]) -> ProviderLimits:
    """`X-RateLimit-Limit: 1, 15000` and the headers that belong to it: one number for each time window, the shortest
    window first.

    `-Policy` has the lengths of the windows in seconds, `-Remaining` the requests left in each, `-Reset` the seconds
    until each begins anew.
    """
    limits = _parse_numbers(headers.get("x-ratelimit-limit"))
    windows = [float(seconds) for seconds in _RATE_WINDOW.findall(headers.get("x-ratelimit-policy", ""))]
    remaining = _parse_numbers(headers.get("x-ratelimit-remaining"))
    resets = _parse_numbers(headers.get("x-ratelimit-reset"))
    rate = Rate(int(limits[0]), windows[0] if windows else 1.0) if limits and limits[0] >= 1 else None
    return ProviderLimits(
        rate, max((reset for left, reset in zip(remaining, resets, strict=False) if left < 1), default=0.0)
    )


def _parse_numbers(value: str | None) -> list[float]:
    parts = [part.strip() for part in (value or "").split(",")]
    return [float(part) for part in parts] if all(part.isascii() and part.isdigit() for part in parts) else []


# Hits -----------------------------------------------------------------------------------------------------------------

MAX_TITLE_LENGTH = 300
MAX_DESCRIPTION_LENGTH = 2000
MAX_URL_LENGTH = 4000
MAX_ICON_URL_LENGTH = 2000
MAX_ROWS = 200
"""The limit for rows that are read. No provider sends more."""

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:[\s/][^<>]*)?>|<!-[^<>]*>")
# Control characters, bidi controls, invisible tags and lone surrogates. The two joiners (U+200C, U+200D) stay: Persian
# and emoji are written with them.
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
    """A hit with clean fields; None if it has no valid web address."""
    address = _web_url(url)
    if address is None:
        return None
    host = urlsplit(address).hostname
    return SearchHit(
        title=clean_text(title, MAX_TITLE_LENGTH) or host or address,
        url=address,
        description=clean_text(description, MAX_DESCRIPTION_LENGTH),
        published=published,
        site_name=host,
        favicon=_icon_url(favicon),
    )


def results_outcome(hits: Iterable[SearchHit | None], count: int) -> Outcome:
    """The first `count` hits, each page once; `empty` if there are none."""
    first = tuple(islice(_deduplicate(islice(hits, MAX_ROWS)), count))
    return Outcome(kind="results", hits=first) if first else Outcome(kind="empty")


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
    """The outcome for JSON rows. `url`, `description` and `published` are the names of fields; `favicon` returns the
    address of the site's icon from a row."""

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
    """The text in one line, without markup, entities and invisible characters, cut to `max_length`."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_TAG.sub("", value[: 20 * max_length]))
    text = " ".join(_INVISIBLE.sub("", text).split())
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def parse_date(value: Any, received_at: float) -> str | None:
    """An ISO date, with the time if it is given; None for anything less exact than a day.

    `5 days ago` is relative to the time of the response; `3 months ago` is too inexact.
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
    """Without the time if that is midnight without a zone: some providers write a day like that."""
    is_day = moment.tzinfo is None and (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")


def _format_day(year: str, month: str, day: str) -> str:
    return datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), tzinfo=UTC).date().isoformat()


def _web_url(value: Any) -> str | None:
    """An http or https URL that can be requested; None for anything else."""
    text = value.strip().replace(" ", "%20") if isinstance(value, str) else ""
    if len(text) > MAX_URL_LENGTH or _INVALID_IN_URL.search(text):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises an error for an invalid port
    except ValueError:
        return None
    return text if parts.scheme in ("http", "https") and parts.hostname else None


def _icon_url(value: Any) -> str | UnsetType:
    address = _web_url(value)
    return UNSET if address is None or len(address) > MAX_ICON_URL_LENGTH else address


def _deduplicate(hits: Iterable[SearchHit | None]) -> Iterator[SearchHit]:
    """Each page once; URLs that differ in scheme, fragment or trailing slash count as the same page."""
    seen: set[tuple[str, str, str]] = set()
    for hit in hits:
        if hit is None:
            continue
        parts = urlsplit(hit.url)
        page = (parts.netloc.lower(), parts.path.rstrip("/"), parts.query)
        if page not in seen:
            seen.add(page)
            yield hit
