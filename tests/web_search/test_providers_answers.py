"""What a provider's response means: results, none, a block or an error, and never an exception."""

import json
from typing import Any

import pytest

from footnote.protocol.sources import SearchHit
from footnote.text.boundary import strip_quotes
from footnote.web_search.providers import builtin_providers
from footnote.web_search.providers.base import HttpResponse, UnreadableResponse, WebProvider
from footnote.web_search.providers.outcomes import Outcome
from web.providers import FIXTURES, HITS, NAMES, Hit, Name, results_reply
from web_search.fakes import WALL, expected_hit, make_request

PROVIDERS = {provider.id: provider for provider in builtin_providers() if isinstance(provider, WebProvider)}
BRAVE_NOW = {"x-ratelimit-limit": "1, 2000", "x-ratelimit-remaining": "0, 1985", "x-ratelimit-reset": "2, 1419704"}


def parse(
    provider: str, body: bytes, status: int = 200, headers: dict[str, str] | None = None, count: int = 5
) -> Outcome:
    response = HttpResponse(status=status, headers=headers or {}, body=body, received_at=WALL)
    return PROVIDERS[provider].parse_response(make_request(count=count), response)


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def test_duckduckgo_finds_what_is_no_advertisement_direct_or_behind_its_redirect():
    assert parse("duckduckgo", fixture("ddg_html_results.html")) == Outcome(
        kind="results",
        hits=(
            SearchHit(
                title="Rust Programming Language",
                url="https://www.rust-lang.org/",
                description="A language empowering everyone & more",
                site_name="www.rust-lang.org",
            ),
            SearchHit(
                title="The Rust Programming Language",
                url="https://doc.rust-lang.org/book/",
                description='Assumes you\'re using Rust with edition = "2024"',
                site_name="doc.rust-lang.org",
            ),
            SearchHit(
                title="Introduction to Rust Programming Language - GeeksforGeeks",
                url="https://www.geeksforgeeks.org/rust/introduction-to-rust-programming-language/",
                description="Rust introduction",
                published="2025-07-23",
                site_name="www.geeksforgeeks.org",
            ),
            SearchHit(
                title="rust-lang / rust - GitHub",
                url="https://github.com/rust-lang/rust",
                description="",
                site_name="github.com",
            ),
        ),
    )


def test_brave_finds_its_web_results_without_markup_and_with_dates():
    outcome = parse("brave", fixture("brave_search.json"), count=2)
    assert outcome == Outcome(
        kind="results",
        hits=(
            SearchHit(
                title="Laravel - The PHP Framework For Web Artisans",
                url="https://laravel.com/",
                description="Laravel is a PHP web application framework with expressive, elegant syntax. We’ve already "
                "laid the foundation — freeing you to create without sweating the small things.",
                published="2023-05-01T20:10:05",
                site_name="laravel.com",
                favicon="https://imgs.search.brave.com/KtiFeu8P-KWfpyeAQWTdGra1ZXFMDUxXzva1T-Sy/TRIMMED",
            ),
            SearchHit(
                title="Laravel - Wikipedia",
                url="https://en.wikipedia.org/wiki/Laravel",
                description="Laravel is a free and open-source PHP- based web framework for building high-end web "
                "applications. It was created by Taylor Otwell and intended for the development of web applications "
                "following the model–view–controller (MVC) architectural pattern and based on Symfony.",
                published="2024-03-27T15:31:02",
                site_name="en.wikipedia.org",
                favicon="https://imgs.search.brave.com/0kxnVOiqv-faZvOJc7zpym4Zin1CTs1f1svfNZSz/TRIMMED",
            ),
        ),
    )


def test_serper_finds_organic_results_and_counts_days_from_when_they_came():
    outcome = parse("serper", fixture("serper_search.json"))
    assert outcome.kind == "results"
    assert [(hit.title, hit.url, hit.published) for hit in outcome.hits] == [
        ("Apple", "https://www.apple.com/", None),
        ("Apple Inc. - Wikipedia", "https://en.wikipedia.org/wiki/Apple_Inc.", None),
        ("Apple Inc. (AAPL) Stock Price Today - WSJ", "https://www.wsj.com/market-data/quotes/AAPL", None),
        (
            "Apple Inc. | History, Products, Headquarters, & Facts - Britannica",
            "https://www.britannica.com/money/Apple-Inc",
            "2023-11-09",
        ),
        (
            "Apple Inc. (AAPL) Company Profile & Facts - Yahoo Finance",
            "https://finance.yahoo.com/quote/AAPL/profile/",
            None,
        ),
    ]


