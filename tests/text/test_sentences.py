"""Sentences of any language, by their offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.text.sentences import clauses, sentences


def split_text(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It is 3.14 or v2.0 here. Yes.", ["It is 3.14 or v2.0 here.", "Yes."]),
        ("Dr. Smith met J. K. Rowling at St. Mary. Fine.", ["Dr. Smith met J. K. Rowling at St. Mary.", "Fine."]),
        ("See Fig. 3 and No. 7. Then stop.", ["See Fig. 3 and No. 7.", "Then stop."]),
        ("He said “No.” She left.", ["He said “No.”", "She left."]),
        ("中国的首都是北京。上海最大！", ["中国的首都是北京。", "上海最大！"]),
        ("Hà Nội là thủ đô. TP. Hồ Chí Minh lớn nhất.", ["Hà Nội là thủ đô.", "TP. Hồ Chí Minh lớn nhất."]),
        ("Stated.[1] Next.", ["Stated.[1]", "Next."]),
        ("Line one\nline two", ["Line one", "line two"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_text_is_split_where_a_reader_would(text: str, parts: list[str]):
    assert split_text(text) == parts


TEXTS = st.text(alphabet="aB1. !?…。！\n\t“”()[]–ôế中 ", max_size=120)


@given(TEXTS)
def test_sentences_are_in_order_and_leave_nothing_but_space_out(text: str):
    end = 0
    for span in sentences(text):
        assert not text[end : span.start].strip()
        assert span.start < span.end
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        end = span.end
    assert not text[end:].strip()


@given(TEXTS)
def test_clauses_lie_inside_their_sentence(text: str):
    for span in sentences(text):
        parts = list(clauses(text, span.start, span.end, min_length=5))
        assert all(span.start <= part.start < part.end <= span.end for part in parts)
        assert all(one.end <= other.start for one, other in pairwise(parts))
