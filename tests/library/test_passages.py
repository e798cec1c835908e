"""How a text is cut, and by which words its pieces are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.library.snapshots import MAX_PASSAGE_BYTES, PassageSection, split_passages
from footnote.library.terms import alternate_forms, base_form, content_terms

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            ["# Heading\n", "\n\n", "A sentence. ", "一句话。", "word " * 300, "x" * 3000, "\n", "| a | b |\n"]
        ),
    ),
    max_size=30,
).map("".join)


def test_short_paragraphs_share_a_passage_and_a_heading_begins_one() -> None:
    text = "First.\n\nSecond.\n\n# One\nThird.\n\n## Two\n\nFourth.\n"
    pieces = [(text[one.start : one.end], one.heading) for one in split_passages(text)]
    assert pieces == [("First.\n\nSecond.", ""), ("# One\nThird.", "One"), ("## Two\n\nFourth.", "Two")]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentence = "This sentence is about forty bytes long. "
    pieces = [(one.start, one.end) for one in split_passages((sentence * 30).strip())]
    assert [end - start for start, end in pieces] == [22 * 41 - 1, 8 * 41 - 1]


def test_without_code_no_passage_has_any_of_it_and_the_heading_goes_on() -> None:
    text = "# One\n\nBefore.\n\n```sh\nmake\n\n# no heading\n```\n\nAfter.\n\n~~~\n```\n~~~\nLast.\n\n```\nopen"
    pieces = [(text[one.start : one.end], one.heading) for one in split_passages(text, include_code=False)]
    assert pieces == [
        ("# One\n\nBefore.", "One"),
        ("After.", "One"),
        ("Last.\n\n```\nopen", "One"),
    ]


def test_a_text_without_content_has_no_passage() -> None:
    assert list(split_passages("")) == list(split_passages(" \n\n\t\n")) == []


@given(TEXTS)
def test_passages_are_in_order_and_leave_nothing_out(text: str) -> None:
    passages = list(split_passages(text))
    ends = [0, *(passage.end for passage in passages)]
    starts = [*(passage.start for passage in passages), len(text)]
    assert all(not text[end:start].strip() for end, start in zip(ends, starts, strict=True))
    assert all(one.start < one.end for one in passages)


@given(TEXTS)
def test_no_passage_is_much_larger_than_a_paragraph(text: str) -> None:
    sizes = [len(text[one.start : one.end].encode("utf-8", "surrogatepass")) for one in split_passages(text)]
    assert max(sizes, default=0) <= 4 * MAX_PASSAGE_BYTES


def test_a_heading_without_text_below_it_is_a_passage() -> None:
    assert list(split_passages("# Alone")) == [PassageSection(0, 7, "Alone")]


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
