"""What stands inside a line, as source of the typesetter. All text of users and models is a string, never markup."""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from msgspec import Struct

from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.notes import number_notes
from footnote.documents.out.pdf.arabic import has_arabic, shape_text
from footnote.documents.scripts import chinese_variant, is_right_to_left, is_right_to_left_language, script_language
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Hyperlink,
    Inline,
    Maths,
    NoteMark,
    PlainText,
    Strike,
    Strong,
    TreeImage,
)

MAX_WORD_CHARS = 60
"""Letters of a word that needs no place to be broken at."""
TEXT_WIDTH = 448.0
"""Points."""
MAX_IMAGE_HEIGHT = 560.0
"""Points of a picture."""

HALVES_MACRO = "#let halves(words) = text(spacing: 50%, words)"
KEYCAP_RULE = '#show regex("[0-9#*]\\u{fe0f}?\\u{20e3}"): set text(font: "Noto Emoji")'
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


class PlacedImage(Struct, frozen=True):
    """A picture in the typesetter's folder. Points."""

    path: str
    width: float
    height: float


class Parts(Struct, frozen=True):
    """What a document is written with: its pictures by name, and its formulas as the typesetter writes them, by LaTeX.
    What is in neither is shown as its words and as its source."""

    images: Mapping[str, PlacedImage]
    formulas: Mapping[str, str]


def string_literal(text: str) -> str:
    """A text as a string of the typesetter: nothing in it means anything."""
    return f'"{text.translate(_ESCAPED)}"'


def text_source(text: str) -> str:
    """A text as it stands on the page."""
    if text.isascii():
        return _plain_source(text)
    if _INDIC.search(text):
        return f"#halves({string_literal(text.replace(' ', '  '))})"
    if not has_arabic(text):
        return _plain_source(text)
    pieces = ((string_literal(piece), is_whole) for piece, is_whole in shape_text(text))
    return "".join(f"#whole({piece})" if is_whole else f"#{piece}" for piece, is_whole in pieces)


def has_keycap(text: str) -> bool:
    return "\u20e3" in text


def place_image(path: str, width: int, height: int) -> PlacedImage:
    """A picture as large as it is shown: not wider than the text, not higher than most of a page."""
    points = width * _POINTS_OF_PIXEL, height * _POINTS_OF_PIXEL
    scale = min(1.0, TEXT_WIDTH / points[0], MAX_IMAGE_HEIGHT / points[1])
    return PlacedImage(path, points[0] * scale, points[1] * scale)


def _plain_source(text: str) -> str:
    return f"#{string_literal(text)}"


