"""Inline content, from the tokens of the parser to the tree."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.images import image_path
from footnote.documents.languages import is_cjk
from footnote.documents.markdown.notes import Notes, linkify
from footnote.documents.markdown.statements import STATEMENT
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Hyperlink,
    Inline,
    Maths,
    NoteMark,
    Paragraph,
    PlainText,
    Strike,
    Strong,
    TreeImage,
)

MAX_FORMULAS = 500
_MAX_NESTING = 12
_WRAPPED = {"em": Emphasis, "strong": Strong, "s": Strike}
_NUMBERED = re.compile(r"[\[［【]\^?[0-9０-９]{1,9}[\]］】]")
_LINK_SCHEME = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


class Display(Struct, frozen=True):
    """A displayed formula inside a paragraph."""

    latex: str


class _OpenInline(Struct):
    kind: str
    content: list[Inline | Display]
    url: str = ""
    label: str = ""


def plain_text(content: Sequence[Inline]) -> str:
    """The text without formatting."""
    texts: list[str] = []
    for inline in content:
        match inline:
            case PlainText(text) | Code(text):
                texts.append(text)
            case TreeImage(alt=text) | Maths(text):
                texts.append(text)
            case Break():
                texts.append(" ")
            case NoteMark():
                pass
            case _:
                texts.append(plain_text(inline.content))
    return "".join(texts)


class Inlines:
    """Makes the tree of inline content. `anchors` are those of the document's headings, `note_labels` the labels of its
    own notes, `inline_notes` the notes without a label, by number."""

    def __init__(
        self,
        notes: Notes,
        *,
        images: Mapping[str, bytes],
        anchors: Mapping[str, str],
        note_labels: frozenset[str],
        inline_notes: Mapping[int, Sequence[Token]],
    ) -> None:
        self._notes = notes
        self._inline_notes = inline_notes
        self._images = images
        self._anchors = anchors
        self._note_labels = note_labels
        self._formulas = 0
        self.remote_images = 0
        """The number of remote images. They are not fetched: each is replaced by a link."""

    def allow_formula(self) -> bool:
        """Counts a formula; false beyond the limit: further ones are shown as their source."""
        self._formulas += 1
        return self._formulas <= MAX_FORMULAS

    def content(self, tokens: Sequence[Token], *, link_notes: bool = True) -> tuple[Inline, ...]:
        """Inline content without displayed formulas."""
        return tuple(
            Maths(part.latex) if isinstance(part, Display) else part
            for part in self.parts(tokens, link_notes=link_notes)
        )

    def parts(self, tokens: Sequence[Token], *, link_notes: bool = True) -> list[Inline | Display]:
        """`link_notes`: markers in it may refer to notes, as they may not in a list of sources or in a note."""
        opened = [_OpenInline("", [])]
        text: list[str] = []
        statement: int | None = None
        for at, token in enumerate(tokens):
            kind = token.type
            if (following := _statement_of(token)) != statement:
                self._flush(text, opened, statement, link_notes=link_notes)
                statement = following
            if kind == "text":
                text.append(token.content)
                continue
            if kind == "softbreak" and (link_notes or not _starts_source_entry(tokens, at + 1)):
                text.append(_soft_break(tokens, at))
                continue
            self._flush(text, opened, statement, link_notes=link_notes)
            if kind.endswith("_open"):
                self._open(token, opened)
            elif kind.endswith("_close"):
                self._close(opened, link_notes=link_notes)
            else:
                opened[-1].content += self._leaf(token, link_notes=link_notes)
        self._flush(text, opened, statement, link_notes=link_notes)
        while len(opened) > 1:
            self._close(opened, link_notes=link_notes)
        return _merge_texts(opened[0].content)

    def _flush(self, text: list[str], opened: list[_OpenInline], statement: int | None, *, link_notes: bool) -> None:
        joined = "".join(text)
        text.clear()
        if not joined:
            return
        if any(part.kind == "a" for part in opened):
            opened[-1].content.append(PlainText(joined, statement))
            return
        inlines = self._notes.link_markers(joined, self._note_labels) if link_notes else linkify(joined)
        opened[-1].content += inlines if statement is None else (_in_statement(part, statement) for part in inlines)

    def _open(self, token: Token, opened: list[_OpenInline]) -> None:
        if token.tag == "a":
            label = token.meta.get("label", "") if token.meta else ""
            opened.append(_OpenInline("a", [], url=str(token.attrGet("href") or ""), label=str(label)))
        else:
            # Beyond this depth, formatting is ignored: the content goes into the element around it.
            opened.append(_OpenInline(token.tag if len(opened) <= _MAX_NESTING else "", []))

    def _close(self, opened: list[_OpenInline], *, link_notes: bool) -> None:
        closed = opened.pop()
        content: tuple[Inline, ...] = tuple(
            Maths(part.latex) if isinstance(part, Display) else part for part in _merge_texts(closed.content)
        )
        wrap = _WRAPPED.get(closed.kind)
        if wrap is not None:
            opened[-1].content += [wrap(content)] if content else []
        elif closed.kind == "a":
            opened[-1].content += self._link(closed, content, link_notes=link_notes)
        else:
            opened[-1].content += closed.content

    def _link(self, link: _OpenInline, content: tuple[Inline, ...], *, link_notes: bool) -> tuple[Inline, ...]:
        """A link if the target is a web address, a mail address or a heading. `[1]` that the text defines is a note."""
        url = self._address(link.url)
        if url is None:
            return content
        content = tuple(
            inner for part in content for inner in (part.content if isinstance(part, Hyperlink) else (part,))
        )
        if url.startswith("mailto:") and content == (PlainText(url),):
            content = (PlainText(url.removeprefix("mailto:")),)
        if link_notes and link.label.isdecimal() and plain_text(content) == link.label:
            return (self._notes.mark(f"link-{link.label}", (Paragraph((Hyperlink(url, (PlainText(url),)),)),)),)
        return (Hyperlink(url, content or (PlainText(url),)),)

    def _address(self, url: str) -> str | None:
        if url.startswith("#"):
            anchor = self._anchors.get(unicodedata.normalize("NFC", unquote(url[1:])).lower())
            return None if anchor is None else f"#{anchor}"
        return url if _LINK_SCHEME.match(url) else None

    def _leaf(self, token: Token, *, link_notes: bool) -> Iterator[Inline | Display]:
        match token.type:
            case "code_inline":
                yield Code(token.content, _statement_of(token))
            case "hardbreak" | "softbreak":
                yield Break()
            case "image":
                yield self._image(token)
            case "math_inline" | "math_inline_double":
                latex = token.content.strip()
                if not self.allow_formula():
                    yield Code(latex)
                else:
                    yield Maths(latex) if token.type == "math_inline" else Display(latex)
            case "footnote_ref":
                yield from self._reference(token, link_notes=link_notes)
            case _ if token.content:
                yield PlainText(token.content, _statement_of(token))
            case _:
                pass

    def _reference(self, token: Token, *, link_notes: bool) -> Iterator[Inline]:
        """A reference to a note by its label, or a note inside the line (`^[…]`), which has none."""
        label: str | None = token.meta.get("label")
        if label is not None and link_notes:
            yield self._notes.mark(label)
        elif label is not None:
            yield PlainText(f"[{label}]")
        else:
            number: int = token.meta["id"]
            content = self.content(self._inline_notes.get(number, ()), link_notes=False)
            if link_notes:
                yield self._notes.mark(f"line-{number}", (Paragraph(content),))
            else:
                yield from (PlainText(" ("), *content, PlainText(")"))

    def _image(self, token: Token) -> Inline:
        alt = " ".join(plain_text(self.content(token.children or (), link_notes=False)).split())
        source = str(token.attrGet("src") or "")
        name = image_path(source)
        if name is None and source.lower().startswith("https://"):
            self.remote_images += 1
            return Hyperlink(source, (PlainText(alt or source),))
        if name is None:
            return PlainText(alt)
        known = next((key for key in (name, name[1:]) if key in self._images), name)
        return TreeImage(known, alt)


def _statement_of(token: Token) -> int | None:
    return token.meta.get(STATEMENT) if token.meta else None


def _in_statement(part: Inline, statement: int) -> Inline:
    match part:
        case PlainText():
            return replace(part, statement=statement)
        case Hyperlink(url, content):
            return Hyperlink(url, tuple(_in_statement(inner, statement) for inner in content))
        case _:
            return part


def _soft_break(tokens: Sequence[Token], at: int) -> str:
    """A line break in a paragraph is a space, except in scripts without spaces."""
    before = tokens[at - 1].content[-1:] if at else ""
    after = tokens[at + 1].content[:1] if at + 1 < len(tokens) else ""
    return "" if before and after and is_cjk(before) and is_cjk(after) else " "


def _starts_source_entry(tokens: Sequence[Token], at: int) -> bool:
    """Whether the next line is another entry of a list of sources."""
    return at < len(tokens) and _NUMBERED.match(tokens[at].content) is not None


def _merge_texts(content: list[Inline | Display]) -> list[Inline | Display]:
    """Joins adjacent texts, and removes spaces before the mark of a note and at both ends of a line."""
    joined: list[Inline | Display] = []
    for part in content:
        last = joined[-1] if joined else None
        if isinstance(part, PlainText) and isinstance(last, PlainText) and part.statement == last.statement:
            joined[-1] = PlainText(last.text + part.text, part.statement)
        elif isinstance(part, PlainText) and isinstance(last, Break):
            joined.append(PlainText(part.text.lstrip(" "), part.statement))
        elif isinstance(part, NoteMark | Break) and isinstance(last, PlainText):
            joined[-1] = PlainText(last.text.rstrip(" "), last.statement)
            joined.append(part)
        elif not isinstance(part, PlainText) or part.text:
            joined.append(part)
    return [part for part in joined if not isinstance(part, PlainText) or part.text]
