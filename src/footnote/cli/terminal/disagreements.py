"""Sources that contradict each other: a small table of both sides, below the answer and above its sources."""

import re
from collections.abc import Iterable

from footnote.cli.terminal.footnotes import INDENT, QUOTE_CELLS, Layout
from footnote.cli.terminal.lines import Line, StyledText, one_line, pad, width
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    Event,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ToolResultBlock,
)
from footnote.protocol.sources import Disagreement, disagreements_in, published_day
from footnote.protocol.tools import Locale

MAX_TABLES = 3
"""The disagreements that are shown below one answer; all of them are in its events."""
HEADINGS: dict[Locale, str] = {
    "en": "Sources contradict each other: {about}",
    "vi": "Các nguồn mâu thuẫn với nhau: {about}",
    "zh": "来源相互矛盾：{about}",  # noqa: RUF001 - a Chinese colon
}
_BLANK = re.compile(r"[\s>]+")


def disagreement_table(found: Iterable[Disagreement], layout: Layout) -> list[Line]:
    """A heading for each disagreement, and a row for each side: number, day, quotation."""
    lines: list[Line] = []
    for one in list(found)[:MAX_TABLES]:
        heading = HEADINGS[layout.locale].format(about=one_line(one.about))
        lines += layout.rows((StyledText(heading, "doubtful"),), indent=INDENT)
        cells = [(f"[{side.number}]", published_day(side.published), side.text) for side in one.values]
        numbers, days = (max(width(cell[at]) for cell in cells) for at in (0, 1))
        for number, day, text in cells:
            head = f"{pad(number, numbers)} " + (f"{pad(day, days)} " if days else "")
            row = (StyledText(head, "dim"), StyledText(layout.quote(text, QUOTE_CELLS)))
            lines += layout.rows(row, first=INDENT, indent=INDENT + width(head))
    return lines


class FoundDisagreements:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._found: dict[str, Disagreement] = {}
        self._texts: dict[int, list[str]] = {}

    def feed(self, event: Event) -> None:
        match event:
            case BlockDelta(index, TextGrowth(text)) | BlockStart(index, TextBlock(text)):
                self._texts.setdefault(index, []).append(text)
            case BlockStart(content_block=ToolResultBlock(artifact=dict(artifact))):
                self._found |= {repr(one.values): one for one in disagreements_in(artifact)}
            case RoundRestart(from_index):
                self._texts = {index: texts for index, texts in self._texts.items() if index < from_index}
            case _:
                pass

    def lines(self, layout: Layout) -> list[Line]:
        """The tables, but for disagreements whose sides are all quoted in the answer, which then says so."""
        answer = _BLANK.sub("", "".join("".join(texts) for texts in self._texts.values()))
        untold = (
            one for one in self._found.values() if not all(_BLANK.sub("", side.text) in answer for side in one.values)
        )
        return disagreement_table(untold, layout)
