"""What stands inside a line, from the tokens of the parser to the tree."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from markdown_it.token import Token
from msgspec import Struct

from footnote.documents.addresses import picture_name
from footnote.documents.markdown.notes import Notes, words
from footnote.documents.scripts import is_cjk
from footnote.documents.tree import (
    Break,
    Code,
    Emphasis,
    Inline,
    Link,
    Maths,
    NoteMark,
    Paragraph,
    Picture,
    Strike,
    Strong,
    Text,
)

MOST_FORMULAS = 500
_MOST_NESTED = 12
_WRAPPED = {"em": Emphasis, "strong": Strong, "s": Strike}
_NUMBERED = re.compile(r"[\[［【]\^?[0-9０-９]{1,9}[\]］】]")
_LINKED = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


class Display(Struct, frozen=True):
    """A formula on a line of its own, in the midst of a paragraph."""

    latex: str


class _Open(Struct):
    kind: str
    content: list[Inline | Display]
    url: str = ""
    label: str = ""


def plain(content: Sequence[Inline]) -> str:
    """The words of it."""
    said: list[str] = []
    for inline in content:
        match inline:
            case Text(text) | Code(text):
                said.append(text)
            case Picture(alt=text) | Maths(text):
                said.append(text)
            case Break():
                said.append(" ")
            case NoteMark():
                pass
            case _:
                said.append(plain(inline.content))
    return "".join(said)


class Inlines:
    """Makes the tree of lines. `anchors`: those of the document's headings. `defined`: labels of its own notes;
    `in_line`: the notes that stand in a line, by number."""

    def __init__(
        self,
        notes: Notes,
        *,
        images: Mapping[str, bytes],
        anchors: Mapping[str, str],
        defined: frozenset[str],
        in_line: Mapping[int, Sequence[Token]],
    ) -> None:
        self._notes = notes
        self._in_line = in_line
        self._images = images
        self._anchors = anchors
        self._defined = defined
        self._formulas = 0
        self.remote = 0
        """Pictures of the web. They are not fetched: a link stands in the place of each."""

    def is_formula(self) -> bool:
        """Whether one more formula may be set as one. The rest are shown as their source."""
        self._formulas += 1
        return self._formulas <= MOST_FORMULAS

    def content(self, tokens: Sequence[Token], *, marked: bool = True) -> tuple[Inline, ...]:
        """A line whose formulas all stand inside it."""
        return tuple(
            Maths(part.latex) if isinstance(part, Display) else part for part in self.parts(tokens, marked=marked)
        )

    def parts(self, tokens: Sequence[Token], *, marked: bool = True) -> list[Inline | Display]:
        """`marked`: markers in it may name notes, as they may not in a list of sources or in a note."""
        opened = [_Open("", [])]
        text: list[str] = []
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "text":
                text.append(token.content)
                continue
            if kind == "softbreak" and (marked or not _is_numbered(tokens, at + 1)):
                text.append(_joint(tokens, at))
                continue
            self._flush(text, opened, marked=marked)
            if kind.endswith("_open"):
                self._open(token, opened)
            elif kind.endswith("_close"):
                self._close(opened, marked=marked)
            else:
                opened[-1].content += self._leaf(token, marked=marked)
        self._flush(text, opened, marked=marked)
        while len(opened) > 1:
            self._close(opened, marked=marked)
        return _trimmed(opened[0].content)

    def _flush(self, text: list[str], opened: list[_Open], *, marked: bool) -> None:
        said = "".join(text)
        text.clear()
        if not said:
            return
        if any(part.kind == "a" for part in opened):
            opened[-1].content.append(Text(said))
        elif marked:
            opened[-1].content += self._notes.marked(said, self._defined)
        else:
            opened[-1].content += words(said)

    def _open(self, token: Token, opened: list[_Open]) -> None:
        if token.tag == "a":
            label = token.meta.get("label", "") if token.meta else ""
            opened.append(_Open("a", [], url=str(token.attrGet("href") or ""), label=str(label)))
        else:
            # Deeper than this nothing is told apart any more: it goes into what it stands in.
            opened.append(_Open(token.tag if len(opened) <= _MOST_NESTED else "", []))

    def _close(self, opened: list[_Open], *, marked: bool) -> None:
        done = opened.pop()
        content: tuple[Inline, ...] = tuple(
            Maths(part.latex) if isinstance(part, Display) else part for part in _trimmed(done.content)
        )
        wrap = _WRAPPED.get(done.kind)
        if wrap is not None:
            opened[-1].content += [wrap(content)] if content else []
        elif done.kind == "a":
            opened[-1].content += self._link(done, content, marked=marked)
        else:
            opened[-1].content += done.content

    def _link(self, link: _Open, content: tuple[Inline, ...], *, marked: bool) -> tuple[Inline, ...]:
        """As a link if it leads to the web, to a mailbox or to a heading. `[1]` that the text defines is a note."""
        url = self._address(link.url)
        if url is None:
            return content
        content = tuple(inner for part in content for inner in (part.content if isinstance(part, Link) else (part,)))
        if url.startswith("mailto:") and content == (Text(url),):
            content = (Text(url.removeprefix("mailto:")),)
        if marked and link.label.isdecimal() and plain(content) == link.label:
            return (self._notes.mark(f"link-{link.label}", (Paragraph((Link(url, (Text(url),)),)),)),)
        return (Link(url, content or (Text(url),)),)

    def _address(self, url: str) -> str | None:
        if url.startswith("#"):
            anchor = self._anchors.get(unicodedata.normalize("NFC", unquote(url[1:])).lower())
            return None if anchor is None else f"#{anchor}"
        return url if _LINKED.match(url) else None

    def _leaf(self, token: Token, *, marked: bool) -> Iterator[Inline | Display]:
        match token.type:
            case "code_inline":
                yield Code(token.content)
            case "hardbreak" | "softbreak":
                yield Break()
            case "image":
                yield self._picture(token)
            case "math_inline" | "math_inline_double":
                latex = token.content.strip()
                if not self.is_formula():
                    yield Code(latex)
                else:
                    yield Maths(latex) if token.type == "math_inline" else Display(latex)
            case "footnote_ref":
                yield from self._reference(token, marked=marked)
            case _ if token.content:
                yield Text(token.content)
            case _:
                pass

    def _reference(self, token: Token, *, marked: bool) -> Iterator[Inline]:
        """To a note by its label, or a note that stands in the line itself (`^[…]`), which has none."""
        label: str | None = token.meta.get("label")
        if label is not None and marked:
            yield self._notes.mark(label)
        elif label is not None:
            yield Text(f"[{label}]")
        else:
            number: int = token.meta["id"]
            content = self.content(self._in_line.get(number, ()), marked=False)
            if marked:
                yield self._notes.mark(f"line-{number}", (Paragraph(content),))
            else:
                yield from (Text(" ("), *content, Text(")"))

    def _picture(self, token: Token) -> Inline:
        alt = " ".join(plain(self.content(token.children or (), marked=False)).split())
        source = str(token.attrGet("src") or "")
        name = picture_name(source)
        if name is None and source.lower().startswith("https://"):
            self.remote += 1
            return Link(source, (Text(alt or source),))
        if name is None:
            return Text(alt)
        known = next((key for key in (name, name[1:]) if key in self._images), name)
        return Picture(known, alt)


def _joint(tokens: Sequence[Token], at: int) -> str:
    """Between two lines of one paragraph stands a space, but not in a script that has none."""
    before = tokens[at - 1].content[-1:] if at else ""
    after = tokens[at + 1].content[:1] if at + 1 < len(tokens) else ""
    return "" if before and after and is_cjk(before) and is_cjk(after) else " "


def _is_numbered(tokens: Sequence[Token], at: int) -> bool:
    """Whether the next line is one more entry of a list of sources."""
    return at < len(tokens) and _NUMBERED.match(tokens[at].content) is not None


def _trimmed(content: list[Inline | Display]) -> list[Inline | Display]:
    """Texts that lie side by side as one, and no space before the mark of a note or where a line ends or begins."""
    joined: list[Inline | Display] = []
    for part in content:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text):
            joined[-1] = Text(last.text + part.text)
        elif isinstance(part, Text) and isinstance(last, Break):
            joined.append(Text(part.text.lstrip(" ")))
        elif isinstance(part, NoteMark | Break) and isinstance(last, Text):
            joined[-1] = Text(last.text.rstrip(" "))
            joined.append(part)
        elif not isinstance(part, Text) or part.text:
            joined.append(part)
    return [part for part in joined if not isinstance(part, Text) or part.text]
