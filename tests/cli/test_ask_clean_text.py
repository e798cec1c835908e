"""Text of a model is data: control characters are made visible, and cannot steer the terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.cli.terminal.clean import Cleaner, clean, clean_line

ATTACKS = {
    "colour": ("a\x1b[31mred\x1b[0mb", "aredb"),
    "cursor": ("a\x1b[2J\x1b[1;1Hb", "ab"),
    "private mode": ("a\x1b[?1049hb", "ab"),
    "title": ("a\x1b]0;owned\x07b", "ab"),
    "hyperlink": ("\x1b]8;;https://evil.example\x1b\\bank.example\x1b]8;;\x1b\\", "bank.example"),
    "clipboard": ("a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"),
    "device control": ("a\x1bP$q\x22p\x1b\\b", "ab"),
    "reset": ("a\x1bcb", "ab"),
    "charset": ("a\x1b(0b", "ab"),
    "C1 CSI": ("a\x9b31mb", "ab"),
    "C1 OSC": ("a\x9d0;owned\x9cb", "ab"),
    "bell and backspace": ("pass\x08\x08\x08\x08\x07word", "password"),
    "carriage return": ("rm -rf /\rls      \r\n", "rm -rf /ls      \n"),
    "bidi override": ("user\u202etxt.exe", "usertxt.exe"),
    "bidi isolate": ("a\u2066b\u2069c", "abc"),
    "broken CSI": ("a\x1b[31\nb", "a[31\nb"),
    "OSC without an end": ("a\x1b]0;rest of the answer\nb", "a]0;rest of the answer\nb"),
    "escape in an escape": ("\x1b\x1b[31m[32mx", "[32mx"),
    "tab and newline": ("a\tb\nc", "a\tb\nc"),
    "Vietnamese and Chinese": ("Giá cổ phiếu 股价 👩‍🔬", "Giá cổ phiếu 股价 👩‍🔬"),
}

fragments = st.lists(
    st.sampled_from(
        ["\x1b", "[", "]", "P", "3", ";", "m", "\x07", "\\", "\x9b", "\x9d", "\x9c", "\n", "a", " ", "\u202e"]
    ),
    max_size=40,
)


def clean_in_chunks(pieces: list[str]) -> str:
    cleaner = Cleaner()
    return "".join([cleaner.push(piece) for piece in pieces]) + cleaner.flush()


@pytest.mark.parametrize(("text", "shown"), ATTACKS.values(), ids=ATTACKS.keys())
def test_what_would_steer_the_terminal_is_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(("text", "shown"), ATTACKS.values(), ids=ATTACKS.keys())
def test_a_sequence_that_comes_one_character_at_a_time_is_taken_out_too(text: str, shown: str) -> None:
    assert clean_in_chunks(list(text)) == shown


@given(fragments, st.integers(0, 40))
def test_the_result_does_not_depend_on_where_the_text_was_cut(pieces: list[str], at: int) -> None:
    text = "".join(pieces)
    assert clean_in_chunks(pieces) == clean(text)
    assert clean_in_chunks([text[:at], text[at:]]) == clean(text)


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    controls = {character for character in clean(text) if unicodedata.category(character) == "Cc"}
    assert controls <= {"\n", "\t"}


def test_a_sequence_that_never_ends_does_not_hold_the_answer_back_for_ever() -> None:
    cleaner = Cleaner()
    shown = cleaner.push("\x1b]0;") + "".join(cleaner.push("word ") for _ in range(1000))
    assert shown == "]0;" + "word " * 1000


def test_a_line_of_ours_stays_one_line() -> None:
    assert clean_line("report\n\tof\u2028today\x1b[A.md") == "report of today.md"
