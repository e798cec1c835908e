"""The terms of the index of the library."""

import pytest

from footnote.text.search_terms import alternate_forms, content_terms
from footnote.text.stems import base_form


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("What is the capital of France?", ["capital", "france"]),
        ("Thủ đô của Việt Nam là gì?", ["thủ", "đô", "việt", "nam"]),
        ("黑豹队的防守丢了多少分？", ["黑豹", "豹队", "防守", "守丢", "多少", "少分"]),
        ("x" * 100, ["x" * 64]),
        ("⑴ ½", ["1", "1⁄2"]),
    ],
)
def test_words_that_any_text_has_tell_nothing(text: str, telling: list[str]) -> None:
    assert [term.text for term in content_terms(text)] == telling


@pytest.mark.parametrize(
    "forms",
    [
        ["restore", "restores", "restored", "restoring"],
        ["country", "countries", "country's"],
        ["stop", "stops", "stopped", "stopping"],
        ["panther", "panthers"],
        ["pass", "passes", "passed"],
    ],
)
def test_the_forms_of_a_regular_word_meet(forms: list[str]) -> None:
    assert len({base_form(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["is", "bus", "glass", "basis", "sing", "red", "3.14", "phủ", "黑豹", "dien", "x1s"])
def test_words_that_only_look_inflected_stay_as_they_are(word: str) -> None:
    assert base_form(word) == word


def test_other_forms_are_those_that_differ() -> None:
    assert alternate_forms(["điện", "biên", "panthers", "panther", "café"]) == ["dien", "bien", "panther", "cafe"]
