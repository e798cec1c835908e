"""What stands inside a line, as source of the typesetter. All text of users and models is a string, never markup."""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from msgspec import Struct

from footnote.documents.markdown.inlines import plain
from footnote.documents.markdown.notes import numbers_of
from footnote.documents.pdf.arabic import has_arabic, shaped
from footnote.documents.pdf.tables import TEXT_WIDTH
from footnote.documents.scripts import chinese_of, is_right_to_left, is_right_to_left_language, letters_of
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Inline,
    Link,
    Maths,
    NoteMark,
    Picture,
    Strike,
    Strong,
    Text,
)

LONGEST_WORD = 60
"""Letters of a word that needs no place to be broken at."""
HIGHEST = 560.0
"""Points of a picture."""

HALVES = "#let halves(words) = text(spacing: 50%, words)"
KEYCAPS = '#show regex("[0-9#*]\\u{fe0f}?\\u{20e3}"): set text(font: "Noto Emoji")'
"""A digit of one font in the key of another would stand beside it."""

_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_SPACES = re.compile(" {2,}")
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef\u200b"
"""Scripts in which a line may end anywhere, or nearly so."""
_INDIC = re.compile("[\u0900-\u0dff]")
"""Scripts of signs that take no room. The reader of many browsers drops the one space after such a sign, so that words
are copied without any: there are two of half the width."""
_ADDRESS = re.compile(r"https?://")
_POINTS_OF_PIXEL = 0.6
_LINE = 24.0
"""Points: a lower picture in the midst of a line is as high as the line."""
_WRAPPED = {Strong: "strong", Emphasis: "emph", Strike: "strike"}


class Placed(Struct, frozen=True):
    """A picture in the typesetter's folder. Points."""

    path: str
    width: float
    height: float


class Parts(Struct, frozen=True):
    """What a document is written with: its pictures by name, and its formulas as the typesetter writes them, by LaTeX.
    What is in neither is shown as its words and as its source."""

    pictures: Mapping[str, Placed]
    formulas: Mapping[str, str]


def literal(text: str) -> str:
    """A text as a string of the typesetter: nothing in it means anything."""
    return f'"{text.translate(_ESCAPED)}"'


def shown(text: str) -> str:
    """A text as it stands on the page."""
    if text.isascii():
        return _as_it_is(text)
    if _INDIC.search(text):
        return f"#halves({literal(text.replace(' ', '  '))})"
    if not has_arabic(text):
        return _as_it_is(text)
    pieces = ((literal(piece), is_whole) for piece, is_whole in shaped(text))
    return "".join(f"#whole({piece})" if is_whole else f"#{piece}" for piece, is_whole in pieces)


def has_keycap(text: str) -> bool:
    return "\u20e3" in text


def placed(path: str, width: int, height: int) -> Placed:
    """A picture as large as it is shown: not wider than the text, not higher than most of a page."""
    points = width * _POINTS_OF_PIXEL, height * _POINTS_OF_PIXEL
    scale = min(1.0, TEXT_WIDTH / points[0], HIGHEST / points[1])
    return Placed(path, points[0] * scale, points[1] * scale)


def _as_it_is(text: str) -> str:
    return f"#{literal(text)}"


