"""The interface of a search provider, and what all of them need to turn a search into a request.

A provider on the web is two pure functions in a `WebProvider`: one builds the request of a search, the other turns the
response into one of four outcomes. The request is sent here, for all providers.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol
from urllib.parse import quote, unquote, urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from footnote.models.base import MIN_SECRET_LENGTH
from footnote.models.wire import dumps
from footnote.net import ConnectionFailed
from footnote.protocol.sources import SearchHit
from footnote.text.languages import detect_locale
from footnote.web_search.providers import outcomes
from footnote.web_search.providers.outcomes import Outcome, ProviderLimits, Rate
from footnote.web_search.settings import ProviderAccess, SafeSearch, SearchRequest

MAX_BODY_BYTES = 2_000_000

_KANA = re.compile("[\u3040-\u30ff]")


class UnreadableResponse(Exception):
    """A response does not have the format of this provider; the message says what it is instead."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """`path` follows the base URL and includes the query. `notes`: options that were mapped or left out.

    A key belongs into `headers`: the cache key is made of everything else.
    """

    method: Literal["GET", "POST"]
    path: str
    headers: Mapping[str, str] = {}
    body: bytes = b""
    notes: tuple[str, ...] = ()


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A whole response. The names of headers are in lower case; `received_at` is in seconds since 1970."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    received_at: float


class LibrarySearch(Protocol):
    """The search in pages that were read before, which needs no network."""

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]: ...


class ProviderContext(Struct, frozen=True):
    """`send` makes a request to a URL and reads at most `MAX_BODY_BYTES` and one byte of the response; it raises
    `ConnectionFailed`."""

    send: Callable[[str, HttpRequest], Awaitable[HttpResponse]]
    library: LibrarySearch | None


class RequestPlan(Struct, frozen=True):
    """How a provider would make a search. `signature` is the same for equal searches; None: do not cache the answer."""

    signature: str | None
    notes: tuple[str, ...]


class Provider(Struct, frozen=True, kw_only=True):
    """A search service, with everything that the configuration needs to know about it.

    `id` is its name in the settings (`tools.webSearch.providers.ID`), `aliases` are older names. `order`: when a
    provider fails, the others are tried in ascending order. `key_name`: the environment variable of its key; None: it
    needs no key. `is_last_resort`: an empty answer does not end a search, unless the user chose this provider.
    """

    id: str
    order: int
    aliases: tuple[str, ...] = ()
    key_name: str | None = None
    rate: Rate | None = None
    is_last_resort: bool = False

    @property
    def needs_address(self) -> bool:
        """Whether the operator has to configure its address."""
        return False

    def missing_setting(self, access: ProviderAccess) -> str | None:
        """The missing setting, worded to follow "it needs"; None: the provider can be used."""
        if self.key_name and not access.api_key:
            return f"a key: set {self.key_name}"
        if self.needs_address and not access.base_url:
            return f"the address of an instance: set {self.base_url_setting}"
        return None

    @property
    def base_url_setting(self) -> str:
        return f"tools.webSearch.providers.{self.id}.baseUrl"

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        raise NotImplementedError

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        raise NotImplementedError


def redact_secrets(data: bytes, access: ProviderAccess) -> bytes:
    """`data` without the key and the password of the base URL, also where they are percent-encoded.

    A very short secret is a placeholder that occurs in many words, and is not redacted.
    """
    try:
        password = unquote(urlsplit(access.base_url or "").password or "")
    except ValueError:
        password = None
    secrets = [secret for secret in (access.api_key, password) if secret and len(secret) >= MIN_SECRET_LENGTH]
    forms = {form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""))}
    if not forms:
        return data
    longest_first = sorted((re.escape(form.encode()) for form in forms), key=len, reverse=True)
    return re.sub(b"|".join(longest_first), b"***", data, flags=re.IGNORECASE)


class WebProvider(Provider, frozen=True, kw_only=True):
    """A provider over HTTP: `build_request` and `parse_response` are pure; the request is made here.

    `parse_response` may raise `UnreadableResponse`. `base_url`: the usual address; None: the operator configures it.
    `parse_limits` reads the rate limits from the headers of a response.
    """

    base_url: str | None
    build_request: Callable[[SearchRequest, ProviderAccess], HttpRequest]
    parse_response: Callable[[SearchRequest, HttpResponse], Outcome]
    parse_limits: Callable[[Mapping[str, str]], ProviderLimits] = lambda _: ProviderLimits()

    @property
    def needs_address(self) -> bool:
        return self.base_url is None

    def plan(self, request: SearchRequest, access: ProviderAccess) -> RequestPlan:
        planned = self.build_request(request, access)
        parts = (planned.method, self._base_url(access), planned.path, planned.body.decode("utf-8", "replace"))
        return RequestPlan("\n".join(parts), planned.notes)

    async def search(self, request: SearchRequest, access: ProviderAccess, context: ProviderContext) -> Outcome:
        http_request = self.build_request(request, access)
        try:
            response = await context.send(self._base_url(access) + http_request.path, http_request)
        except ConnectionFailed as error:
            return outcomes.unreachable(error.message, self.base_url_setting)
        if len(response.body) > MAX_BODY_BYTES:
            too_large = f"it answered with more than {MAX_BODY_BYTES // 1_000_000} MB"
            return outcomes.unreadable(too_large, self.base_url_setting)
        if response.status != 200:  # an error may repeat the key; it is redacted before parts of it are quoted
            response = replace(response, body=redact_secrets(response.body, access))
        try:
            outcome = self.parse_response(request, response)
        except UnreadableResponse as error:
            outcome = outcomes.unreadable(str(error), self.base_url_setting)
        return replace(outcome, limits=self.parse_limits(response.headers))

    def _base_url(self, access: ProviderAccess) -> str:
        return (access.base_url or self.base_url or "").rstrip("/")


# Requests ------------------------------------------------------------------------------------------------------------


def get_request(
    path: str, query: Mapping[str, str | None], headers: Mapping[str, str], notes: list[str]
) -> HttpRequest:
    """A value of None is left out, here and in the two functions below."""
    return HttpRequest(method="GET", path=f"{path}?{_encode_query(query)}", headers=headers, notes=tuple(notes))


def form_request(path: str, form: Mapping[str, str | None], notes: list[str]) -> HttpRequest:
    """The request of an HTML form, whose response is an HTML page."""
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    body = _encode_query(form).encode()
    return HttpRequest(method="POST", path=path, headers=headers, body=body, notes=tuple(notes))


def json_request(path: str, value: Mapping[str, Any], headers: Mapping[str, str], notes: list[str]) -> HttpRequest:
    headers = {"content-type": "application/json", **headers}
    body = dumps({name: part for name, part in value.items() if part is not None})
    return HttpRequest(method="POST", path=path, headers=headers, body=body, notes=tuple(notes))


def _encode_query(values: Mapping[str, str | None]) -> str:
    return urlencode({name: value for name, value in values.items() if value is not None}, errors="replace")


# Options of a search in the words of a provider -----------------------------------------------------------------------


def country_table(text: str) -> dict[str, str]:
    """A provider's values for countries, by ISO code, from a list like `AR ar-es, AT at-de`."""
    return {entry[:2]: entry[3:] for entry in " ".join(text.split()).split(", ")}