class InlineWriter:
    """Writes lines of a document in a language. `labels` are those of headings by anchor, `notes` are written ones.
    `longest` may be set while the cells of a narrow column are written."""

    def __init__(self, language: str, parts: Parts, labels: Mapping[str, str], notes: Mapping[str, str]) -> None:
        self._base_language = language.partition("-")[0]
        self._is_rtl = is_right_to_left_language(language)
        self._parts = parts
        self._labels = labels
        self._notes = notes
        self.note_numbers = number_notes(notes)
        self.note_labels: dict[str, str] = {}
        """The notes that were referred to so far, with their labels."""
        self.max_word_chars = MAX_WORD_CHARS
        self._text_writer = text_source
        self._detached_notes: list[str] | None = None

    def write(self, content: Sequence[Inline], *, in_heading: bool = False) -> str:
        """One line. That of a heading is left as it is: bookmarks are made of it."""
        self._text_writer = _plain_source if in_heading else text_source
        return self._write(content)

    def _write(self, content: Sequence[Inline]) -> str:
        sources: list[str] = []
        after_mark = False
        for part in content:
            is_mark = isinstance(part, NoteMark)
            if is_mark and after_mark:
                sources.append("#comma")
            sources.append(self._inline(part))
            after_mark = is_mark
        return "".join(sources)

    def text_settings(self, content: Sequence[Inline]) -> str:
        """Direction and language of a line, where they are not the document's."""
        text = plain_text(content)
        if text.isascii() and not self._is_rtl:
            return ""
        turned = is_right_to_left(text)
        if turned != self._is_rtl:
            if not any(map(str.isalpha, text)):
                return ""
            language = script_language(text) if turned else "en"
            return f'#set text(dir: {"rtl" if turned else "ltr"}, lang: "{language}");'
        language = script_language(text)
        # Chinese characters alone are those of the document, whichever of the three it is written in.
        known = self._base_language in ("zh", "ja", "ko") and language == "zh"
        if known or language not in ("zh", "ja", "ko") or language == self._base_language:
            return ""
        return f"#set text(..in-{chinese_variant(text).lower() if language == 'zh' else language});"

    def _inline(self, part: Inline) -> str:
        match part:
            case PlainText(text):
                source = self._text_writer(insert_breaks(_SPACES.sub(" ", text), self.max_word_chars))
            case Strong(content) | Emphasis(content) | Strike(content):
                source = f"#{_WRAPPED[type(part)]}[{self._write(content)}]"
            case Code(text):
                source = f"#raw({string_literal(insert_breaks(text, self.max_word_chars))})"
            case Hyperlink():
                source = self._link(part)
            case TreeImage():
                source = self._image(part)
            case Maths(latex):
                formula = self._parts.formulas.get(latex)
                call = "#raw(" if formula is None else f"#formula({string_literal(formula)}, "
                source = f"{call}{string_literal(latex)})"
            case Break():
                source = "#linebreak()"
            case NoteMark(key):
                source = self._note_mark(key)
        return source

    def _link(self, link: Hyperlink) -> str:
        words = self._write(link.content)
        if not link.url.startswith("#"):
            return f"#link({string_literal(link.url)})[{words}]"
        label = self._labels.get(link.url[1:])
        return f"#link(<{label}>)[{words}]" if label else words

    def _image(self, picture: TreeImage) -> str:
        image = self._parts.images.get(picture.name)
        alt = picture.alt or picture.name
        if image is None:
            return f"#missing({string_literal(f'[{alt}]')})"
        height = "1.2em" if image.height <= _LINE else f"{min(image.height, MAX_IMAGE_HEIGHT / 2):.1f}pt"
        return f"#inlined({string_literal(image.path)}, {height}, {string_literal(alt)})"

    @contextmanager
    def detach_notes(self) -> Generator[list[str], None, None]:
        """What is written meanwhile may be set more than once. Its notes must not: they are to be put where it stands
        for the first time."""
        self._detached_notes = apart = []
        try:
            yield apart
        finally:
            self._detached_notes = None

    def _note_mark(self, key: str) -> str:
        label = self.note_labels.get(key)
        if label and self._detached_notes is None:
            return f"#footnote(<{label}>)"
        if label:
            return self._number(key)
        label = self.note_labels[key] = f"n{len(self.note_labels)}"
        note = f"#footnote[#h(0.25em){self._notes.get(key, '')}]<{label}>"
        if self._detached_notes is None:
            return note
        self._detached_notes.append(f"#unseen[{note}]")
        return self._number(key)

    def _number(self, key: str) -> str:
        """The mark of a note without a link to it: what is set once more is not there for those who listen."""
        return f'#super("{self.note_numbers.get(key, "")}")'


def insert_breaks(text: str, max_chars: int) -> str:
    """With places to break a line at, in words too long for one. Addresses have theirs already."""
    if len(text) <= max_chars:
        return text
    long_word, step = _cuts(max_chars)
    return long_word.sub(
        lambda word: word.group() if _ADDRESS.match(word.group()) else step.sub("\\g<0>\u200b", word.group()), text
    )


@cache
def _cuts(max_chars: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    half = max(1, max_chars // 2)
    return re.compile(rf"[^\s{_NO_SPACES}]{{{max_chars + 1},}}"), re.compile(f".{{{half}}}(?=.)")
