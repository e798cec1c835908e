"""The statement that a footnote belongs to."""

import pytest

from footnote.evidence.claims import extract_claims, may_cite


def cited_claims(text: str) -> list[tuple[str, list[int]]]:
    """Each claim with its text and its numbers."""
    return [
        (text[one.start : one.end], [cite.number for cite in one.cites])
        for one in extract_claims(text)
        if not one.is_reference
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The sky is blue [1].", [("The sky is blue [1].", [1])]),
        ("The sky is blue[1].", [("The sky is blue[1].", [1])]),
        ("The sky is blue. [1] It rains.", [("The sky is blue.", [1])]),
        ("The sky is blue.[1][2] It rains [3].", [("The sky is blue.", [1, 2]), ("It rains [3].", [3])]),
        ("The sky is blue [1]", [("The sky is blue", [1])]),
        ("[1] The sky is blue. It rains.", [("The sky is blue.", [1])]),
        ("According to [1], it rains.", [("According to [1], it rains.", [1])]),
        ("According to [1]: it rains.", [("According to [1]: it rains.", [1])]),
        ("Không khí có 21% oxi.[1] Trời mưa [2].", [("Không khí có 21% oxi.", [1]), ("Trời mưa [2].", [2])]),
        ("天空是蓝色的。[1]下雨了[2]。", [("天空是蓝色的。", [1]), ("下雨了[2]。", [2])]),
        ("天空是蓝色的【1】。下雨了［2］！", [("天空是蓝色的【1】。", [1]), ("下雨了［2］！", [2])]),
        ("It rains 【3†source】.", [("It rains 【3†source】.", [3])]),
        ("It rains [^2].", [("It rains [^2].", [2])]),
        ("It rains ［１２］.", [("It rains ［１２］.", [12])]),
    ],
)
def test_a_marker_belongs_to_its_sentence(text: str, expected: list[tuple[str, list[int]]]) -> None:
    assert cited_claims(text) == expected


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1, 2]", [1, 2]),
        ("[1,2;3]", [1, 2, 3]),
        ("[1、2]", [1, 2]),
        ("[2-4]", [2, 3, 4]),
        ("[2–4, 7]", [2, 3, 4, 7]),
        ("[^1, ^3]", [1, 3]),
        ("[1990-2020]", [1990, 2020]),
        ("[4-2]", [4, 2]),
        ("[3, 3]", [3]),
        ("[0]", [0]),
        ("[999999999999999]", [999999999999999]),
    ],
)
def test_a_marker_may_hold_several_numbers(marker: str, numbers: list[int]) -> None:
    text = f"It rains {marker}."
    assert cited_claims(text) == [(text, numbers)]
    assert {cite.marker for one in extract_claims(text) for cite in one.cites} == {marker}