def test_tavily_finds_what_it_calls_content():
    outcome = parse("tavily", fixture("tavily_search.json"), count=1)
    assert outcome == Outcome(
        kind="results",
        hits=(
            SearchHit(
                title="Anthropic releases Claude Opus 4.6 with improvements in coding ...",
                url="https://www.msn.com/en-us/news/technology/anthropic-releases-claude-opus-46-with-improvements-in-"
                "coding-and-handling-agentic-tasks/ar-AA1VKDgA",
                description="Anthropic (ANTHRO) has released its latest flagship artificial intelligence model, Claude "
                "Opus 4.6, which features marked improvements over its predecessor",
                site_name="www.msn.com",
                favicon="https://www.msn.com/favicon.ico",
            ),
        ),
    )


@pytest.mark.parametrize("provider", NAMES)
def test_the_same_pages_come_out_of_every_format(provider: Name):
    outcome = parse(provider, results_reply(provider, HITS).body)
    expected = tuple(expected_hit(hit, dated=provider != "tavily") for hit in HITS)
    assert outcome == Outcome(kind="results", hits=expected)


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        *((name, results_reply(name, ()).body) for name in NAMES),
        ("duckduckgo", fixture("ddg_html_no_results.html")),
        ("tavily", fixture("tavily_empty.json")),
        ("brave", b"{}"),
        ("brave", b'{"type": "search"}'),
        ("brave", b'{"web": {}}'),
        ("brave", b'{"query": {"original": "x"}}'),
        ("brave", b'{"type": "search", "web": {"results": []}}'),
        ("serper", b'{"searchParameters": {"q": "x"}, "knowledgeGraph": {"title": "X"}}'),
        ("serper", b"{}"),
        ("serper", b'{"answerBox": {"answer": "7"}}'),
        ("serper", fixture("serper_news.json")),
    ],
)
def test_that_there_is_nothing_is_an_answer(provider: str, body: bytes):
    assert parse(provider, body) == Outcome(kind="empty")


ROBOT = "it takes this machine for a robot: wait a minute, or set BRAVE_API_KEY, SERPER_API_KEY or TAVILY_API_KEY"


@pytest.mark.parametrize("status", [200, 202, 403])
def test_a_challenge_is_a_block_whatever_its_status(status: int):
    outcome = parse("duckduckgo", fixture("ddg_html_blocked_202.html"), status)
    assert outcome == Outcome(kind="blocked", code="robot_check", reason=f"{ROBOT} (status {status})", retry_after=60.0)


def test_a_202_is_a_block_whatever_is_on_the_page():
    assert parse("duckduckgo", b"<p>One moment</p>", 202).kind == "blocked"
    assert parse("duckduckgo", b"", 202, {"retry-after": "17"}).retry_after == 17.0


@pytest.mark.parametrize(
    "page", [b'<form action="//duckduckgo.com/anomaly.js?sv=html">', b'<script src="/dist/anomaly.js"></script>']
)
def test_the_script_of_the_challenge_gives_it_away(page: bytes):
    assert parse("duckduckgo", page).kind == "blocked"


def test_a_page_about_challenges_is_no_challenge():
    text = "captcha, anomaly.js, anomaly-modal, #challenge-form: bots use DuckDuckGo too <form id='challenge-form'>"
    hits = (Hit(f"How to solve a {text}", "https://example.org/captcha?u=/anomaly.js", text),)
    outcome = parse("duckduckgo", results_reply("duckduckgo", hits).body)
    assert [hit.url for hit in outcome.hits] == ["https://example.org/captcha?u=/anomaly.js"]


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<html><body>DuckDuckGo</body></html>",
        b'<div class="results"><div class="hit"><a class="hit__a" href="https://a.example">A</a></div></div>',
        b'<div class="result"><a class="renamed" href="https://a.example">A</a></div>',
        b'{"results": []}',
    ],
)
def test_a_page_that_is_not_known_is_an_error_and_not_an_empty_answer(page: bytes):
    with pytest.raises(UnreadableResponse, match="neither results nor says that there are none"):
        parse("duckduckgo", page)


@pytest.mark.parametrize("provider", ["tavily", "searxng"])
def test_the_results_are_left_out_by_nobody_else(provider: str):
    with pytest.raises(UnreadableResponse, match="no list of results"):
        parse(provider, b"{}")


