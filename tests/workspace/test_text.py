import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.workspace.text import (
    MAX_PAGE,
    MAX_ROW,
    EditedText,
    EditRefused,
    NumberedLines,
    TextPage,
    count_lines,
    line_pieces,
    number_lines,
    replace,
    slice_lines,
)

texts = st.text(st.sampled_from("ab\n\r\u2028\f\ufeffé"), max_size=30)


@pytest.mark.parametrize(
    ("text", "old", "new", "everywhere", "edited"),
    [
        ("one two", "two", "three", False, EditedText("one three", 1)),
        ("a a a", "a", "b", True, EditedText("b b b", 3)),
        ("one two", " two", "", False, EditedText("one", 1)),
        ("\ufeffone\n", "one", "two", False, EditedText("\ufefftwo\n", 1)),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", False, EditedText("x\r\ny\r\nc\r\n", 1)),
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny", False, EditedText("x\r\ny\r\n", 1)),
        ("a\r\nb\n", "b", "x\ny", False, EditedText("a\r\nx\ny\n", 1)),
        ("a\u2028b", "\u2028", "\n", False, EditedText("a\nb", 1)),
    ],
)
def test_an_edit_changes_exactly_what_it_names(
    text: str, old: str, new: str, everywhere: bool, edited: EditedText
) -> None:
    assert replace(text, old, new, replace_all=everywhere) == edited


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        ("a", "", "b", "old_string is empty. Give the exact text to replace; write_file writes a whole file."),
        ("a", "a", "a", "old_string and new_string are equal, so nothing would change."),
        (
            "a b\na\n\na",
            "a",
            "c",
            (
                "old_string occurs 3 times (lines 1, 2, 4). Give more of the text around it so that it is unique,"
                " or set replace_all to change every one."
            ),
        ),
        (
            "end",
            "end\n",
            "x",
            "old_string was not found: the text is there, but without the line end after it. Leave that out.",
        ),
        (
            "  word",
            "   word",
            "x",
            "old_string was not found: the text is there, but with other spaces or lines around it.",
        ),
        (
            "two  words",
            "two words",
            "x",
            "old_string was not found: the same words are there with other spaces or line breaks between them.",
        ),
        (
            "Title",
            "title",
            "x",
            "old_string was not found: the same text is there in other upper and lower case letters.",
        ),
        (
            "a",
            "b",
            "c",
            "old_string was not found. Read the file again and copy the text exactly, without the line numbers.",
        ),
        (
            "a",
            "  ",
            "c",
            "old_string was not found. Read the file again and copy the text exactly, without the line numbers.",
        ),
    ],
)
def test_an_unclear_edit_is_refused_with_the_way_out(text: str, old: str, new: str, message: str) -> None:
    with pytest.raises(EditRefused) as refused:
        replace(text, old, new)
    assert refused.value.message == message


def test_many_places_are_not_all_listed() -> None:
    with pytest.raises(EditRefused, match=r"occurs 30 times \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\)"):
        replace("a\n" * 30, "a", "b")


@given(before=texts, old=st.text("xy\n", min_size=1), new=st.text("zw\n"), after=texts)
def test_what_stands_around_an_edit_is_kept(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
    if crlf or text.find(old) != text.rfind(old) or old == new:
        return
    assert replace(text, old, new) == EditedText(before + new + after, 1)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ()),
        ("\ufeff", ()),
        ("a", ("a",)),
        ("a\n", ("a",)),
        ("\n", ("",)),
        ("a\n\nb", ("a", "", "b")),
        ("a\r\nb\r\n", ("a", "b")),
        ("\ufeffa\n", ("a",)),
        ("a\u2028b\fc\x85d\x1ee\n", ("a\u2028b\fc\x85d\x1ee",)),
    ],
)
def test_lines_end_at_line_feeds_alone(text: str, lines: tuple[str, ...]) -> None:
    assert slice_lines(text, 0, 10) == NumberedLines(lines, 0, len(lines))
    assert count_lines(text) == len(lines)


@given(text=texts, size=st.integers(1, 4))
def test_slices_put_together_are_all_lines(text: str, size: int) -> None:
    whole = slice_lines(text, 0, 1000)
    slices = [slice_lines(text, offset, size).lines for offset in range(0, whole.total, size)]
    assert sum(slices, ()) == whole.lines
    assert count_lines(text) == whole.total


@given(text=texts, size=st.integers(0, 12))
def test_pieces_of_a_text_have_all_its_lines_and_whole_ones(text: str, size: int) -> None:
    lines = [line for piece in line_pieces(text, size) for line in piece.split("\n")]
    assert lines == (text.removesuffix("\n").split("\n") if text else [])


def test_lines_are_numbered_from_one() -> None:
    assert number_lines(slice_lines("a\nb\nc\n", 1, 2)) == TextPage("     2  b\n     3  c", 2)


def test_a_long_line_goes_on_in_further_rows() -> None:
    page = number_lines(slice_lines("a" * MAX_ROW + "bc\nd", 0, 2))
    assert page == TextPage("     1  " + "a" * MAX_ROW + "\n   1.1  bc\n     2  d", 2)


def test_a_page_ends_before_the_line_that_would_make_it_too_long() -> None:
    half = "a" * (MAX_PAGE // 2)
    page = number_lines(slice_lines(f"{half}\n{half}\nb\n{half}", 0, 10))
    assert (page.line_count, page.omitted_chars) == (2, 0)


def test_a_line_longer_than_a_page_is_cut() -> None:
    page = number_lines(slice_lines("a" * (MAX_PAGE + 7) + "\nb", 0, 10))
    assert (page.line_count, page.omitted_chars) == (1, 7)
    assert page.text.count("a") == MAX_PAGE


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        (0, ["     1  " + "a" * MAX_ROW, "   1.1  bc"]),
        (1, ["     1  " + "a" * (MAX_ROW - 1), "   1.1  bc"]),
        (MAX_ROW, ["   1.1  bc"]),
        (MAX_ROW + 1, ["   1.1  c"]),
    ],
)
def test_a_line_read_from_its_middle_has_the_same_rows(column: int, rows: list[str]) -> None:
    lines = slice_lines("a" * MAX_ROW + "bc\nd", 0, 2)
    assert number_lines(lines, column) == TextPage("\n".join([*rows, "     2  d"]), 2)


@given(st.integers(0, 3 * MAX_PAGE))
def test_the_parts_of_an_endless_line_are_all_of_it(length: int) -> None:
    line = ("0123456789" * (length // 10 + 1))[:length] or "x"
    column, parts = 0, ""
    while column < len(line):
        page = number_lines(slice_lines(line, 0, 1), column)
        parts += "".join(row[8:] for row in page.text.split("\n"))
        column = len(line) - page.omitted_chars
    assert parts == line
