"""Inline content as Typst source. Text of users and models is always a string literal, never markup."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from msgspec import Struct

from footnote.documents.languages import chinese_variant, is_right_to_left, is_right_to_left_language, script_language
from footnote.documents.markdown.inlines import plain_text
from footnote.documents.markdown.latex import Form, rewrite_commands, simplify_latex
from footnote.documents.markdown.notes import is_proof_note, label_notes
from footnote.documents.out.pdf.arabic import has_arabic, shape_text
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Hyperlink,
    Inline,
    Marked,
    Maths,
    NoteMark,
    PlainText,
    Strike,
    Strong,
    TreeImage,
)

MAX_WORD_CHARS = 60
"""A longer word needs break opportunities."""
TEXT_WIDTH = 448.0
MAX_IMAGE_HEIGHT = 560.0
"""Both in points."""

HALVES_MACRO = "#let halves(words) = text(spacing: 50%, words)"
KEYCAP_RULE = '#show regex("[0-9#*]\\u{fe0f}?\\u{20e3}"): set text(font: "Noto Emoji")'
"""The emoji of a key and its digit must come from one font, or they are set side by side."""

_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_SPACES = re.compile(" {2,}")
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef\u200b"
"""Scripts in which a line may be broken nearly anywhere."""
_INDIC = re.compile("[\u0900-\u0dff]")
"""Scripts with characters of no width. The PDF viewers of many browsers drop a single space after such a character, so
that words are copied without any: two spaces of half the width are written."""
_ADDRESS = re.compile(r"https?://")
_POINTS_OF_PIXEL = 0.6
_LINE = 24.0
"""In points: a lower picture inside a line gets the height of the line."""
_WRAPPED = {Strong: "strong", Emphasis: "emph", Strike: "strike"}


class PlacedImage(Struct, frozen=True):
    """A picture in the typesetter's folder, with its size in points."""

    path: str
    width: float
    height: float


class Parts(Struct, frozen=True):
    """Pictures by name, and formulas in Typst notation by LaTeX. Without an entry, a picture is shown as its
    description and a formula as its source."""

    images: Mapping[str, PlacedImage]
    formulas: Mapping[str, str]


def string_literal(text: str) -> str:
    """A Typst string literal, in which no character has a meaning."""
    return f'"{text.translate(_ESCAPED)}"'


def text_source(text: str) -> str:
    """The text as it is shown on the page."""
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
    """A picture scaled to fit the text width and most of the page height."""
    points = width * _POINTS_OF_PIXEL, height * _POINTS_OF_PIXEL
    scale = min(1.0, TEXT_WIDTH / points[0], MAX_IMAGE_HEIGHT / points[1])
    return PlacedImage(path, points[0] * scale, points[1] * scale)


def _plain_source(text: str) -> str:
    return f"#{string_literal(text)}"


class InlineWriter:
    """Writes inline content of a document in a language. `labels` are those of headings by anchor, `notes` the sources
    of the notes. `max_word_chars` may be lowered while the cells of a narrow column are written."""

    def __init__(self, language: str, parts: Parts, labels: Mapping[str, str], notes: Mapping[str, str]) -> None:
        self._base_language = language.partition("-")[0]
        self._is_rtl = is_right_to_left_language(language)
        self._parts = parts
        self._labels = labels
        self._notes = notes
        self.printed_labels = label_notes(notes)
        self.note_labels: dict[str, str] = {}
        """The Typst labels of the notes that were referred to so far."""
        self.max_word_chars = MAX_WORD_CHARS
        self._in_heading = False
        self._text_writer = text_source
        self._detached_notes: list[str] | None = None

    def write(self, content: Sequence[Inline], *, in_heading: bool = False) -> str:
        """The content of a line. The text of a heading is not reshaped, since bookmarks are made of it."""
        self._in_heading = in_heading
        self._text_writer = _plain_source if in_heading else text_source
        return self._write(content)

    def _write(self, content: Sequence[Inline]) -> str:
        sources: list[str] = []
        after_mark = False
        for part in content:
            if isinstance(part, NoteMark) and after_mark:
                sources.append("#thin" if is_proof_note(part.key) else "#comma")
            sources.append(self._inline(part))
            after_mark = isinstance(part, NoteMark)
        return "".join(sources)

    def text_settings(self, content: Sequence[Inline]) -> str:
        """Direction and language of a line, if they differ from those of the document."""
        text = plain_text(content)
        if text.isascii() and not self._is_rtl:
            return ""
        is_rtl = is_right_to_left(text)
        if is_rtl != self._is_rtl:
            if not any(map(str.isalpha, text)):
                return ""
            language = script_language(text) if is_rtl else "en"
            return f'#set text(dir: {"rtl" if is_rtl else "ltr"}, lang: "{language}");'
        language = script_language(text)
        # Chinese characters alone are in the language of the document, if that is one of the three that use them.
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
            case Marked(content, verdict):
                source = f"#{verdict}[{self._write(content)}]"
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
        """For content that Typst may set more than once, such as the head of a table: its notes are collected, to be
        defined outside of it."""
        self._detached_notes = notes = []
        try:
            yield notes
        finally:
            self._detached_notes = None

    def _note_mark(self, key: str) -> str:
        label = self.note_labels.get(key)
        if label and self._detached_notes is None:
            return f"#footnote(<{label}>)"
        if label:
            return self._number(key)
        label = self.note_labels[key] = f"n{len(self.note_labels)}"
        body = f"#h(0.25em){self._notes.get(key, '')}"
        # Bookmarks are made of all text in a heading, but of none that depends on the context.
        note = f"#footnote[{f'#context [{body}]' if self._in_heading else body}]<{label}>"
        if self._detached_notes is None:
            return note
        self._detached_notes.append(f"#unseen[{note}]")
        return self._number(key)

    def _number(self, key: str) -> str:
        """The mark of a note without a link: repeated content is hidden from screen readers."""
        return f"#super({string_literal(self.printed_labels.get(key, ''))})"


