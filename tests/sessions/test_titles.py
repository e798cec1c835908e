"""The title of a session is made from its first question, by rules."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.sessions.titles import clean_title, title_of


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is a snapshot isolation anomaly? Give examples.", "What is a snapshot isolation anomaly?"),
        ("Tell me about Hanoi.", "Tell me about Hanoi"),
        ("Hi! How tall is Mt. Fuji? I forgot.", "Hi! How tall is Mt. Fuji?"),
        ("compare v1.2.3 and U.S. law", "compare v1.2.3 and U.S. law"),
        ("Điện Biên Phủ ở đâu? Kể thêm.", "Điện Biên Phủ ở đâu?"),
        ("今天上海的天气怎么样？明天呢？", "今天上海的天气怎么样？"),
        ("你好。请介绍一下上海。", "你好。请介绍一下上海"),
        # Long ones are cut at a word, or at a character where there are no spaces.
        (
            "Explain how consumer group rebalancing works in very large clusters with many partitions",
            "Explain how consumer group rebalancing works in very large…",
        ),
        (
            "请详细介绍一下中国古代四大发明的历史背景以及它们对世界文明发展所产生的深远影响",
            "请详细介绍一下中国古代四大发明的历史背景以及它们对世界文明…",
        ),
        ("x" * 100, "x" * 59 + "…"),
        # Markdown is rendered, not shown.
        ("# My report\n\nWrite it.", "My report"),
        ("> **Why** is `x` *so* ~~slow~~ __really__?", "Why is x so slow really?"),
        ("- [ ] first\n- second", "first"),
        ("1. One\n2. Two", "One"),
        ("see [the docs](https://a.example/b) please", "see the docs please"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b"),
        ("<b>bold</b> words, 1 < 2", "bold words, 1 < 2"),
        ("snake_case and 2*3*4", "snake_case and 2*3*4"),
        ("---\nAfter a rule", "After a rule"),
        ("Why does this fail?\n```python\nimport os\n```", "Why does this fail?"),
        ("```python\nimport os\n```\nWhy does this fail?", "Why does this fail?"),
        # A URL among words is shortened to its site; a URL alone is the whole title.
        ("Summarise https://www.a.example/b?c=d please", "Summarise a.example please"),
        ("https://www.a.example/b?c=d", "a.example/b?c=d"),
        ("<https://a.example/>", "a.example"),
        ("总结https://a.example/b，谢谢", "总结a.example，谢谢"),
        # Only code, only punctuation, nothing.
        ("```python\nimport os\nprint(1)\n```", "import os"),
        ("```\n\n\n```", "…"),
        ("😀😀", "😀😀"),
        ("???", "???"),
        ("", "…"),
        (" \n\t\u200b", "…"),
        # Control characters are removed.
        ("a\u202eb \x1b[31mred\x07\u2028line", "a b [31mred line"),
    ],
)
def test_a_title(question: str, title: str) -> None:
    assert title_of(question) == title


def test_a_title_does_not_cut_a_letter_from_its_marks_or_an_emoji_in_two() -> None:
    assert title_of("ท" + "ี่" * 100).count("…") == 1
    assert title_of("👩‍💻" * 40).removesuffix("…").endswith("👩‍💻")
    assert title_of("é" * 100) == title_of("e\u0301" * 100) == "é" * 59 + "…"


@given(st.text())
def test_any_question_has_a_title_of_one_line(question: str) -> None:
    title = title_of(question)
    assert title.strip() == title != ""
    assert len(title) <= 61 or re.search(r"[^\w\s]|[\u0300-\u036f]", title)
    assert title.splitlines() == [title]
    assert title == clean_title(title)
    title.encode()


@pytest.mark.parametrize(
    "piece", ["`", "```\n", "*a", "_a", "[", "[a](", "<a ", "https://", "> ", "| ", "a. ", "~~~\n"]
)
def test_a_hostile_question_takes_no_time(piece: str) -> None:
    start = time.process_time()
    title_of(piece * 200_000)
    assert time.process_time() - start < 5
