"""What the model thinks before it speaks: one line that it does, or, if wanted, the text itself."""

from footnote.cli.terminal.clean import Cleaner
from footnote.cli.terminal.lines import Line, StyledText
from footnote.cli.terminal.screen import Screen


class ThinkingLine:
    """Fed the thinking of a turn. `in_full`: the text goes to stderr line by line."""

    def __init__(self, screen: Screen, *, show_text: bool) -> None:
        self._screen = screen
        self._show_text = show_text
        self._cleaner = Cleaner()
        self._rest: list[str] = []
        self._length: int | None = None

    def begin(self) -> None:
        self._length = 0
        if not self._show_text and not self._screen.live_notes:
            self._screen.note((StyledText(f"thinking{self._screen.symbols.ellipsis}", "dim"),))

    def push(self, text: str) -> None:
        self._length = (self._length or 0) + len(text)
        if not self._show_text:
            return
        text = self._cleaner.push(text)
        if "\n" in text:
            *lines, rest = ("".join(self._rest) + text).split("\n")
            self._rest = [rest]
            for line in lines:
                self._note(line)
        else:
            self._rest.append(text)

    def end(self) -> None:
        self._length = None
        rest = "".join(self._rest) + self._cleaner.flush()
        self._rest = []
        if rest:
            self._note(rest)

    def lines(self) -> list[Line]:
        """For the live region, while it thinks."""
        if self._length is None:
            return []
        length = f"{self._length}" if self._length < 1000 else f"{self._length / 1000:.1f}k"
        counted = f" {length} chars" if self._length else ""
        return [(StyledText(f"thinking{self._screen.symbols.ellipsis}{counted}", "dim"),)]

    def _note(self, line: str) -> None:
        self._screen.note((StyledText(f"{self._screen.symbols.bar}{line}", "dim"),))