def test_results_are_found_without_the_frames_around_them():
    page = """<main><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F">A</a></h2>
    <a class="result__snippet" href="#">Of <b>a</b>.</a>
    <h2><a class="result__a" href="https://b.example/">B</a></h2>
    <h2><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Buy</a></h2><a class="result__snippet">!</a>
    <h2><a class="result__a" href="https://c.example/">C</a></h2>
    <div class="result__extras__url"><span>2024-03-02T00:00:00.0000000</span></div><p class="result__snippet">Of c.</p>
    <div class="result">A frame of something else.</div></main>"""
    found = [(hit.url, hit.title, hit.description, hit.published) for hit in parse("duckduckgo", page.encode()).hits]
    assert found == [
        ("https://a.example/", "A", "Of a.", None),
        ("https://b.example/", "B", "", None),
        ("https://c.example/", "C", "Of c.", "2024-03-02"),
    ]


@pytest.mark.parametrize(
    ("mark", "kind"), [('<div class="no-results">', "empty"), ('<div class="anomaly-modal">', "blocked")]
)
def test_a_link_without_a_frame_hides_neither_that_nothing_was_found_nor_a_block(mark: str, kind: str):
    link = '<p><a class="result__a" href="https://a.example/">A</a></p>'
    assert parse("duckduckgo", f"{link}{mark}</div>".encode()).kind == kind


def test_advertisements_alone_are_nothing():
    hidden = ("https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain", "https%3A%2F%2Fwww.bing.com%2Faclick%3Fld")
    links = ("https://duckduckgo.com/y.js?ad_domain=x", *(f"//duckduckgo.com/l/?uddg={link}" for link in hidden))
    blocks = [f'<div class="result"><a class="result__a" href="{link}">Buy</a></div>' for link in links]
    marked = '<div class="result result--ad"><a class="result__a" href="https://shop.example/">Buy</a></div>'
    for page in (*blocks, marked):
        assert parse("duckduckgo", page.encode()) == Outcome(kind="empty")


def test_a_page_of_duckduckgo_itself_can_be_found():
    page = '<div class="result"><a class="result__a" href="https://duckduckgo.com/about">About</a></div>'
    assert [hit.url for hit in parse("duckduckgo", page.encode()).hits] == ["https://duckduckgo.com/about"]


def test_a_block_that_is_never_closed_ends_where_the_next_one_speaks_for_itself():
    page = """<div class=result><a class=result__a href='https://a.example/'>A<div class=result>
    <a class=result__a href='https://b.example/'>B</a><a class=result__snippet>of b</a>"""
    assert [hit.url for hit in parse("duckduckgo", page.encode()).hits] == ["https://a.example/", "https://b.example/"]


REFUSED = [
    ("brave", "brave_error_422_bad_key.json", 422, "(status 422: “The provided subscription token is invalid”)"),
    ("serper", "serper_error_403.json", 403, "(status 403: “Unauthorized”)"),
    ("tavily", "tavily_error_401.json", 401, "(status 401: “Unauthorized: missing or invalid API key”)"),
]


@pytest.mark.parametrize(("provider", "name", "status", "message"), REFUSED)
def test_a_refused_key_names_the_variable_to_check(provider: str, name: str, status: int, message: str):
    reason = f"it did not accept the key {message}: check {provider.upper()}_API_KEY"
    assert parse(provider, fixture(name), status) == Outcome(kind="error", reason=reason, code="bad_key")


def test_the_error_of_brave_may_stand_in_a_list():
    error = json.loads(fixture("brave_error_422_bad_key.json"))["error"]
    for body in ({"errors": [error]}, {"error": error | {"code": "SUBSCRIPTION_NOT_FOUND"}}):
        assert parse("brave", json.dumps(body).encode(), 422).code == "bad_key"


@pytest.mark.parametrize(
    ("headers", "again", "retry_after"), [({}, 1.0, None), (BRAVE_NOW, 2.0, None), ({"retry-after": "9"}, 1.0, 9.0)]
)
def test_brave_asks_for_a_slower_pace_and_is_worth_another_try(
    headers: dict[str, str], again: float, retry_after: float | None
):
    assert parse("brave", fixture("brave_error_429.json"), 429, headers) == Outcome(
        kind="blocked",
        code="rate_limited",
        reason="it wants fewer requests (status 429: “Request rate limit exceeded for plan”): wait a little",
        throttle_seconds=again,
        retry_after=retry_after,
    )