def insert_breaks(text: str, max_chars: int) -> str:
    """Inserts break opportunities into words that are too long for a line. URLs have theirs already."""
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


# Formulas: from LaTeX to the notation of Typst ------------------------------------------------------------------------

MATHS_MACROS = """
#let boxed(..parts) = {
  box(stroke: 0.5pt, inset: 4pt, baseline: 4pt, math.equation(alt: "a box", parts.pos().join([, ])))
}
#let maths(source) = eval(source, mode: "math", scope: (boxed: boxed, hide: hide))
"""
"""Typst functions that set formulas."""

_MAX_LATEX_CHARS = 4000
_CASES = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}", re.DOTALL)
_ARRAY = re.compile(r"\\(begin|end)\{array\}(?:\s*\{[^{}]*\})?")
_OPEN, _CLOSE = r"\operatorname{{opened%s}} ", r" \operatorname{{closedgroup}} "
_FORMS = {
    "boxed": Form(1, _OPEN % "boxed" + "{0}" + _CLOSE),
    "fbox": Form(1, _OPEN % "boxed" + r"\text{{{0}}}" + _CLOSE),
    "phantom": Form(1, _OPEN % "hide" + "{0}" + _CLOSE),
    "hphantom": Form(1, _OPEN % "hide" + "{0}" + _CLOSE),
    # The converter takes only the first letter of what is above or below.
    "overset": Form(2, _OPEN % "limits" + "{1}" + _CLOSE + "^{{{0}}}"),
    "underset": Form(2, _OPEN % "limits" + "{1}" + _CLOSE + "_{{{0}}}"),
}
_OPENED = re.compile(r'op\("opened(boxed|hide|limits)"\)')
_CLOSED = 'op("closedgroup")'
_NUMBER_SIGN = 'op("numbersign")'
_HARMLESS = re.compile(r"delim: #none(?=[,)])|limits: #true(?=\))")


def convert_formulas(latex: Sequence[str]) -> dict[str, str]:
    """Typst notation by LaTeX, for the formulas that can be converted. The others are shown as LaTeX."""
    convert = _converter()
    found: dict[str, str] = {}
    for formula in latex:
        converted = _convert(convert, formula) if convert and len(formula) <= _MAX_LATEX_CHARS else None
        if converted is not None:
            found[formula] = converted
    return found


def _convert(convert: Callable[[str], str], formula: str) -> str | None:
    try:
        converted = convert(_prepare(formula))
    except Exception:  # noqa: BLE001 - whatever it stumbles over, the formula is shown as LaTeX
        return None
    # A number sign is the only way from a formula into Typst code.
    if "#" in _HARMLESS.sub("", converted) or not converted.strip():
        return None
    converted = _OPENED.sub(r"\1(", converted).replace(_CLOSED, ")")
    return converted.replace(_NUMBER_SIGN, r'"\u{23}"')


def _prepare(formula: str) -> str:
    """A formula in commands that the converter knows. Others become operators, which are replaced in its output."""
    latex = _ARRAY.sub(r"\\\1{matrix}", simplify_latex(formula))
    latex = re.sub(r"(?<!\\)\\#", r"\\operatorname{numbersign} ", latex)
    return _CASES.sub(_space_cases, rewrite_commands(latex, _FORMS, {}))


def _space_cases(cases: re.Match[str]) -> str:
    """LaTeX has a space between a case and its condition; Typst has none."""
    return re.sub(r"(?<!\\)&", r"& \\quad ", cases.group())


@cache
def _converter() -> Callable[[str], str] | None:
    """None: the package is not available for this platform."""
    try:
        from tex2typst import tex2typst  # noqa: PLC0415 - it may be missing  # pyright: ignore[reportMissingTypeStubs] - it has none
    except ImportError:
        return None
    return lambda latex: str(tex2typst(latex))
