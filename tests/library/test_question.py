"""The terms of a question, in languages with different word formation."""

import pytest

from footnote.library.relevance import Criterion, parse_question


def test_an_english_question_wishes_for_its_words_in_any_form() -> None:
    assert parse_question("Where were the treaties signed, and the treaties kept?").criteria == (
        Criterion(("treaties", "treati")),
        Criterion(("signed", "sign")),
        Criterion(("kept",)),
    )


def test_a_vietnamese_question_wishes_for_syllables_and_more_for_those_that_stand_together() -> None:
    assert parse_question("Thủ đô, sông của Hà Nội?").criteria == (
        Criterion(("thủ",), share=0.3),
        Criterion(("thủ",), (("thủ", "đô"),), share=0.7),
        Criterion(("đô",), share=0.3),
        Criterion(("đô",), (("thủ", "đô"),), share=0.7),
        Criterion(("sông",)),
        Criterion(("hà",), share=0.3),
        Criterion(("hà",), (("hà", "nội"),), share=0.7),
        Criterion(("nội",), share=0.3),
        Criterion(("nội",), (("hà", "nội"),), share=0.7),
    )


def test_a_chinese_question_wishes_for_characters_in_one_of_their_pairs() -> None:
    assert parse_question("故宫的历史").criteria == (
        Criterion(("故宫",), share=0.5),
        Criterion(("故宫",), share=0.5),
        Criterion(("历史",), share=0.5),
        Criterion(("历史",), share=0.5),
    )
    assert parse_question("紫禁城").criteria == (
        Criterion(("紫禁",), share=0.5),
        Criterion(("紫禁", "禁城"), share=0.5),
        Criterion(("禁城",), share=0.5),
    )


def test_each_term_is_looked_for_once() -> None:
    assert parse_question("Hà Nội và Hà Giang").terms == ["hà", "nội", "giang"]


@pytest.mark.parametrize("text", ["", "?", "what is this", "là gì", "的"])
def test_a_question_of_common_words_asks_for_nothing(text: str) -> None:
    assert parse_question(text).criteria == ()
