"""Markdown as a document tree. Pure: it reads nothing but the text and what came with it.

No text is lost on the way: blocks that are nested too deep are flattened, unknown markup stays text, a note without a
reference is printed at the end. Rows of a table beyond the limit are counted.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from markdown_it.token import Token
from msgspec import Struct

from footnote.documents.images import image_paths
from footnote.documents.languages import callout_title, chinese_variant, detect_language
from footnote.documents.markdown.inlines import Display, Inlines, plain_text
from footnote.documents.markdown.notes import Notes, is_source_entry, is_sources_heading
from footnote.documents.markdown.parsing import parse_tokens
from footnote.documents.markdown.proof_marks import mark_statements, proof_line
from footnote.documents.markdown.statements import label_statements
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
    PlainText,
    Quotation,
    Strong,
    Table,
    ThematicBreak,
)
from footnote.sandbox.jobs import MAX_SOURCE_BYTES, ConvertDocument, DoubtfulStatement, JobRefused
from footnote.text.sentences import Span

__all__ = ["image_paths", "parse_document"]

_MAX_NESTING = 12
_MAX_LIST_NUMBER = 999_999_999

_FRONT_MATTER = re.compile(
    r"---[ \t]*+\n((?>[ \t]*+(?:[\w-]++[ \t]*+:.*|#.*|-[ \t].*)?\n|[ \t]++\S.*\n){0,200}?)(?:---|\.\.\.)[ \t]*+(?:\n|$)"
)
_ENTRY = re.compile(r"(?<![\w-])([\w-]++)[ \t]*+:(.*)$", re.MULTILINE)
# Characters that neither XML nor a font can represent.
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKDOWN_FENCE = re.compile(r"```[ \t]*(?:markdown|md)[ \t]*$", re.IGNORECASE)
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$")
_CODE_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")
_CALLOUT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
_TASK = re.compile(r"\[([ xX])\](?:\s|$)")


def parse_document(job: ConvertDocument) -> Document | JobRefused:
    """The document tree, or why the text is refused."""
    if len(job.markdown) > MAX_SOURCE_BYTES or len(job.markdown.encode(errors="replace")) > MAX_SOURCE_BYTES:
        megabytes = MAX_SOURCE_BYTES // 1_000_000
        return JobRefused(
            f"{job.filename} is larger than {megabytes} MB; split it, or leave the longest tables out.",
            code="convert_too_large",
            params={"name": job.filename, "max": MAX_SOURCE_BYTES},
        )
    doubtful = job.proof.doubtful if job.proof else ()
    clean, spans = _clean_spans(job.markdown, doubtful)
    unwrapped = _unwrap_fence(clean)
    about, markdown = _front_matter(unwrapped)
    language = _language(job.language or about.get("lang") or about.get("language"), markdown)
    tokens, env = parse_tokens(markdown)
    if spans:
        start = len(unwrapped) - len(markdown)
        if unwrapped is not clean:
            start += clean.index("\n", clean.index("```")) + 1
        label_statements(tokens, markdown, [Span(span.start - start, span.end - start) for span in spans])
    anchors = _anchors(tokens)
    notes = Notes(job.sources, language)
    footnotes: Mapping[str, Mapping[int | str, Mapping[str, Sequence[Token]]]] = env.get("footnotes", {})
    inlines = Inlines(
        notes,
        images=job.images,
        anchors={slug: slug for slug in anchors.values()},
        note_labels=frozenset(str(token.meta["label"]) for token in tokens if token.type == "footnote_reference_open"),
        inline_notes={
            int(number): note["tokens"] for number, note in footnotes.get("list", {}).items() if "tokens" in note
        },
    )
    blocks = _TreeBuilder(inlines, notes, anchors, language).build_blocks(tokens)
    for label, content in notes.unreferenced_notes():
        blocks += _labelled_note(label, content)
    document = Document(
        title=about.get("title") or _first_heading(blocks) or PurePosixPath(job.filename).stem,
        language=language,
        blocks=tuple(blocks),
        notes=notes.referenced_notes(),
        author=about.get("author") or None,
        date=about.get("date") or None,
        proof=proof_line(job.proof.counts, language) if job.proof else "",
        warnings=_remote_image_warnings(inlines.remote_images),
    )
    texts = [clean[span.start : span.end] for span in spans]
    return mark_statements(document, doubtful, texts, job.sources.keys()) if doubtful else document


def _remote_image_warnings(remote: int) -> tuple[str, ...]:
    if not remote:
        return ()
    some = "One picture of the web is not fetched" if remote == 1 else f"{remote} pictures of the web are not fetched"
    return (f"{some}: a link stands in {'its place' if remote == 1 else 'the place of each'}.",)


def _clean(markdown: str) -> str:
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATE.sub("\ufffd", _NO_CHARACTER.sub("", text))
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _clean_spans(markdown: str, statements: Sequence[DoubtfulStatement]) -> tuple[str, list[Span]]:
    """The clean text, and where the statements are in it: without overlap, so that later ones begin where earlier ones
    end."""
    pieces: list[str] = []
    spans: list[Span] = []
    at = length = 0

    def append_until(offset: int) -> int:
        nonlocal at, length
        offset = min(max(offset, at), len(markdown))
        if markdown[offset - 1 : offset + 1] == "\r\n":
            offset += 1
        piece = _clean(markdown[at:offset]) if at == 0 else _clean(f"\n{markdown[at:offset]}")[1:]
        pieces.append(piece)
        at, length = offset, length + len(piece)
        return length

    for statement in statements:
        start = append_until(statement.start)
        spans.append(Span(start, append_until(statement.end)))
    append_until(len(markdown))
    return "".join(pieces), spans


def _unwrap_fence(markdown: str) -> str:
    """Removes a code fence around the whole text, which models often add."""
    lines = markdown.strip().split("\n")
    if not _MARKDOWN_FENCE.match(lines[0]) or len(lines) < 2 or lines[-1].strip() != "```":
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
    """The entries between two rules at the beginning, and the rest of the text.

    All lines between the rules must look like entries: a text may also begin with a thematic break.
    """
    found = _FRONT_MATTER.match(markdown)
    if found is None or not found[1].strip():
        return {}, markdown
    entries = {key.lower(): value.strip().strip("'\"").strip() for key, value in _ENTRY.findall(found[1])}
    return entries, markdown[found.end() :]


def _language(given: str | None, markdown: str) -> str:
    if given is None or not _LANGUAGE_TAG.match(given):
        return detect_language(markdown)
    tag = given.replace("_", "-")
    chinese = {"zh": None, "zh-cn": "zh-Hans", "zh-sg": "zh-Hans", "zh-tw": "zh-Hant", "zh-hk": "zh-Hant"}
    return chinese.get(tag.lower(), tag) or chinese_variant(markdown)


def _first_heading(blocks: Sequence[Block]) -> str:
    titles = (" ".join(plain_text(block.content).split()) for block in blocks if isinstance(block, Heading))
    return next(filter(None, titles), "")


def _anchors(tokens: Sequence[Token]) -> dict[int, str]:
    """The anchors of the headings, by the index of the heading's token."""
    anchors: dict[int, str] = {}
    used: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = "".join(child.content for child in tokens[at + 1].children or ())
            slug = _NOT_IN_ANCHOR.sub("", title.strip().lower()).replace(" ", "-") or "section"
            anchor = slug
            while anchor in used:
                used[slug] += 1
                anchor = f"{slug}-{used[slug]}"
            used[anchor] = 0
            anchors[at + 1] = anchor
    return anchors


