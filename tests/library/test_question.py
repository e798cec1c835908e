"""What a question asks for, in languages that make words in different ways."""

import pytest

from footnote.library.question import Wish, understand


def test_an_english_question_wishes_for_its_words_in_any_form() -> None:
    assert understand("Where were the treaties signed, and the treaties kept?").wishes == (
        Wish(("treaties", "treati")),
        Wish(("signed", "sign")),
        Wish(("kept",)),
    )


def test_a_vietnamese_question_wishes_for_syllables_and_more_for_those_that_stand_together() -> None:
    assert understand("Thủ đô, sông của Hà Nội?").wishes == (
        Wish(("thủ",), share=0.3),
        Wish(("thủ",), (("thủ", "đô"),), share=0.7),
        Wish(("đô",), share=0.3),
        Wish(("đô",), (("thủ", "đô"),), share=0.7),
        Wish(("sông",)),
        Wish(("hà",), share=0.3),
        Wish(("hà",), (("hà", "nội"),), share=0.7),
        Wish(("nội",), share=0.3),
        Wish(("nội",), (("hà", "nội"),), share=0.7),
    )


def test_a_chinese_question_wishes_for_characters_in_one_of_their_pairs() -> None:
    assert understand("故宫的历史").wishes == (
        Wish(("故宫",), share=0.5),
        Wish(("故宫",), share=0.5),
        Wish(("历史",), share=0.5),
        Wish(("历史",), share=0.5),
    )
    assert understand("紫禁城").wishes == (
        Wish(("紫禁",), share=0.5),
        Wish(("紫禁", "禁城"), share=0.5),
        Wish(("禁城",), share=0.5),
    )


def test_each_term_is_looked_for_once() -> None:
    assert understand("Hà Nội và Hà Giang").terms == ["hà", "nội", "giang"]


@pytest.mark.parametrize("text", ["", "?", "what is this", "là gì", "的"])
def test_a_question_of_common_words_asks_for_nothing(text: str) -> None:
    assert understand(text).wishes == ()