def test_an_option_that_brave_does_not_accept_is_named():
    assert parse("brave", fixture("brave_error_422_validation.json"), 422) == Outcome(
        kind="error",
        code="bad_request",
        reason="it did not accept the request (status 422: “Unable to validate request parameter(s)”: “search_lang”)",
    )


@pytest.mark.parametrize(
    ("provider", "status", "body", "what"),
    [
        ("brave", 429, {"error": {"code": "QUOTA_LIMITED", "detail": "No more."}}, "the quota of its key"),
        ("serper", 400, {"message": "No more credits", "statusCode": 400}, "the credit of its key"),
        ("tavily", 432, {"detail": {"error": "No more."}}, "the credit of its key"),
        ("tavily", 433, {"detail": {"error": "No more."}}, "the credit of its key"),
    ],
)
def test_a_quota_that_is_used_up_is_a_block_that_lasts(provider: str, status: int, body: Any, what: str):
    outcome = parse(provider, json.dumps(body).encode(), status)
    assert (outcome.kind, outcome.retry_after, outcome.throttle_seconds) == ("blocked", 600.0, None)
    assert outcome.reason is not None
    assert outcome.reason.startswith(f"{what} is used up (status {status}: “No more")
    assert outcome.reason.endswith("raise it with the provider, or wait")


@pytest.mark.parametrize(
    ("status", "body"), [(403, b"<h1>Forbidden</h1>"), (200, b"\n <!DOCTYPE html><html><body>SearXNG</body></html>")]
)
def test_a_searxng_without_json_says_what_to_switch_on(status: int, body: bytes):
    assert parse("searxng", body, status) == Outcome(
        kind="error",
        code="misconfigured",
        reason="its JSON answers are switched off: add json to search.formats in the settings.yml of the instance",
    )


def test_a_searxng_whose_engines_all_failed_has_not_found_nothing():
    body = {"results": [], "unresponsive_engines": [["google", "Suspended: CAPTCHA"], ["bing", "timeout"]]}
    outcome = parse("searxng", json.dumps(body).encode())
    assert outcome.kind == "error"
    assert outcome.reason is not None
    assert "google', 'Suspended: CAPTCHA" in outcome.reason
    assert strip_quotes(outcome.reason) == "none of its engines answered: look at them in its preferences"


@pytest.mark.parametrize("provider", NAMES)
@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (500, "error", "it has a problem of its own (status 500): try again later"),
        (503, "error", "it has a problem of its own (status 503): try again later"),
        (429, "blocked", "it wants fewer requests (status 429): wait a little"),
        (400, "error", "it did not accept the request (status 400)"),
    ],
)
def test_a_status_says_enough_where_the_body_says_nothing(provider: str, status: int, kind: str, reason: str):
    outcome = parse(provider, b"<html>nginx</html>", status, {"retry-after": "7"} if status == 429 else {})
    assert (outcome.kind, outcome.reason, outcome.retry_after) == (kind, reason, 7.0 if status == 429 else None)


@pytest.mark.parametrize("provider", ["brave", "serper", "tavily"])
def test_a_firewall_in_between_is_not_a_wrong_key(provider: str):
    outcome = parse(provider, b"<html>Access denied</html>", 403)
    assert (outcome.kind, outcome.code) == ("blocked", "forbidden")


@pytest.mark.parametrize("provider", NAMES)
@pytest.mark.parametrize(("status", "reason"), [(302, "sends the request elsewhere"), (404, "nothing at its address")])
def test_a_wrong_address_is_told_as_one(provider: str, status: int, reason: str):
    with pytest.raises(UnreadableResponse, match=reason):
        parse(provider, b"", status)


MALFORMED: list[bytes] = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b'{"other": 1}',
    b'{"error": "no"}',
    b'{"results": {}, "web": 5, "organic": 5}',
    b'{"results": "text", "web": {"results": "text"}, "organic": "text"}',
    b'{"web": {"results": {}}, "organic": {}, "results": null}',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b"not JSON at all",
]


@pytest.mark.parametrize("provider", ["brave", "serper", "tavily", "searxng"])
@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: repr(body[:20]))
def test_json_of_another_shape_is_an_error_and_not_an_empty_answer(provider: str, body: bytes):
    with pytest.raises(UnreadableResponse):
        parse(provider, body)


@pytest.mark.parametrize("provider", ["brave", "serper", "tavily"])
def test_a_page_instead_of_json_is_an_error_that_says_so(provider: str):
    with pytest.raises(UnreadableResponse, match="a web page that is not JSON"):
        parse(provider, b"<!doctype html><p>Welcome")