def _labelled_note(label: str, content: tuple[Block, ...]) -> tuple[Block, ...]:
    """A note without a reference, as it is printed at the end."""
    # `[1]` alone would mean a source of the session.
    mark = f"[^{label}]" if label.isdecimal() else f"[{label}]"
    if content and isinstance(content[0], Paragraph):
        return (Paragraph((PlainText(f"{mark} "), *content[0].content)), *content[1:])
    return (Paragraph((PlainText(mark),)), *content)


class _OpenBlock(Struct):
    """An open block. `kind` empty: it is nested too deep, and its content goes into the block around it."""

    kind: str
    blocks: list[Block]
    items: list[Item]
    start: int = 1
    tight: bool = True
    label: str = ""


class _TreeBuilder:
    """Builds the tree in one pass over the tokens."""

    def __init__(self, inlines: Inlines, notes: Notes, anchors: Mapping[int, str], language: str) -> None:
        self._inlines = inlines
        self._language = language
        self._notes = notes
        self._anchors = anchors
        self._open = [_OpenBlock("", [], [])]
        self._sources_level = 0
        """The level of the heading of the current list of sources; 0: there is none."""
        self._in_note = False

    def build_blocks(self, tokens: Sequence[Token]) -> list[Block]:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(place for place in range(at, len(tokens)) if tokens[place].type == "table_close")
                self._append(self._table(tokens[at:end]))
                at = end
            elif token.type == "inline":
                self._add_inline(tokens[at - 1], at, token)
            elif token.nesting > 0:
                self._open_block(token)
            elif token.nesting < 0:
                self._close_block(token)
            else:
                self._append(self._leaf(token))
            at += 1
        return self._open[0].blocks

    def _append(self, *blocks: Block) -> None:
        self._open[-1].blocks += blocks

    def _open_block(self, token: Token) -> None:
        match token.type:
            case "paragraph_open":
                if not token.hidden:
                    self._open[-1].tight = False
            case "list_item_open":
                self._open.append(_OpenBlock(token.type if self._open[-1].kind else "", [], []))
            case "blockquote_open" | "bullet_list_open":
                self._open.append(_OpenBlock(token.type if self._depth() < _MAX_NESTING else "", [], []))
            case "ordered_list_open":
                start = min(int(token.attrGet("start") or 1) if token.attrGet("start") != 0 else 0, _MAX_LIST_NUMBER)
                kind = token.type if self._depth() < _MAX_NESTING else ""
                self._open.append(_OpenBlock(kind, [], [], start=start))
            case "footnote_reference_open":
                self._open.append(_OpenBlock(token.type, [], [], label=str(token.meta["label"])))
                self._in_note = True
            case _:
                pass

    def _depth(self) -> int:
        return sum(1 for part in self._open if part.kind.endswith(("list_open", "quote_open")))

    def _close_block(self, token: Token) -> None:
        if token.type not in _CONTAINERS:
            return
        closed = self._open.pop()
        content = tuple(closed.blocks)
        match closed.kind:
            case "blockquote_open":
                self._append(Quotation(_with_callout_title(content, self._language)))
            case "list_item_open":
                self._open[-1].items.append(_item(content))
                self._open[-1].tight = self._open[-1].tight and closed.tight
            case "bullet_list_open":
                self._append(Bullets(tuple(closed.items), tight=closed.tight))
            case "ordered_list_open":
                self._append(Numbers(tuple(closed.items), start=closed.start, tight=closed.tight))
            case "footnote_reference_open":
                self._in_note = False
                self._notes.define(closed.label, content)
            case _:
                self._append(*content)

    def _add_inline(self, opening: Token, at: int, token: Token) -> None:
        children = token.children or ()
        if opening.type == "heading_open":
            level = int(opening.tag[1])
            content = self._inlines.content(children)
            if not self._sources_level or level <= self._sources_level:
                self._sources_level = level if is_sources_heading(plain_text(content)) else 0
            self._append(Heading(level, content, self._anchors[at]))
            return
        is_listed = self._in_note or bool(self._sources_level) or is_source_entry(token.content)
        parts = self._inlines.parts(children, link_notes=not is_listed)
        self._append(*_paragraphs(parts))
        if not self._sources_level and len(token.content) < _MAX_LABEL_CHARS and is_sources_heading(token.content):
            self._sources_level = _LABEL_SOURCES_LEVEL

    def _leaf(self, token: Token) -> Block:
        match token.type:
            case "hr":
                return ThematicBreak()
            case "math_block":
                return self._formula(token.content)
            case "fence" if token.info.strip().lower() == "math":
                return self._formula(token.content)
            case _:
                word = _CODE_LANGUAGE.search(token.info)
                return CodeBlock(token.content.removesuffix("\n"), word.group().strip(".").lower() if word else "")

    def _formula(self, latex: str) -> Block:
        latex = latex.strip()
        return MathsBlock(latex) if self._inlines.allow_formula() else CodeBlock(latex, "latex")

    def _table(self, tokens: Sequence[Token]) -> Table:
        rows: list[list[tuple[Inline, ...]]] = []
        alignments: list[Alignment] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                alignments.append(_ALIGNMENTS.get(str(token.attrGet("style") or "")))
            elif token.type == "inline":
                link_notes = not (self._in_note or self._sources_level)
                rows[-1].append(self._inlines.content(token.children or (), link_notes=link_notes))
        return Table(
            head=tuple(rows[0]),
            rows=tuple(map(tuple, rows[1:])),
            alignments=tuple(alignments),
            left_out=int(tokens[0].meta.get("left_out", 0)),
        )


