"""A search is validated before any provider is asked."""

import pytest

from footnote.protocol.errors import InvalidArguments
from footnote.web_search.settings import SearchRequest, WebSearchSettings, search_request

SETTINGS = WebSearchSettings(max_results=7)


def test_what_is_left_out_comes_from_the_settings_and_the_query():
    assert search_request(SETTINGS, "  HPG   share\nprice ") == SearchRequest(
        query="HPG share price", prompt="HPG share price", count=7
    )


def test_codes_are_written_in_one_way():
    request = search_request(SETTINGS, "q", prompt=" why? ", count=3, country="vn", freshness="PW")
    assert request == SearchRequest(query="q", prompt="why?", count=3, country="VN", freshness="pw")


@pytest.mark.parametrize(("expected", "searched"), [(None, 7), (1, 1), (7, 7), (8, 7), (10, 7)])
def test_the_setting_max_results_is_the_upper_limit_of_count(expected: int | None, searched: int):
    assert search_request(SETTINGS, "q", count=expected).count == searched


def test_a_count_that_is_lowered_is_said_in_a_note():
    lowered = "count 9 was lowered to 7, the limit that is set (maxResults)."
    assert search_request(SETTINGS, "q", count=9).notes == (lowered,)
    assert search_request(SETTINGS, "q", count=7).notes == ()


def test_safe_search_comes_from_the_settings():
    assert search_request(WebSearchSettings(), "q").safe_search == "moderate"
    assert search_request(WebSearchSettings(safe_search="strict"), "q").safe_search == "strict"


@pytest.mark.parametrize(
    ("freshness", "expected"),
    [
        (None, None),
        ("", None),
        ("py", "py"),
        ("2024-02-29to2024-02-29", "2024-02-29to2024-02-29"),
        ("2024-01-01to2024-03-31", "2024-01-01to2024-03-31"),
    ],
)
def test_freshness(freshness: str | None, expected: str | None):
    assert search_request(SETTINGS, "q", freshness=freshness).freshness == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": " \n"}, "empty"),
        ({"count": 0}, "1 to 10"),
        ({"count": 11}, "1 to 10"),
        ({"country": "Vietnam"}, "two letters"),
        ({"country": "V1"}, "two letters"),
        ({"freshness": "yesterday"}, "pd, pw, pm or py"),
        ({"freshness": "2024-02-30to2024-03-01"}, "pd, pw, pm or py"),
        ({"freshness": "2024-02-01"}, "pd, pw, pm or py"),
        ({"freshness": "20240101to20240131"}, "pd, pw, pm or py"),
        ({"freshness": "2024-W01-1to2024-W02-1"}, "pd, pw, pm or py"),
        ({"freshness": "2024-01-01 to 2024-01-31"}, "pd, pw, pm or py"),
        ({"freshness": "2024-01-01TO2024-01-31"}, "pd, pw, pm or py"),
        ({"freshness": "٢٠٢٤-٠١-٠١to2024-01-31"}, "pd, pw, pm or py"),
        ({"freshness": "2024-03-01to2024-02-01"}, "after its last"),
        ({"freshness": "2024-01-01to2024-02-01to2024-03-01"}, "pd, pw, pm or py"),
    ],
)
def test_a_wrong_option_is_explained(wrong: dict[str, object], message: str):
    with pytest.raises(InvalidArguments, match=message):
        search_request(SETTINGS, **({"query": "q"} | wrong))
