"""What the program and its libraries log, as lines on the screen: clean, and not through what is being drawn."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.screen import Screen


class _LogLines(logging.Handler):
    def __init__(self, screen: Screen, level: int) -> None:
        super().__init__(level)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._screen.note((StyledText(f"{record.levelname.capitalize()}: {record.getMessage()}", "dim"),))
        except Exception:  # noqa: BLE001 - whoever logs must not fail because the message cannot be shown
            self.handleError(record)


@contextmanager
def show_warnings(screen: Screen, *, quiet: bool) -> Generator[None, None, None]:
    """Warnings and errors become notes; with `quiet` only errors do."""
    notes = _LogLines(screen, logging.ERROR if quiet else logging.WARNING)
    logging.getLogger().addHandler(notes)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(notes)