_MAX_LABEL_CHARS = 60
_LABEL_SOURCES_LEVEL = 6
"""The level of a label that is not a heading: any heading ends its section."""
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
    """`[ ]` or `[x]` at the beginning makes an item of a task list."""
    first = content[0] if content else None
    if not isinstance(first, Paragraph) or not first.content or not isinstance(first.content[0], PlainText):
        return Item(content)
    task = _TASK.match(first.content[0].text)
    if task is None:
        return Item(content)
    rest = first.content[0].text[task.end() :].lstrip()
    inlines = ((PlainText(rest, first.content[0].statement),) if rest else ()) + first.content[1:]
    return Item((Paragraph(inlines), *content[1:]), checked=task[1] != " ")


def _with_callout_title(content: tuple[Block, ...], language: str) -> tuple[Block, ...]:
    """A quotation that begins with `[!NOTE]` is a callout, and gets a title."""
    first = content[0] if content else None
    if not isinstance(first, Paragraph) or not first.content or not isinstance(first.content[0], PlainText):
        return content
    callout = _CALLOUT.match(first.content[0].text)
    if callout is None:
        return content
    name = Paragraph((Strong((PlainText(callout_title(language, callout[1].lower())),)),))
    rest = first.content[0].text[callout.end() :]
    inlines = ((PlainText(rest, first.content[0].statement),) if rest else ()) + first.content[1:]
    if inlines and isinstance(inlines[0], Break):
        inlines = inlines[1:]
    return (name, *((Paragraph(inlines),) if inlines else ()), *content[1:])


def _paragraphs(parts: Sequence[Inline | Display]) -> Iterator[Block]:
    """A paragraph, split at displayed formulas."""
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
    if content and isinstance(content[0], PlainText):
        content[0] = PlainText(content[0].text.lstrip(" "), content[0].statement)
    if content and isinstance(content[-1], PlainText):
        content[-1] = PlainText(content[-1].text.rstrip(" "), content[-1].statement)
    inlines = tuple(part for part in content if not isinstance(part, PlainText) or part.text)
    if inlines:
        yield Paragraph(inlines)