def date_range(freshness: str | None) -> tuple[str, str] | None:
    """The first and the last day of `2024-01-01to2024-03-31`; None for the other kinds of freshness."""
    first, separator, last = (freshness or "").partition("to")
    return (first, last) if separator else None


def map_option(option: str, value: str | None, known: Mapping[str, str], notes: list[str]) -> str | None:
    """The provider's value for an option; None, with a note, if the provider does not support it."""
    if value is None:
        return None
    if value not in known:
        notes.append(f"{option} {value} was left out: this provider does not know it")
    return known.get(value)


def note_missing_safe_search(value: SafeSearch, notes: list[str]) -> None:
    """For a provider without such an option. Only the strict setting needs a note: it promises a filter."""
    if value == "strict":
        notes.append("safe search was left out: this provider does not know it")


def truncate_query(query: str, notes: list[str], *, max_characters: int, max_words: int | None = None) -> str:
    """As much of the query as the provider accepts, cut between words if there are several."""
    words = query.split()
    if len(query) <= max_characters and (max_words is None or len(words) <= max_words):
        return query
    short = " ".join(words[:max_words])
    if len(short) > max_characters:
        head = short[: max_characters + 1]
        short = head.rsplit(maxsplit=1)[0] if " " in head else short[:max_characters]
    notes.append(f"the query was cut to {len(short)} characters: this provider takes no more")
    return short


def query_language(query: str) -> str | None:
    """The language of a query if its script shows it; without this, many providers assume English."""
    locale = detect_locale(query)
    if locale == "zh" and _KANA.search(query):
        return "ja"
    return None if locale == "en" else locale
