"""The settings of web search as the configuration resolves them, and the validated request of one search."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.errors import InvalidArguments

SafeSearch: TypeAlias = Literal["off", "moderate", "strict"]
"""How strictly a provider filters adult content."""

DEFAULT_PROVIDER = "duckduckgo"
"""It needs neither a key nor an address, so that it can replace a provider without one."""

_COUNTRY = re.compile("[A-Z]{2}")
_DATE_RANGE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})to([0-9]{4}-[0-9]{2}-[0-9]{2})")
"""Python also parses dates without hyphens and dates by week; providers do not."""


class ProviderAccess(Struct, frozen=True):
    """The key of a provider, and its address where that is not the usual one."""

    api_key: str | None = None
    base_url: str | None = None

    def __repr__(self) -> str:
        """Without the key and without the address, which may contain a password: values appear in logs."""
        return f"ProviderAccess(api_key={'***' if self.api_key else None})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("api_key", "***" if self.api_key else None)]


class WebSearchSettings(Struct, frozen=True):
    """`providers` includes those that are only tried when `provider` fails. `evidence_tokens`: how much of the pages a
    model is given verbatim, beside the `summary` if there is one."""

    provider: str = DEFAULT_PROVIDER
    timeout_seconds: float = 15
    cache_ttl_minutes: float = 5
    max_results: int = 5
    safe_search: SafeSearch = "moderate"
    crawl_count: int = 5
    evidence_tokens: int = 2_000
    summary: bool = True
    respect_robots: bool = True
    allow_private_hosts: tuple[str, ...] = ()
    providers: Mapping[str, ProviderAccess] = {}


class SearchRequest(Struct, frozen=True, kw_only=True):
    """A validated search: `count` 1 to 10, `country` ISO 3166-1 alpha-2 in upper case, `freshness` one of pd, pw, pm,
    py or YYYY-MM-DDtoYYYY-MM-DD. `notes`: which options were changed."""

    query: str
    prompt: str
    count: int
    country: str | None = None
    freshness: str | None = None
    safe_search: SafeSearch = "moderate"
    notes: tuple[str, ...] = ()


def search_request(
    settings: WebSearchSettings,
    query: str,
    *,
    prompt: str | None = None,
    count: int | None = None,
    country: str | None = None,
    freshness: str | None = None,
) -> SearchRequest:
    """Validates the options of a search. `InvalidArguments` says what is wrong with one.

    `max_results` of the settings is the upper limit of `count`: a larger number is lowered, with a note.
    """
    query = " ".join(query.split())
    if not query:
        raise InvalidArguments("The query is empty: say what to search for.")
    if count is not None and not 1 <= count <= 10:
        raise InvalidArguments(f"count is {count}; it can be 1 to 10.")
    limit = settings.max_results
    notes = (
        (f"count {count} was lowered to {limit}, the limit that is set (maxResults).",) if (count or 0) > limit else ()
    )
    return SearchRequest(
        query=query,
        prompt=(prompt or "").strip() or query,
        count=min(count or limit, limit),
        country=_parse_country(country),
        freshness=_parse_freshness(freshness),
        safe_search=settings.safe_search,
        notes=notes,
    )


def _parse_country(country: str | None) -> str | None:
    code = (country or "").strip().upper()
    if code and not _COUNTRY.fullmatch(code):
        raise InvalidArguments(f"country is {country!r}; it is a code of two letters, such as VN, US or CN.")
    return code or None


def _parse_freshness(freshness: str | None) -> str | None:
    text = (freshness or "").strip()
    if not text or text.lower() in ("pd", "pw", "pm", "py"):
        return text.lower() or None
    days = _DATE_RANGE.fullmatch(text)
    try:
        first, last = (date.fromisoformat(day) for day in (days.groups() if days else ()))
    except ValueError:
        raise InvalidArguments(
            f"freshness is {freshness!r}; it is pd, pw, pm or py (the past day, week, month, year), "
            "or a range of days such as 2024-01-01to2024-03-31."
        ) from None
    if first > last:
        raise InvalidArguments(f"freshness is {freshness!r}; its first day comes after its last.")
    return f"{first.isoformat()}to{last.isoformat()}"
