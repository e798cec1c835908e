"""The width of text in terminal cells: measured, cut and wrapped by what is visible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from footnote.cli.terminal.lines import Line, StyledText, as_text, one_line, pad, truncate, width, wrap

texts = st.text(st.sampled_from("aé ,.[]股价，。（）“”ạ한ｱĐ\u0301"), max_size=80)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("HPG", 3),
        ("股价", 4),
        ("ｱ", 1),
        ("Việt", 4),
        ("Vie\u0323\u0302t", 4),
        ("\u200b", 0),
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),
        ("", 0),
    ],
)
def test_a_character_takes_the_cells_that_a_terminal_gives_it(text: str, cells: int) -> None:
    assert width(text) == cells


@given(texts)
def test_widths_are_those_of_the_painter(text: str) -> None:
    assert width(text) == cell_len(text)


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two thr…"),
        ("one two three", 10, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 2, "o…"),
        ("one two three", 1, "…"),
        ("one two three", 0, ""),
        ("a antidisestablishment", 12, "a antidises…"),
        ("和发集团股价", 12, "和发集团股价"),
        ("和发集团股价", 10, "和发集团…"),
        ("和发集团股价", 2, "…"),
    ],
)
def test_a_text_is_cut_at_a_word_if_one_is_near(text: str, cells: int, shown: str) -> None:
    assert truncate(text, cells, "…") == shown


@given(texts, st.integers(0, 40), st.sampled_from(["…", "..."]))
def test_what_was_cut_fits(text: str, cells: int, ellipsis: str) -> None:
    assert width(truncate(text, cells, ellipsis)) <= cells or text == truncate(text, cells, ellipsis) == ""


def test_padding_counts_cells() -> None:
    assert pad("股价", 6) + "|" == "股价  |"


def test_somebody_elses_text_becomes_part_of_a_line() -> None:
    assert one_line("  a\n\tb\u2028c \x1b[2J d\u00a0 ") == "a b c d"


def rows(text: str, columns: int, **indents: int) -> list[str]:
    return [as_text(row) for row in wrap((StyledText(text),), columns, **indents)]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 13, ["one two three"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("和发集团，股价", 8, ["和发集", "团，股价"]),
        ("和发（集团）", 6, ["和发", "（集", "团）"]),
        ("giá 和发集团 HPG", 9, ["giá 和发", "集团 HPG"]),
        ("“two words”", 10, ["“two", "words”"]),
        ("", 10, [""]),
    ],
)
def test_a_line_is_wrapped_between_words_and_beside_wide_characters(text: str, columns: int, shown: list[str]) -> None:
    assert rows(text, columns) == shown


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_an_indent_leaves_room_for_a_wide_character(columns: int) -> None:
    assert max(map(width, rows("股价", columns, first=8, indent=8))) <= max(columns, 2)


def test_rows_are_indented_and_keep_their_tones() -> None:
    line: Line = (StyledText("~ partly: ", "doubtful"), StyledText("one two three"))
    assert wrap(line, 16, first=2, indent=4) == [
        (StyledText("  "), StyledText("~ partly: ", "doubtful"), StyledText("one")),
        (StyledText("    "), StyledText("two three")),
    ]


@given(texts, st.integers(1, 40), st.integers(0, 8), st.integers(0, 8))
def test_nothing_is_lost_and_no_row_is_too_wide(text: str, columns: int, first: int, indent: int) -> None:
    shown = rows(text, columns, first=first, indent=indent)
    assert "".join(shown).replace(" ", "") == text.replace(" ", "")
    assert max(map(width, shown)) <= max(columns, 2)


def test_what_would_steer_the_terminal_has_no_width_and_no_place() -> None:
    assert wrap((StyledText("a\x1b[31mb\x1b]0;x\x07c\n", "bad"), StyledText("\u202ed")), 5) == [
        (StyledText("abc ", "bad"), StyledText("d"))
    ]