class Lines:
    """Writes lines of a document in a language. `labels` are those of headings by anchor, `notes` are written ones.
    `longest` may be set while the cells of a narrow column are written."""

    def __init__(self, language: str, parts: Parts, labels: Mapping[str, str], notes: Mapping[str, str]) -> None:
        self._tongue = language.partition("-")[0]
        self._right_to_left = is_right_to_left_language(language)
        self._parts = parts
        self._labels = labels
        self._notes = notes
        self.numbers = numbers_of(notes)
        self.marked: dict[str, str] = {}
        """The notes that were referred to so far, with their labels."""
        self.longest = LONGEST_WORD
        self._shown = shown
        self._apart: list[str] | None = None

    def written(self, content: Sequence[Inline], *, in_heading: bool = False) -> str:
        """One line. That of a heading is left as it is: bookmarks are made of it."""
        self._shown = _as_it_is if in_heading else shown
        return self._written(content)

    def _written(self, content: Sequence[Inline]) -> str:
        sources: list[str] = []
        after_mark = False
        for part in content:
            is_mark = isinstance(part, NoteMark)
            if is_mark and after_mark:
                sources.append("#comma")
            sources.append(self._inline(part))
            after_mark = is_mark
        return "".join(sources)

    def setting(self, content: Sequence[Inline]) -> str:
        """Direction and language of a line, where they are not the document's."""
        text = plain(content)
        if text.isascii() and not self._right_to_left:
            return ""
        turned = is_right_to_left(text)
        if turned != self._right_to_left:
            if not any(map(str.isalpha, text)):
                return ""
            language = letters_of(text) if turned else "en"
            return f'#set text(dir: {"rtl" if turned else "ltr"}, lang: "{language}");'
        language = letters_of(text)
        # Chinese characters alone are those of the document, whichever of the three it is written in.
        known = self._tongue in ("zh", "ja", "ko") and language == "zh"
        if known or language not in ("zh", "ja", "ko") or language == self._tongue:
            return ""
        return f"#set text(..in-{chinese_of(text).lower() if language == 'zh' else language});"

    def _inline(self, part: Inline) -> str:
        match part:
            case Text(text):
                source = self._shown(breakable(_SPACES.sub(" ", text), self.longest))
            case Strong(content) | Emphasis(content) | Strike(content):
                source = f"#{_WRAPPED[type(part)]}[{self._written(content)}]"
            case Code(text):
                source = f"#raw({literal(breakable(text, self.longest))})"
            case Link():
                source = self._link(part)
            case Picture():
                source = self._picture(part)
            case Maths(latex):
                formula = self._parts.formulas.get(latex)
                call = "#raw(" if formula is None else f"#formula({literal(formula)}, "
                source = f"{call}{literal(latex)})"
            case Break():
                source = "#linebreak()"
            case NoteMark(key):
                source = self._mark(key)
        return source

    def _link(self, link: Link) -> str:
        words = self._written(link.content)
        if not link.url.startswith("#"):
            return f"#link({literal(link.url)})[{words}]"
        label = self._labels.get(link.url[1:])
        return f"#link(<{label}>)[{words}]" if label else words

    def _picture(self, picture: Picture) -> str:
        image = self._parts.pictures.get(picture.name)
        alt = picture.alt or picture.name
        if image is None:
            return f"#missing({literal(f'[{alt}]')})"
        height = "1.2em" if image.height <= _LINE else f"{min(image.height, HIGHEST / 2):.1f}pt"
        return f"#inlined({literal(image.path)}, {height}, {literal(alt)})"

    @contextmanager
    def notes_apart(self) -> Generator[list[str], None, None]:
        """What is written meanwhile may be set more than once. Its notes must not: they are to be put where it stands
        for the first time."""
        self._apart = apart = []
        try:
            yield apart
        finally:
            self._apart = None

    def _mark(self, key: str) -> str:
        label = self.marked.get(key)
        if label and self._apart is None:
            return f"#footnote(<{label}>)"
        if label:
            return self._number(key)
        label = self.marked[key] = f"n{len(self.marked)}"
        note = f"#footnote[#h(0.25em){self._notes.get(key, '')}]<{label}>"
        if self._apart is None:
            return note
        self._apart.append(f"#unseen[{note}]")
        return self._number(key)

    def _number(self, key: str) -> str:
        """The mark of a note without a link to it: what is set once more is not there for those who listen."""
        return f'#super("{self.numbers.get(key, "")}")'


def breakable(text: str, longest: int) -> str:
    """With places to break a line at, in words too long for one. Addresses have theirs already."""
    if len(text) <= longest:
        return text
    long_word, step = _cuts(longest)
    return long_word.sub(
        lambda word: word.group() if _ADDRESS.match(word.group()) else step.sub("\\g<0>\u200b", word.group()), text
    )


@cache
def _cuts(longest: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    half = max(1, longest // 2)
    return re.compile(rf"[^\s{_NO_SPACES}]{{{longest + 1},}}"), re.compile(f".{{{half}}}(?=.)")
