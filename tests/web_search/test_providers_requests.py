"""Requests to providers: the search in each provider's own parameters, and nothing that it would refuse."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from footnote.web_search.providers import builtin_providers
from footnote.web_search.providers.base import HttpRequest, WebProvider
from footnote.web_search.settings import ProviderAccess, SafeSearch, SearchRequest
from web_search.fakes import make_request

PROVIDERS = {provider.id: provider for provider in builtin_providers()}
ACCESS = ProviderAccess(api_key="the-key")
LEFT_OUT = "was left out: this provider does not know it"


def build_request(provider: str, request: SearchRequest) -> HttpRequest:
    web = PROVIDERS[provider]
    assert isinstance(web, WebProvider)
    return web.build_request(request, ACCESS)


def sent_options(request: HttpRequest) -> dict[str, Any]:
    if request.headers.get("content-type") == "application/json":
        return json.loads(request.body)
    return dict(parse_qsl(request.body.decode() or urlsplit(request.path).query, keep_blank_values=True))


def sent_options_and_notes(provider: str, request: SearchRequest) -> tuple[dict[str, Any], tuple[str, ...]]:
    sent = build_request(provider, request)
    return sent_options(sent), sent.notes


def test_the_providers_are_found_by_looking_and_stand_in_for_each_other_in_this_order():
    assert list(PROVIDERS) == ["brave", "serper", "tavily", "searxng", "duckduckgo", "library"]


@pytest.mark.parametrize(
    ("provider", "access", "missing"),
    [
        ("brave", ProviderAccess(), "a key: set BRAVE_API_KEY"),
        ("serper", ProviderAccess(), "a key: set SERPER_API_KEY"),
        ("tavily", ProviderAccess(), "a key: set TAVILY_API_KEY"),
        (
            "searxng",
            ProviderAccess(),
            "the address of an instance: set tools.webSearch.providers.searxng.baseUrl",
        ),
        ("brave", ProviderAccess(api_key="k"), None),
        ("searxng", ProviderAccess(base_url="http://127.0.0.1"), None),
        ("duckduckgo", ProviderAccess(), None),
        ("library", ProviderAccess(), None),
    ],
)
def test_a_provider_is_available_when_it_has_the_key_or_the_address_that_it_needs(
    provider: str, access: ProviderAccess, missing: str | None
):
    assert PROVIDERS[provider].missing_setting(access) == missing


@pytest.mark.parametrize(
    ("provider", "method", "path", "sent", "headers"),
    [
        (
            "duckduckgo",
            "POST",
            "/html/",
            {"q": "oxygen", "b": ""},
            {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"},
        ),
        (
            "brave",
            "GET",
            "/res/v1/web/search",
            {"q": "oxygen", "count": "5", "safesearch": "moderate", "result_filter": "web"},
            {"x-subscription-token": "the-key"},
        ),
        (
            "serper",
            "POST",
            "/search",
            {"q": "oxygen", "num": 5},
            {"content-type": "application/json", "x-api-key": "the-key"},
        ),
        (
            "tavily",
            "POST",
            "/search",
            {
                "query": "oxygen",
                "max_results": 5,
                "search_depth": "basic",
                "include_answer": False,
                "include_favicon": True,
            },
            {"content-type": "application/json", "authorization": "Bearer the-key"},
        ),
        (
            "searxng",
            "GET",
            "/search",
            {"q": "oxygen", "format": "json", "categories": "general", "safesearch": "1"},
            {},
        ),
    ],
)
def test_a_plain_search_asks_for_no_more_than_it_has_to(
    provider: str, method: str, path: str, sent: dict[str, Any], headers: dict[str, str]
):
    request = build_request(provider, make_request())
    assert (request.method, urlsplit(request.path).path, sent_options(request)) == (method, path, sent)
    assert (request.headers, request.notes) == (headers, ())


@pytest.mark.parametrize(
    ("provider", "country", "sent", "notes"),
    [
        ("duckduckgo", "VN", {"kl": "vn-en"}, ()),
        ("duckduckgo", "GB", {"kl": "uk-en"}, ()),
        ("duckduckgo", "TW", {"kl": "tw-tzh"}, ()),
        ("duckduckgo", "KE", {}, (f"country KE {LEFT_OUT}",)),
        ("brave", "DE", {"country": "DE"}, ()),
        ("brave", "VN", {}, (f"country VN {LEFT_OUT}",)),
        ("serper", "VN", {"gl": "vn"}, ()),
        ("serper", "GB", {"gl": "gb"}, ()),
        ("tavily", "VN", {"country": "vietnam"}, ()),
        ("tavily", "US", {"country": "united states"}, ()),
        ("tavily", "HK", {}, (f"country HK {LEFT_OUT}",)),
        ("searxng", "VN", {"language": "vi-VN"}, ("country VN was asked for as the language vi-VN",)),
        ("searxng", "KE", {}, (f"country KE {LEFT_OUT}",)),
    ],
)
def test_a_country_is_said_in_the_words_of_the_provider_or_left_out_with_a_note(
    provider: str, country: str, sent: dict[str, Any], notes: tuple[str, ...]
):
    plain, _ = sent_options_and_notes(provider, make_request())
    assert sent_options_and_notes(provider, make_request(country=country)) == (plain | sent, notes)


RANGE = "2024-01-31to2024-03-01"


@pytest.mark.parametrize(
    ("provider", "freshness", "sent", "notes"),
    [
        ("duckduckgo", "pd", {"df": "d"}, ()),
        ("duckduckgo", "pw", {"df": "w"}, ()),
        ("duckduckgo", "pm", {"df": "m"}, ()),
        ("duckduckgo", "py", {"df": "y"}, ()),
        ("duckduckgo", RANGE, {"df": "2024-01-31..2024-03-01"}, ()),
        ("brave", "pd", {"freshness": "pd"}, ()),
        ("brave", RANGE, {"freshness": RANGE}, ()),
        ("serper", "pd", {"tbs": "qdr:d"}, ()),
        ("serper", "pw", {"tbs": "qdr:w"}, ()),
        ("serper", "pm", {"tbs": "qdr:m"}, ()),
        ("serper", "py", {"tbs": "qdr:y"}, ()),
        ("serper", RANGE, {"tbs": "cdr:1,cd_min:1/31/2024,cd_max:3/1/2024"}, ()),
        ("tavily", "pd", {"time_range": "day"}, ()),
        ("tavily", "pw", {"time_range": "week"}, ()),
        ("tavily", "pm", {"time_range": "month"}, ()),
        ("tavily", "py", {"time_range": "year"}, ()),
        ("tavily", RANGE, {"start_date": "2024-01-31", "end_date": "2024-03-01"}, ()),
        ("searxng", "pd", {"time_range": "day"}, ()),
        ("searxng", "pw", {"time_range": "week"}, ()),
        ("searxng", "pm", {"time_range": "month"}, ()),
        ("searxng", "py", {"time_range": "year"}, ()),
        ("searxng", RANGE, {}, (f"freshness {RANGE} {LEFT_OUT}",)),
    ],
)
def test_freshness_is_said_in_the_words_of_the_provider_or_left_out_with_a_note(
    provider: str, freshness: str, sent: dict[str, Any], notes: tuple[str, ...]
):
    plain, _ = sent_options_and_notes(provider, make_request())
    assert sent_options_and_notes(provider, make_request(freshness=freshness)) == (plain | sent, notes)


NO_SAFE_SEARCH = "safe search was left out: this provider does not know it"


@pytest.mark.parametrize(
    ("provider", "safe_search", "sent", "notes"),
    [
        ("duckduckgo", "off", {"kp": "-2"}, ()),
        ("duckduckgo", "strict", {"kp": "1"}, ()),
        ("brave", "off", {"safesearch": "off"}, ()),
        ("brave", "strict", {"safesearch": "strict"}, ()),
        ("searxng", "off", {"safesearch": "0"}, ()),
        ("searxng", "strict", {"safesearch": "2"}, ()),
        ("serper", "off", {}, ()),
        ("serper", "strict", {}, (NO_SAFE_SEARCH,)),
        ("tavily", "off", {}, ()),
        ("tavily", "strict", {}, (NO_SAFE_SEARCH,)),
    ],
)
def test_safe_search_is_said_in_the_words_of_the_provider_or_left_out_with_a_note(
    provider: str, safe_search: SafeSearch, sent: dict[str, Any], notes: tuple[str, ...]
):
    plain, _ = sent_options_and_notes(provider, make_request())
    assert sent_options_and_notes(provider, make_request(safe_search=safe_search)) == (plain | sent, notes)


@pytest.mark.parametrize(
    ("query", "brave", "searxng"),
    [
        ("giá cổ phiếu hôm nay", "vi", "vi"),
        ("氧是什么", "zh-hans", "zh"),
        ("酸素とは何ですか", "jp", "ja"),
        ("what is oxygen", None, None),
    ],
)
def test_a_language_that_shows_in_the_script_is_told_to_those_who_would_take_it_for_english(
    query: str, brave: str | None, searxng: str | None
):
    assert sent_options(build_request("brave", make_request(query))).get("search_lang") == brave
    assert sent_options(build_request("searxng", make_request(query))).get("language") == searxng


@pytest.mark.parametrize(
    ("provider", "name", "longest"), [("duckduckgo", "q", 499), ("brave", "q", 400), ("tavily", "query", 400)]
)
def test_a_query_that_is_too_long_is_cut_at_a_word_and_the_cut_is_told(provider: str, name: str, longest: int):
    words = "photosynthesis " * 40
    sent, notes = sent_options_and_notes(provider, make_request(words.strip()))
    length = longest // 15 * 15 - 1
    assert sent[name] == words[:length]
    assert notes == (f"the query was cut to {length} characters: this provider takes no more",)
    assert sent_options_and_notes(provider, make_request("氧" * longest))[1] == ()
    assert sent_options_and_notes(provider, make_request("氧" * (longest + 1)))[0][name] == "氧" * longest


def test_brave_gets_no_more_than_fifty_words():
    sent, notes = sent_options_and_notes("brave", make_request(" ".join("a" for _ in range(51))))
    assert sent["q"] == " ".join("a" for _ in range(50))
    assert notes == ("the query was cut to 99 characters: this provider takes no more",)
    assert sent_options_and_notes("brave", make_request(" ".join("a" for _ in range(50))))[1] == ()


def test_everything_but_the_key_decides_about_the_signature():
    brave = PROVIDERS["brave"]
    same = brave.plan(make_request(), ACCESS)
    assert brave.plan(make_request(), ProviderAccess(api_key="another-key")) == same
    assert "the-key" not in (same.signature or "")
    others = [
        brave.plan(make_request("ozone"), ACCESS),
        brave.plan(make_request(count=6), ACCESS),
        brave.plan(make_request(country="DE"), ACCESS),
        brave.plan(make_request(freshness="pd"), ACCESS),
        brave.plan(make_request(safe_search="strict"), ACCESS),
        brave.plan(make_request(), ProviderAccess("the-key", "http://127.0.0.1")),
    ]
    assert len({plan.signature for plan in (same, *others)}) == 7


def test_what_a_provider_is_not_told_does_not_make_another_search():
    brave = PROVIDERS["brave"]
    assert brave.plan(make_request(country="VN"), ACCESS).signature == brave.plan(make_request(), ACCESS).signature


def test_the_library_says_that_it_knows_neither_countries_nor_dates():
    plan = PROVIDERS["library"].plan(make_request(country="VN", freshness="pd"), ProviderAccess())
    assert plan.notes == (
        "country was left out: the library knows none",
        "freshness was left out: the library knows none",
    )
