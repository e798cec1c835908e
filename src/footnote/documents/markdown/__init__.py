"""Markdown as a document tree. Pure: it reads nothing but the text and what came with it.

No text is lost on the way: what is nested too deep is flattened, what is no markup is words, a note that nothing
refers to is printed at the end. Rows of a table beyond the limit are counted.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from markdown_it.token import Token
from msgspec import Struct

from footnote.documents.addresses import picture_names
from footnote.documents.markdown.inlines import Display, Inlines, plain
from footnote.documents.markdown.notes import Notes, is_entry, lists_sources
from footnote.documents.markdown.parsing import tokens_of
from footnote.documents.scripts import chinese_of, language_of
from footnote.documents.tree import (
    Alignment,
    Block,
    Break,
    Bullets,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Item,
    MathsBlock,
    Numbers,
    Paragraph,
    Quotation,
    Rule,
    Strong,
    Table,
    Text,
)
from footnote.documents.wording import called
from footnote.sandbox.jobs import MOST_SOURCE_BYTES, Conversion, Refused

__all__ = ["document_of", "picture_names"]

_MOST_NESTED = 12
_LAST_NUMBER = 999_999_999

_FRONT_MATTER = re.compile(
    r"---[ \t]*+\n((?>[ \t]*+(?:[\w-]++[ \t]*+:.*|#.*|-[ \t].*)?\n|[ \t]++\S.*\n){0,200}?)(?:---|\.\.\.)[ \t]*+(?:\n|$)"
)
_ENTRY = re.compile(r"(?<![\w-])([\w-]++)[ \t]*+:(.*)$", re.MULTILINE)
# Neither XML nor a font has them.
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WRAPPING = re.compile(r"```[ \t]*(?:markdown|md)[ \t]*$", re.IGNORECASE)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$")
_CODE_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")
_CALL = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
_TASK = re.compile(r"\[([ xX])\](?:\s|$)")


def document_of(conversion: Conversion) -> Document | Refused:
    """The tree of a text, or why there is none."""
    if (
        len(conversion.markdown) > MOST_SOURCE_BYTES
        or len(conversion.markdown.encode(errors="replace")) > MOST_SOURCE_BYTES
    ):
        most = MOST_SOURCE_BYTES // 1_000_000
        return Refused(f"{conversion.filename} is larger than {most} MB; split it, or leave the longest tables out.")
    about, markdown = _front_matter(_unwrapped(_clean(conversion.markdown)))
    language = _language(conversion.language or about.get("lang") or about.get("language"), markdown)
    tokens, env = tokens_of(markdown)
    anchors = _anchors(tokens)
    notes = Notes(conversion.sources, language)
    footnotes: Mapping[str, Mapping[int | str, Mapping[str, Sequence[Token]]]] = env.get("footnotes", {})
    inlines = Inlines(
        notes,
        images=conversion.images,
        anchors={slug: slug for slug in anchors.values()},
        defined=frozenset(str(token.meta["label"]) for token in tokens if token.type == "footnote_reference_open"),
        in_line={int(number): note["tokens"] for number, note in footnotes.get("list", {}).items() if "tokens" in note},
    )
    blocks = _Reader(inlines, notes, anchors, language).blocks(tokens)
    for label, content in notes.unmarked():
        blocks += _with_label(label, content)
    return Document(
        title=about.get("title") or _first_heading(blocks) or PurePosixPath(conversion.filename).stem,
        language=language,
        blocks=tuple(blocks),
        notes=notes.noted(),
        author=about.get("author") or None,
        date=about.get("date") or None,
        remarks=_remarks(inlines.remote),
    )


def _remarks(remote: int) -> tuple[str, ...]:
    if not remote:
        return ()
    some = "One picture of the web is not fetched" if remote == 1 else f"{remote} pictures of the web are not fetched"
    return (f"{some}: a link stands in {'its place' if remote == 1 else 'the place of each'}.",)


def _clean(markdown: str) -> str:
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATE.sub("\ufffd", _NO_CHARACTER.sub("", text))
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _unwrapped(markdown: str) -> str:
    """A text that is wholly one piece of markdown code, as models like to answer, without what is around it."""
    lines = markdown.strip().split("\n")
    if not _WRAPPING.match(lines[0]) or len(lines) < 2 or lines[-1].strip() != "```":
        return markdown
    inside = False
    for line in lines[1:-1]:
        fence = line.strip()
        if fence.startswith("```"):
            bare = fence == "```"
            if bare and not inside:
                return markdown
            inside = not bare
    return markdown if inside else "\n".join(lines[1:-1])


def _front_matter(markdown: str) -> tuple[dict[str, str], str]:
    """What the lines between two rules at the beginning say of the document, and the rest of it.

    A text that begins with a rule has no such lines: all of them must look like it.
    """
    found = _FRONT_MATTER.match(markdown)
    if found is None or not found[1].strip():
        return {}, markdown
    entries = {key.lower(): value.strip().strip("'\"").strip() for key, value in _ENTRY.findall(found[1])}
    return entries, markdown[found.end() :]


def _language(given: str | None, markdown: str) -> str:
    if given is None or not _LANGUAGE_TAG.match(given):
        return language_of(markdown)
    tag = given.replace("_", "-")
    chinese = {"zh": None, "zh-cn": "zh-Hans", "zh-sg": "zh-Hans", "zh-tw": "zh-Hant", "zh-hk": "zh-Hant"}
    return chinese.get(tag.lower(), tag) or chinese_of(markdown)


def _first_heading(blocks: Sequence[Block]) -> str:
    said = (" ".join(plain(block.content).split()) for block in blocks if isinstance(block, Heading))
    return next(filter(None, said), "")


def _anchors(tokens: Sequence[Token]) -> dict[int, str]:
    """The anchors of the headings, by the place of the heading's line among the tokens."""
    anchors: dict[int, str] = {}
    taken: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            said = "".join(child.content for child in tokens[at + 1].children or ())
            slug = _NOT_IN_ANCHOR.sub("", said.strip().lower()).replace(" ", "-") or "section"
            anchor = slug
            while anchor in taken:
                taken[slug] += 1
                anchor = f"{slug}-{taken[slug]}"
            taken[anchor] = 0
            anchors[at + 1] = anchor
    return anchors


