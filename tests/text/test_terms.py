"""Terms: what two texts are compared by, whatever the language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.text.languages import detect_locale
from footnote.text.terms import is_unspaced, strip_diacritics, terms


def texts(text: str) -> list[str]:
    return [term.text for term in terms(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Oxygen, OXYGEN", ["oxygen", "oxygen"]),
        ("ｆｕｌｌ width", ["full", "width"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("在 A 城", ["在", "a", "城"]),
        ("Điện Biên Phủ", ["điện", "biên", "phủ"]),
        ("1,200.5 km", ["1,200.5", "km"]),
        ("word³ in 2027¹²", ["word", "in", "2027"]),
    ],
)
def test_words_are_folded_and_chinese_is_taken_in_pairs(text: str, found: list[str]):
    assert texts(text) == found


def test_composed_and_decomposed_letters_are_one():
    assert texts("Vie\u0302\u0323t") == texts("Việt")


def test_unmarked_letters_are_what_a_plain_keyboard_writes():
    assert strip_diacritics("Điện Biên Phủ") == "Dien Bien Phu"


@given(st.text(max_size=80))
def test_terms_lie_where_they_say(text: str):
    for term in terms(text):
        assert 0 <= term.start < term.end <= len(text)
        assert term.text


@pytest.mark.parametrize(
    ("text", "locale"), [("Why?", "en"), ("Tại sao trời xanh?", "vi"), ("为什么天是蓝的？", "zh"), ("", "en")]
)
def test_the_language_of_a_question_is_guessed(text: str, locale: str):
    assert detect_locale(text) == locale


def test_unspaced_writing_is_recognised():
    assert is_unspaced("中国的首都是北京")
    assert not is_unspaced("The capital of 中国 is Beijing")
