"""The lists of a document: one definition of each kind, and for each numbered list a count of its own."""

from footnote.documents.out.docx.markup import DECLARATION, W

INDENT_STEP = 425
"""How far a list stands in from what it is in, in twentieths of a point."""

MAX_LEVEL = 8
"""Of levels from 0: Word has nine."""

_MAX_NUMBERINGS = 2000
"""Counts that Word can hold, rounded down. What comes later is numbered by its text."""

_BULLETS = "\u2022\u25e6\u25aa"
BULLET_NUM_ID, TASK_NUM_ID = 1, 2
_NUMBERS = 3
"""The first two counts are the bullets and the tasks, which need no counting; numbered lists follow."""


class Lists:
    def __init__(self) -> None:
        self._counts: list[tuple[int, int]] = []

    def add_numbering(self, start: int, level: int) -> int | None:
        """The id of a new count; None: there are too many."""
        if len(self._counts) >= _MAX_NUMBERINGS:
            return None
        self._counts.append((start, level))
        return _NUMBERS + len(self._counts) - 1

    def xml(self) -> str:
        definitions = "".join(
            (
                _definition(0, [("bullet", _BULLETS[level % 3], "tab") for level in range(MAX_LEVEL + 1)]),
                _definition(1, [("bullet", "", "nothing")] * (MAX_LEVEL + 1)),
                _definition(2, [("decimal", f"%{level + 1}.", "tab") for level in range(MAX_LEVEL + 1)]),
            )
        )
        counts = "".join(
            f'<w:num w:numId="{count}"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="{level}">'
            f'<w:startOverride w:val="{start}"/></w:lvlOverride></w:num>'
            for count, (start, level) in enumerate(self._counts, _NUMBERS)
        )
        return (
            f'{DECLARATION}<w:numbering xmlns:w="{W}">{definitions}'
            f'<w:num w:numId="{BULLET_NUM_ID}"><w:abstractNumId w:val="0"/></w:num>'
            f'<w:num w:numId="{TASK_NUM_ID}"><w:abstractNumId w:val="1"/></w:num>{counts}</w:numbering>'
        )


def _definition(number: int, levels: list[tuple[str, str, str]]) -> str:
    described = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:suff w:val="{after}"/>'
        f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/>'
        f'<w:pPr><w:ind w:left="{INDENT_STEP * (level + 1)}" w:hanging="{INDENT_STEP}"/></w:pPr>'
        + (
            '<w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"/></w:rPr>'
            if form == "bullet" and text
            else ""
        )
        + "</w:lvl>"
        for level, (form, text, after) in enumerate(levels)
    )
    kind = '<w:multiLevelType w:val="hybridMultilevel"/>'
    return f'<w:abstractNum w:abstractNumId="{number}">{kind}{described}</w:abstractNum>'