def _with_label(label: str, content: tuple[Block, ...]) -> tuple[Block, ...]:
    """A note that nothing refers to, as it is printed at the end."""
    # `[1]` alone would be a source of the session.
    shown = f"[^{label}]" if label.isdecimal() else f"[{label}]"
    if content and isinstance(content[0], Paragraph):
        return (Paragraph((Text(f"{shown} "), *content[0].content)), *content[1:])
    return (Paragraph((Text(shown),)), *content)


class _Open(Struct):
    """What has begun and not ended. `kind` empty: it is nested so deep that its content goes into what it stands in."""

    kind: str
    blocks: list[Block]
    items: list[Item]
    start: int = 1
    tight: bool = True
    label: str = ""


class _Reader:
    """Goes through the tokens once."""

    def __init__(self, inlines: Inlines, notes: Notes, anchors: Mapping[int, str], language: str) -> None:
        self._inlines = inlines
        self._language = language
        self._notes = notes
        self._anchors = anchors
        self._open = [_Open("", [], [])]
        self._listing = 0
        """The level of the heading under which sources are listed; 0: none are."""
        self._noting = False

    def blocks(self, tokens: Sequence[Token]) -> list[Block]:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(place for place in range(at, len(tokens)) if tokens[place].type == "table_close")
                self._put(self._table(tokens[at:end]))
                at = end
            elif token.type == "inline":
                self._line(tokens[at - 1], at, token)
            elif token.nesting > 0:
                self._begin(token)
            elif token.nesting < 0:
                self._end(token)
            else:
                self._put(self._leaf(token))
            at += 1
        return self._open[0].blocks

    def _put(self, *blocks: Block) -> None:
        self._open[-1].blocks += blocks

    def _begin(self, token: Token) -> None:
        match token.type:
            case "paragraph_open":
                if not token.hidden:
                    self._open[-1].tight = False
            case "list_item_open":
                self._open.append(_Open(token.type if self._open[-1].kind else "", [], []))
            case "blockquote_open" | "bullet_list_open":
                self._open.append(_Open(token.type if self._depth() < _MOST_NESTED else "", [], []))
            case "ordered_list_open":
                start = min(int(token.attrGet("start") or 1) if token.attrGet("start") != 0 else 0, _LAST_NUMBER)
                kind = token.type if self._depth() < _MOST_NESTED else ""
                self._open.append(_Open(kind, [], [], start=start))
            case "footnote_reference_open":
                self._open.append(_Open(token.type, [], [], label=str(token.meta["label"])))
                self._noting = True
            case _:
                pass

    def _depth(self) -> int:
        return sum(1 for part in self._open if part.kind.endswith(("list_open", "quote_open")))

    def _end(self, token: Token) -> None:
        if token.type not in _CONTAINERS:
            return
        done = self._open.pop()
        content = tuple(done.blocks)
        match done.kind:
            case "blockquote_open":
                self._put(Quotation(_called(content, self._language)))
            case "list_item_open":
                self._open[-1].items.append(_item(content))
                self._open[-1].tight = self._open[-1].tight and done.tight
            case "bullet_list_open":
                self._put(Bullets(tuple(done.items), tight=done.tight))
            case "ordered_list_open":
                self._put(Numbers(tuple(done.items), start=done.start, tight=done.tight))
            case "footnote_reference_open":
                self._noting = False
                self._notes.define(done.label, content)
            case _:
                self._put(*content)

    def _line(self, opening: Token, at: int, token: Token) -> None:
        children = token.children or ()
        if opening.type == "heading_open":
            level = int(opening.tag[1])
            content = self._inlines.content(children)
            if not self._listing or level <= self._listing:
                self._listing = level if lists_sources(plain(content)) else 0
            self._put(Heading(level, content, self._anchors[at]))
            return
        listed = self._noting or bool(self._listing) or is_entry(token.content)
        parts = self._inlines.parts(children, marked=not listed)
        self._put(*_paragraphs(parts))
        if not self._listing and len(token.content) < _LONGEST_LABEL and lists_sources(token.content):
            self._listing = _LISTED_BY_LINE

    def _leaf(self, token: Token) -> Block:
        match token.type:
            case "hr":
                return Rule()
            case "math_block":
                return self._formula(token.content)
            case "fence" if token.info.strip().lower() == "math":
                return self._formula(token.content)
            case _:
                word = _CODE_LANGUAGE.search(token.info)
                return CodeBlock(token.content.removesuffix("\n"), word.group().strip(".").lower() if word else "")

    def _formula(self, latex: str) -> Block:
        latex = latex.strip()
        return MathsBlock(latex) if self._inlines.is_formula() else CodeBlock(latex, "latex")

    def _table(self, tokens: Sequence[Token]) -> Table:
        rows: list[list[tuple[Inline, ...]]] = []
        alignments: list[Alignment] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                alignments.append(_ALIGNMENTS.get(str(token.attrGet("style") or "")))
            elif token.type == "inline":
                marked = not (self._noting or self._listing)
                rows[-1].append(self._inlines.content(token.children or (), marked=marked))
        return Table(
            head=tuple(rows[0]),
            rows=tuple(map(tuple, rows[1:])),
            alignments=tuple(alignments),
            left_out=int(tokens[0].meta.get("left_out", 0)),
        )


