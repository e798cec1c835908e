import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.web_search.filters import parse_freshness
from footnote.web_search.settings import WebSearchSettings, search_request

TODAY = date(2026, 10, 28)


@pytest.mark.parametrize(
    ("freshness", "words"),
    [
        ("pd", ["pd", "PD", "today", "Today", "now", "24h", "past 24 hours", "past-24-hours", "last day", "hourly"]),
        ("pd", ["hôm nay", "24 giờ qua", "今天", "过去24小时", "PT24H", "1d"]),
        ("pw", ["last week", "this week", "past_week", "7 days", "1w", "P7D", "weekly", "since last week"]),
        ("pw", ["tuần này", "tuần trước", "最近一周", "上周", "本周"]),
        ("pm", ["past month", "this month", "30 days", "recent", "latest", "tháng này", "gần đây", "本月", "上个月"]),
        ("py", ["this year", "last year", "12 months", "365d", "1 year", "năm nay", "năm ngoái", "今年", "去年"]),
        ("2026-10-27to2026-10-28", ["yesterday", "hôm qua", "昨天"]),
        ("2026-10-25to2026-10-28", ["last 3 days", "3d", "past three days", "3 ngày qua", "最近3天"]),
        ("2026-10-26to2026-10-28", ["48 hours", "a couple of days", "two days ago", "within 48h"]),
        ("2026-10-14to2026-10-28", ["past 2 weeks", "14 days"]),
        ("2024-01-01to2024-12-31", ["2024", "in 2024", "năm 2024", "2024年"]),
        ("2024-03-01to2024-03-31", ["2024-03", "2024/3", "March 2024", "Mar 2024", "tháng 3 2024", "2024年3月"]),
        ("2024-02-01to2024-02-29", ["2024-02", "February 2024", "02/2024"]),
        ("2024-03-05to2024-03-05", ["2024-03-05", "5 March 2024", "March 5, 2024", "2024年3月5日", "20240305"]),
        ("2023-01-01to2026-10-28", ["since 2023", "after 2023", "from 2023", "2023 to present", "từ 2023", "自2023年"]),
        ("1970-01-01to2019-12-31", ["before 2020", "trước 2020"]),
        ("2024-01-01to2024-03-31", ["2024-01-01to2024-03-31", "2024-01-01 to 2024-03-31", "2024-01 to 2024-03"]),
        ("2024-01-01to2024-03-31", ["2024-01-01..2024-03-31", "2024-01-01/2024-03-31", "from 2024-01 until 2024-03"]),
        ("2024-01-01to2025-12-31", ["2024-2025", "2024 - 2025", "2025 to 2024", "2024至2025"]),
    ],
)
def test_words_for_a_time_become_a_code_or_days(freshness: str, words: list[str]) -> None:
    assert {text: parse_freshness(text, TODAY) for text in words} == dict.fromkeys(words, freshness)


@pytest.mark.parametrize(
    "text", ["", "soon", "any time", "5", "may", "2024-02-30", "2024-13", "2031", "9999 years", "🙂"]
)
def test_what_is_no_time_or_one_to_come_is_none(text: str) -> None:
    assert parse_freshness(text, TODAY) is None


@given(
    st.text(max_size=60)
    | st.from_regex(r"(since |past )?[0-9]{1,5}([-/. ][0-9a-z]{1,4}){0,4}", fullmatch=True)
    | st.sampled_from(["day", "week", "month", "year", "2024", "to", "since", "before", "ngay", "天"]).flatmap(
        lambda word: st.text("0123456789 -", max_size=9).map(lambda number: f"{number}{word}{number}")
    )
)
def test_whatever_comes_out_is_accepted_by_a_search(text: str) -> None:
    freshness = parse_freshness(text, TODAY)
    if freshness is not None:
        assert search_request(WebSearchSettings(), "q", freshness=freshness).freshness == freshness
        assert re.fullmatch("p[dwmy]|[0-9]{4}-[0-9]{2}-[0-9]{2}to[0-9]{4}-[0-9]{2}-[0-9]{2}", freshness)


def test_a_long_text_is_read_in_no_time() -> None:
    for text in ("last " * 50_000, "2024-" * 50_000, "march " * 50_000, " " * 200_000):
        assert parse_freshness(text, TODAY) is None
