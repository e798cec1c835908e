"""How a text is split into passages."""

from hypothesis import given
from hypothesis import strategies as st

from footnote.library.snapshots import MAX_PASSAGE_BYTES, PassageSection, split_passages

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