_LONGEST_LABEL = 60
_LISTED_BY_LINE = 6
"""A label that is no heading holds until any heading comes."""
_CONTAINERS = (
    "blockquote_close",
    "bullet_list_close",
    "ordered_list_close",
    "list_item_close",
    "footnote_reference_close",
)
_ALIGNMENTS: Mapping[str, Alignment] = {
    "text-align:left": "left",
    "text-align:center": "center",
    "text-align:right": "right",
}


def _item(content: tuple[Block, ...]) -> Item:
    """`[ ]` and `[x]` at the beginning make it one of a task list."""
    first = content[0] if content else None
    if not isinstance(first, Paragraph) or not first.content or not isinstance(first.content[0], Text):
        return Item(content)
    task = _TASK.match(first.content[0].text)
    if task is None:
        return Item(content)
    rest = first.content[0].text[task.end() :].lstrip()
    said = ((Text(rest),) if rest else ()) + first.content[1:]
    return Item((Paragraph(said), *content[1:]), checked=task[1] != " ")


def _called(content: tuple[Block, ...], language: str) -> tuple[Block, ...]:
    """A quotation that begins with `[!NOTE]` is a note, a tip or a warning, and says so."""
    first = content[0] if content else None
    if not isinstance(first, Paragraph) or not first.content or not isinstance(first.content[0], Text):
        return content
    call = _CALL.match(first.content[0].text)
    if call is None:
        return content
    name = Paragraph((Strong((Text(called(language, call[1].lower())),)),))
    rest = first.content[0].text[call.end() :]
    said = ((Text(rest),) if rest else ()) + first.content[1:]
    if said and isinstance(said[0], Break):
        said = said[1:]
    return (name, *((Paragraph(said),) if said else ()), *content[1:])


def _paragraphs(parts: Sequence[Inline | Display]) -> Iterator[Block]:
    """A paragraph, parted where a formula wants a line of its own."""
    content: list[Inline] = []
    for part in parts:
        if isinstance(part, Display):
            yield from _paragraph(content)
            yield MathsBlock(part.latex)
            content = []
        else:
            content.append(part)
    yield from _paragraph(content)


def _paragraph(content: list[Inline]) -> Iterator[Block]:
    if content and isinstance(content[0], Text):
        content[0] = Text(content[0].text.lstrip(" "))
    if content and isinstance(content[-1], Text):
        content[-1] = Text(content[-1].text.rstrip(" "))
    said = tuple(part for part in content if not isinstance(part, Text) or part.text)
    if said:
        yield Paragraph(said)
