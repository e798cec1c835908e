"""A terminal emulator: it understands exactly the sequences that Footnote may send, and fails on any other.

Like real terminals it wraps long lines, scrolls, and wraps its lines again when it is resized.
"""

import re
import unicodedata
from dataclasses import dataclass, field

from rich.cells import cell_len, get_character_cell_size

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SEQUENCE = re.compile(r"\x1b\[(\?7[lh]|\d*A|J|[\d;]*m)")


@dataclass
class TerminalEmulator:
    columns: int = 80
    rows: int = 24
    lines: list[list[str]] = field(default_factory=lambda: [[]])
    """Every line from the beginning, cell by cell, not yet wrapped to the width."""
    line: int = 0
    column: int = 0
    wraps: bool = True
    styled: bool = False

    @property
    def size(self) -> tuple[int, int]:
        return self.columns, self.rows

    def write(self, text: str) -> None:
        at = 0
        while at < len(text):
            if sequence := _SEQUENCE.match(text, at):
                self._obey(sequence.group(1))
                at = sequence.end()
            else:
                self._put(text[at])
                at += 1

    def _obey(self, sequence: str) -> None:
        if sequence.startswith("?7"):
            self.wraps = sequence.endswith("h")
        elif sequence.endswith("A"):
            self._up(int(sequence[:-1] or 1))
        elif sequence == "J":
            del self.lines[self.line + 1 :]
            del self.lines[self.line][self.column :]
        else:
            self.styled = True

    def _up(self, rows: int) -> None:
        """Moves the cursor up by rows of the screen, of which a line may take several; never beyond the top of the
        screen."""
        rows = min(rows, self.rows - 1)
        self.column = 0
        while rows > 0:
            self.line -= 1
            assert self.line >= 0, "the cursor was sent above the first line"
            rows -= self._rows_of(self.lines[self.line])
        assert rows == 0, "the cursor was sent into the middle of a line"

    def _rows_of(self, line: list[str]) -> int:
        return max(-(-len(line) // self.columns), 1)

    def _put(self, character: str) -> None:
        if character == "\n":
            self.line += 1
            self.column = 0
            if self.line == len(self.lines):
                self.lines.append([])
        elif character == "\r":
            self.column = 0
        else:
            steers = unicodedata.category(character) == "Cc" or character in BIDI
            assert not steers, f"U+{ord(character):04X} reached the terminal"
            self._draw(character)

    def _draw(self, character: str) -> None:
        width = get_character_cell_size(character)
        line = self.lines[self.line]
        if width == 0:
            if line:
                line[-1] += character
            return
        if not self.wraps and self.column + width > self.columns:
            return
        line[self.column : self.column + width] = [character, *[""] * (width - 1)]
        self.column += width

    @property
    def text(self) -> str:
        """Everything that was shown and not erased, without trailing spaces."""
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip("\n")

    @property
    def widest(self) -> int:
        return max(cell_len("".join(line)) for line in self.lines)

    def resize(self, columns: int) -> None:
        self.columns = columns