@pytest.mark.parametrize(
    "text",
    [
        "Write `list[1]` here.",
        "Write ``a `b[1]` c[2]`` here.",
        "Before\n\n```python\nx = values[1]  # see [2]\n```\n\nafter.",
        "Before\n\n~~~\n[1]\n~~~",
        "Before\n\n    print(x) [1]\n",
        "A link: [1](https://example.org/).",
        "A link: [see [1]](https://example.org/a_(b)).",
        "An image: ![1](x.png)",
        "- [x] done\n- [ ] open",
        "Take a[1] and my_list[2] and x1[3].",
        "Then total[1] = 5 and items[2].append(1) follow.",
        "The interval [0, 1] is closed.",
        r"The page says \[1\] somewhere.",
        "Empty [] and [a] and [1x] and [1.5] and [12345678901234567890].",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert extract_claims(text) == ()


@pytest.mark.parametrize(
    "word", ["Vitamin C", "B12", "iPhone", "YouTube", "COVID-19", "in 1990", "(so)", "“so”", "data"]
)
def test_a_marker_right_after_a_name_or_number_is_one(word: str) -> None:
    assert cited_claims(f"It is {word}[1].") == [(f"It is {word}[1].", [1])]


def test_an_abbreviation_or_a_decimal_does_not_end_the_claim() -> None:
    text = "Dr. Lee of the U.S. team measured 3.5 km. [1] It was hot."
    assert cited_claims(text) == [("Dr. Lee of the U.S. team measured 3.5 km.", [1])]


def test_a_quotation_is_not_split() -> None:
    text = 'She said "It is big. It is red." [1] Then she left. [2]'
    assert cited_claims(text) == [('She said "It is big. It is red."', [1]), ("Then she left.", [2])]
    chinese = "他说：“很大。很红。”[1]他走了。"
    assert cited_claims(chinese) == [("他说：“很大。很红。”", [1])]


def test_a_paragraph_of_a_blockquote_is_one_claim() -> None:
    text = "> It is big. It is red.\n> It is new. [1]\n>\n> It is old. [2]\n\nAfter."
    assert cited_claims(text) == [("It is big. It is red.\n> It is new.", [1]), ("It is old.", [2])]


def test_a_quotation_of_several_paragraphs_has_the_marker_at_its_end() -> None:
    text = "> It is big.\n>\n> It is red. [1]"
    assert [(one.text, one.start, one.end) for one in extract_claims(text)] == [
        ("It is big. It is red.", 2, len(text) - 4)
    ]


def test_whom_a_quotation_is_of_belongs_to_the_quotation() -> None:
    assert cited_claims("> It is big.\n> — Somebody [1]") == [("It is big.", [1])]


def test_list_items_headings_and_cells_stand_for_themselves() -> None:
    text = (
        "# Growth [1]\n\n- First item [2]\n  goes on\n* Second. Third [3]\n1. [4] says so\n\n"
        "| Year | Sales |\n|------|:-----:|\n| 2020 | 5% [5] |\n"
        "| A cell with a whole sentence that can stand alone [6] | Another cell with a long sentence of its own [7] |\n"
    )
    assert cited_claims(text) == [
        ("Growth", [1]),
        ("First item [2]\n  goes on", [2]),
        ("Third", [3]),
        ("says so", [4]),
        ("2020 | 5%", [5]),
        ("A cell with a whole sentence that can stand alone", [6]),
        ("Another cell with a long sentence of its own", [7]),
    ]


def test_lines_that_were_wrapped_are_one_sentence_and_lines_that_end_are_two() -> None:
    wrapped = "It rains in\nspring and in\nautumn [1]."
    assert cited_claims(wrapped) == [(wrapped, [1])]
    assert cited_claims("It rains [1]\nIt snows [2]") == [("It rains", [1]), ("It snows", [2])]
    assert cited_claims("It rains  \nIt snows [2]") == [("It snows", [2])]


def test_a_marker_in_a_paragraph_of_its_own_belongs_to_what_was_said_last() -> None:
    assert cited_claims("It rains. It snows.\n\n[1][2]\n\nIt melts.") == [("It snows.", [1, 2])]


def test_a_marker_without_any_statement_is_still_there() -> None:
    assert cited_claims("[7]") == [("[7]", [7])]


def test_markup_is_left_out_of_what_is_read_but_not_of_the_place() -> None:
    text = "**It _really_ rains** in [Hanoi](https://example.org/)<sup>[1]</sup>, `often`."
    [claim] = extract_claims(text)
    assert (claim.text, text[claim.start : claim.end]) == ("It really rains in Hanoi, often.", text)


def test_a_marker_between_characters_leaves_no_gap() -> None:
    assert [one.text for one in extract_claims("天空[1]是**蓝色**的。")] == ["天空是蓝色的。"]


def test_each_marker_in_a_sentence_has_the_part_before_it() -> None:
    text = "Sales rose by 5% in spring [1], while profits fell by 3% in autumn [2][3]."
    [claim] = extract_claims(text)
    assert [(cite.number, cite.part) for cite in claim.cites] == [
        (1, "Sales rose by 5% in spring"),
        (2, "while profits fell by 3% in autumn"),
        (3, "while profits fell by 3% in autumn"),
    ]


def test_one_place_of_markers_has_no_parts() -> None:
    assert [cite.part for one in extract_claims("It rains a lot in spring [1][2].") for cite in one.cites] == ["", ""]


@pytest.mark.parametrize(
    "heading",
    [
        "Sources:",
        "## References",
        "**Sources**",
        "Nguồn:",
        "### Tài liệu tham khảo",
        "参考资料：",
        "来源",
        "Footnotes",
        "# 📚 Sources",
    ],
)
def test_a_list_of_sources_states_nothing(heading: str) -> None:
    text = f"It rains [1].\n\n{heading}\n\n[1] A title, https://example.org/\n- [2] Another title\n3. [3] A third\n"
    assert cited_claims(text) == [("It rains [1].", [1])]
    assert [cite.number for one in extract_claims(text) if one.is_reference for cite in one.cites] == [1, 2, 3]


@pytest.mark.parametrize("after", ["## Conclusion\n\nIt snows [2].", "It snows [2]."])
def test_what_follows_a_list_of_sources_is_read_again(after: str) -> None:
    assert cited_claims(f"Sources:\n[1] A title\n\n{after}") == [("It snows [2].", [2])]


def test_sources_in_one_line_and_definitions_state_nothing() -> None:
    text = "It rains [1].\n\nSources: [1], [2]\n\n[^1]: A note.\n[2]: https://example.org/"
    assert cited_claims(text) == [("It rains [1].", [1])]


@pytest.mark.parametrize(
    ("text", "may"), [("It rains [1].", True), ("【2】", True), ("[^3]", True), ("[a] (1)", False), ("", False)]
)
def test_whether_a_text_may_cite_is_seen_at_a_glance(text: str, *, may: bool) -> None:
    assert may_cite(text) is may
