"""Content negotiation from request headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.server.requests import locale_of, prefers_json


@pytest.mark.parametrize(
    ("accept", "json"),
    [
        (None, False),
        ("", False),
        ("*/*", False),
        ("text/event-stream", False),
        ("application/json", True),
        ("Application/JSON ; charset=utf-8", True),
        ("application/json, text/event-stream", False),
        ("application/json, */*;q=0.5", True),
        ("application/json;q=0.5, text/event-stream;q=0.9", False),
        ("application/json;q=0.9, text/event-stream;q=0.5", True),
        ("application/*", True),
        ("text/*, application/json;q=0.2", False),
        ("text/event-stream;q=0, */*", True),
        ("application/json;q=nonsense", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
    ],
)
def test_json_is_sent_only_where_it_is_wanted_more_than_the_stream(accept: str | None, json: bool):
    assert prefers_json(accept) is json


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        (None, None),
        ("fr-FR, de", None),
        ("vi", "vi"),
        ("VI-vn", "vi"),
        ("zh-Hant-TW,zh;q=0.9,en;q=0.8", "zh"),
        ("fr, vi;q=0.3, zh;q=0.7", "zh"),
        ("zh;q=0", None),
        ("vietnamese", None),
        ("*", None),
    ],
)
def test_the_best_of_our_languages_is_chosen(header: str | None, locale: str | None):
    assert locale_of(header) == locale


@given(st.text(max_size=200))
def test_any_header_can_be_read(header: str):
    assert prefers_json(header) in (True, False)
    assert locale_of(header) in ("en", "vi", "zh", None)
