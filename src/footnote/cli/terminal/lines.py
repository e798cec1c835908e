"""Lines of our own, such as a tool's status: spans of text with a meaning, painted or not by whoever shows them."""

from typing import Literal, NamedTuple, TypeAlias

from footnote.cli.terminal.clean import clean_line

Tone: TypeAlias = Literal["normal", "dim", "good", "doubtful", "bad"]


class StyledText(NamedTuple):
    text: str
    tone: Tone = "normal"


Line: TypeAlias = tuple[StyledText, ...]


class Symbols(NamedTuple):
    """The signs in our lines, for a terminal that can show them or in ASCII."""

    waiting: str
    done: str
    failed: str
    dot: str
    ellipsis: str
    bar: str


UNICODE = Symbols(waiting="⏳", done="✓", failed="✗", dot=" · ", ellipsis="…", bar="│ ")
ASCII = Symbols(waiting="...", done="ok", failed="FAILED", dot=" - ", ellipsis="...", bar="| ")


def symbols_for(encoding: str) -> Symbols:
    try:
        "".join(UNICODE).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def as_text(line: Line) -> str:
    """A line without colours. Cleaned here, last, so that no maker of lines can forget to."""
    return clean_line("".join(span.text for span in line))
