"""The hits of a response: clean text, web URLs and dates, whatever the provider sent."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.web_search.providers import builtin_providers
from footnote.web_search.providers.base import HttpResponse, UnreadableResponse, WebProvider
from footnote.web_search.providers.outcomes import Outcome
from web.providers import HITS, NAMES, Hit, Name, results_reply
from web_search.fakes import WALL, make_request

PROVIDERS = {provider.id: provider for provider in builtin_providers() if isinstance(provider, WebProvider)}


def parse(provider: str, body: bytes, status: int = 200, count: int = 5) -> Outcome:
    response = HttpResponse(status=status, headers={}, body=body, received_at=WALL)
    return PROVIDERS[provider].parse_response(make_request(count=count), response)


@pytest.mark.parametrize("provider", ["brave", "serper", "tavily", "searxng"])
def test_one_broken_row_does_not_take_the_others_with_it(provider: Name):
    rows: list[Any] = [None, 7, [], {}, {"title": 7, "url": 7, "link": 7}, {"title": "No address"}]
    whole = json.loads(results_reply(provider, HITS[:1]).body)
    lists = {"brave": lambda: whole["web"]["results"], "serper": lambda: whole["organic"]}
    lists.get(provider, lambda: whole["results"])()[:0] = rows
    assert [hit.title for hit in parse(provider, json.dumps(whole).encode()).hits] == ["Oxygen"]


@pytest.mark.parametrize("provider", NAMES)
def test_only_web_addresses_are_found_and_each_page_once(provider: Name):
    urls = (
        "javascript:alert(1)",
        "ftp://example.org/a",
        "file:///etc/passwd",
        "data:text/html,x",
        "http://",
        "https://example.org:99999/",
        "http://127.0.0.1\\@example.org/",
        "https://example.org/a",
        "http://example.org/a/",
        "https://EXAMPLE.org/a#part",
        "https://example.org/a?b=1",
        "https://example.org/b",
    )
    outcome = parse(provider, results_reply(provider, [Hit(url, url) for url in urls]).body, count=10)
    assert [hit.url for hit in outcome.hits] == [
        "https://example.org/a",
        "https://example.org/a?b=1",
        "https://example.org/b",
    ]


@pytest.mark.parametrize("provider", NAMES)
def test_no_more_are_found_than_were_asked_for(provider: Name):
    many = [Hit(f"Page {number}", f"https://example.org/{number}") for number in range(30)]
    assert len(parse(provider, results_reply(provider, many).body, count=3).hits) == 3


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("<strong>Laravel</strong> is a <b>framework</b>", "Laravel is a framework"),
        ("Tom &amp; Jerry&#x27;s &quot;show&quot;", 'Tom & Jerry\'s "show"'),
        ("use &lt;strong&gt; sparingly", "use <strong> sparingly"),
        ("a < b and c > d", "a < b and c > d"),
        ("<script>alert(1)</script><!-- x -->safe", "alert(1)safe"),
        ("two\n lines\u00a0and\ttabs ", "two lines and tabs"),
        ("be\x00fore\x1b[31m \u202eright-to-left\u202c \u200bzero\ufeff", "before[31m right-to-left zero"),
        ("family 👨\u200d👩 می\u200cخواهم", "family 👨\u200d👩 می\u200cخواهم"),
        ("hidden \U000e0041\U000e0042tags", "hidden tags"),
        ("half \ud83d a character", "half a character"),
        ("x" * 3000, "x" * 1999 + "…"),
        ("", ""),
    ],
)
def test_descriptions_are_clean_text_in_one_line(raw: str, shown: str):
    body = json.dumps({"results": [{"title": "T", "url": "https://example.org/", "content": raw}]})
    [hit] = parse("tavily", body.encode()).hits
    # An unpaired surrogate cannot be sent as JSON; parsers replace it by U+FFFD.
    assert hit.description.replace("\ufffd ", "") == shown


def test_a_page_without_a_title_is_called_by_its_host():
    body = json.dumps({"results": [{"title": " <b> </b>", "url": "https://example.org/a", "content": None}]})
    assert [hit.title for hit in parse("tavily", body.encode()).hits] == ["example.org"]


@pytest.mark.parametrize(
    ("raw", "published"),
    [
        ("2024-03-28T19:35:02", "2024-03-28T19:35:02"),
        ("2024-03-28T19:35:02.123Z", "2024-03-28T19:35:02+00:00"),
        ("2024-03-28T00:00:00", "2024-03-28"),
        ("2024-03-28", "2024-03-28"),
        ("Mar 28, 2024", "2024-03-28"),
        ("March 28, 2024", "2024-03-28"),
        ("28 Sept 2024", "2024-09-28"),
        ("Thu, 28 Mar 2024 19:35:02 GMT", "2024-03-28T19:35:02+00:00"),
        ("3 minutes ago", "2023-11-14"),
        ("23 hours ago", "2023-11-13"),
        ("1 day ago", "2023-11-13"),
        ("2 weeks ago", None),
        ("3 months ago", None),
        ("Feb 31, 2024", None),
        ("Foo 3, 2024", None),
        ("2024-13-45", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (20240328, None),
    ],
)
def test_a_date_is_iso_or_none(raw: Any, published: str | None):
    body = json.dumps({"organic": [{"title": "T", "link": "https://example.org/", "date": raw}]})
    [hit] = parse("serper", body.encode()).hits
    assert hit.published == published


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "web",
                    "results",
                    "organic",
                    "query",
                    "title",
                    "url",
                    "link",
                    "error",
                    "errors",
                    "detail",
                    "meta",
                    "loc",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(
    provider=st.sampled_from(NAMES), status=st.sampled_from([200, 202, 400, 403, 422, 429, 432, 500]), value=json_values
)
def test_no_json_whatsoever_raises_anything_else(provider: str, status: int, value: Any):
    try:
        outcome = parse(provider, json.dumps(value).encode(), status)
    except UnreadableResponse:
        return
    assert outcome.kind in ("results", "empty", "blocked", "error")
    assert outcome.kind in ("results", "empty") or outcome.reason


@given(page=st.text(alphabet="<>/=\"' adivclresultnoh_-\n&;#", max_size=300))
def test_no_page_whatsoever_raises_anything_else(page: str):
    with suppress(UnreadableResponse):
        assert parse("duckduckgo", page.encode()).kind in ("results", "empty", "blocked")
