"""The footnotes of a guided model, put where they belong while the answer streams.

Small models write the number of a passage before a sentence as often as after it, and sometimes copy the id of the
marks around web text in its place.
"""

import re
from collections.abc import Collection, Iterator
from itertools import islice

from footnote.text.sentences import sentences

_LEADING = re.compile(
    r"([ \t]{0,8}(?:(?:[-*•]|\d{1,2}[.)])[ \t]{1,4})?)[\[【][ \t]?(\d{1,4}(?:\.\d{1,3})?)[ \t]?[\]】][ \t]{0,4}(?!\()"
)
_PARTIAL_LEADING = re.compile(
    r"[ \t]{0,8}(?:(?:[-*•]|\d{1,2}[.)]?)[ \t]{0,4})?(?:[\[【][ \t]?(?:\d{1,4}(?:\.\d{0,3})?)?[ \t]?[\]】]?[ \t]{0,4})?"
)
_FOOTNOTE = re.compile(r"[\[【]\d")
_FOLLOWING_LENGTH = 24
"""Characters that must follow the end of a sentence before it is certain: `Frederick W.` is none."""


class FootnoteMover:
    """Moves a footnote from the beginning of a line behind its first sentence, wherever the text is cut into pieces.
    `foreign_ids` are left out where they stand in the place of a footnote."""

    def __init__(self, foreign_ids: Collection[str] = ()) -> None:
        ids = "|".join(map(re.escape, foreign_ids))
        self._foreign = re.compile(rf"[ \t]?\[(?:{ids})\]") if ids else None
        self._max_foreign = max(map(len, foreign_ids), default=0) + 3
        self._unchecked = ""
        """The end of the text, in which a foreign id may begin."""
        self._held = ""
        self._is_line_start = True
        self._moved: str | None = None

    def feed(self, piece: str) -> str:
        """The text that is certain with this piece."""
        return "".join(self._move(self._without_foreign(piece, at_end=False), at_end=False))

    def flush(self) -> str:
        return "".join(self._move(self._without_foreign("", at_end=True), at_end=True))

    def _without_foreign(self, piece: str, *, at_end: bool) -> str:
        if self._foreign is None:
            return piece
        text = self._foreign.sub("", self._unchecked + piece)
        opening = text.rfind("[", max(0, len(text) - self._max_foreign))
        keep = len(text) if at_end else len(text[: opening if opening >= 0 else None].rstrip(" \t"))
        self._unchecked = text[keep:]
        return text[:keep]

    def _move(self, text: str, *, at_end: bool) -> Iterator[str]:
        self._held += text
        while self._held:
            step = self._at_line_start(at_end=at_end) if self._is_line_start else self._in_line(at_end=at_end)
            if step is None:
                return
            yield step
        if at_end:
            yield self._take_moved()

    def _at_line_start(self, *, at_end: bool) -> str | None:
        if not at_end and _PARTIAL_LEADING.fullmatch(self._held):
            return None
        self._is_line_start = False
        if (found := _LEADING.match(self._held)) is None:
            return ""
        self._moved = found[2]
        self._held = self._held[found.end() :]
        return found[1]

    def _in_line(self, *, at_end: bool) -> str | None:
        """The next part of a line: to the end of the sentence for a footnote that waits for it, else to its end."""
        if self._moved is None:
            end = self._held.find("\n") + 1
            self._is_line_start = end > 0
            return self._release(end or len(self._held))
        end = self._sentence_end(at_end=at_end)
        return None if end is None else self._release(end) + self._take_moved()

    def _sentence_end(self, *, at_end: bool) -> int | None:
        """Where the first sentence of the held text ends; None: more text has to arrive."""
        line, newline, _ = self._held.partition("\n")
        found = list(islice(sentences(line), 2))
        if len(found) > 1 and (at_end or newline or len(line) - found[0].end > _FOLLOWING_LENGTH):
            return found[0].end
        return len(line.rstrip()) if newline or at_end else None

    def _release(self, end: int) -> str:
        text, self._held = self._held[:end], self._held[end:]
        if self._moved is not None and _FOOTNOTE.search(text):
            self._moved = ""  # the sentence has one behind it already
        return text

    def _take_moved(self) -> str:
        moved, self._moved = self._moved, None
        return f" [{moved}]" if moved else ""


def footnotes_moved(text: str, foreign_ids: Collection[str] = ()) -> str:
    """A whole text with its footnotes behind their sentences."""
    mover = FootnoteMover(foreign_ids)
    return mover.feed(text) + mover.flush()
