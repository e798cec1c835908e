"""Markdown: its lines and blocks with their offsets, foreign text escaped for it, and the words that a reader sees.

The line reader knows what an answer, a stored page and a growing stream of text have in common: fences, headings, list
items, table rows, rules, quotations and paragraphs. Inline markup stays in the text, because every caller needs offsets
into it. `documents/markdown` uses markdown-it instead: a conversion needs the whole tree and no offsets.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

LineKind: TypeAlias = Literal["blank", "fence", "code", "heading", "row", "rule", "item", "text"]
"""`fence`: a line that opens or closes a fenced code block. `rule`: a thematic break, the line below the header of a
table, or the underline of a heading."""
BlockKind: TypeAlias = Literal["paragraph", "item", "heading", "row", "code"]

_INDENT = re.compile(r"[ \t\u00a0\u3000]*+")
_CODE_INDENT = re.compile(r" {4}|\t")
_LIST_INDENT = re.compile(r" {2}|\t")
_QUOTE = re.compile(r" {0,3}>[ ]?(?:[ ]{0,3}>[ ]?)*")
_INDENTED_QUOTE = re.compile(r"[ \t]*+>[ ]?(?:[ ]{0,3}>[ ]?)*")
_HEADING = re.compile(r"(#{1,6}+)(?:\s++|$)")
_ITEM = re.compile(r"(?:[-*+•‣◦]|\d{1,3}[.)、])(?:\s++(?:\[[ xX]\]\s++)?|$)")
"""A number has at most three digits: a year at the beginning of a line is no list number."""
_FENCE = re.compile(r"(`{3,}+)[^`]*+$|(~{3,}+)")
_RULE = re.compile(
    r"(?:\|[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+|:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+"
    r"|={2,}+|[*_-](?:[ \t]*+[*_-]){2,}+)\s*+$"
)
_RULE_STARTS = frozenset("|:-=*_")
_HAS_WORD = re.compile(r"[^\W_]")


class MarkdownLine(Struct, frozen=True, gc=False):
    """A line by its offsets, from `start` to `end`, without the line break.

    `body` is the offset after the marks of a quotation, `content` the one after indentation, heading signs and the
    marker of a list item as well. `level` is that of a heading.
    """

    kind: LineKind
    start: int
    body: int
    content: int
    end: int
    is_quoted: bool = False
    level: int = 0


class LineReader:
    """Classifies the lines of one text in order. It remembers an open fence and whether a list is open.

    `indented_code`: four spaces after an empty line are code, as in CommonMark. The text of web pages and PDF files is
    read without this rule, because there an indented line is prose.
    """

    __slots__ = ("_after_blank", "_fence_is_quoted", "_indented_code", "fence", "in_list")

    def __init__(self, *, indented_code: bool) -> None:
        self.fence = ""
        self.in_list = False
        self._indented_code = indented_code
        self._fence_is_quoted = False
        self._after_blank = True

    def read(self, line: str, start: int = 0) -> MarkdownLine:
        """`start` is the offset of the line in its text."""
        quote = self._match_quote(line)
        body = quote.end() if quote else 0
        if self.fence and self._fence_is_quoted and not quote:
            self.fence = ""  # The end of a quotation ends the code in it.
        if self.fence:
            marks = line[body:].strip()
            kind: LineKind = "fence" if marks.startswith(self.fence) and not marks.strip(self.fence[0]) else "code"
            if kind == "fence":
                self.fence = ""
            return MarkdownLine(kind, start, start + body, start + body, start + len(line), quote is not None)
        kind, content, level = self._classify(line, body, is_quoted=quote is not None)
        self._after_blank = kind in ("blank", "code", "fence")
        return MarkdownLine(kind, start, start + body, start + content, start + len(line), quote is not None, level)

    def _match_quote(self, line: str) -> re.Match[str] | None:
        if self.fence and not self._fence_is_quoted:
            return None
        return (_QUOTE if self._indented_code and not self.in_list else _INDENTED_QUOTE).match(line)

    def _classify(self, line: str, body: int, *, is_quoted: bool) -> tuple[LineKind, int, int]:
        """The kind, the offset of the content and the level of a line outside a fence."""
        indent = _INDENT.match(line, body)
        content = indent.end() if indent else body
        rest = line[content:]
        if not rest or rest.isspace():
            return "blank", content, 0
        item = _ITEM.match(rest)
        if rest[0] in _RULE_STARTS and _RULE.match(rest):
            item, kind = None, "rule"
        else:
            kind = "item" if item else "text"
        if self._after_blank and not item and not is_quoted and not _LIST_INDENT.match(line):
            self.in_list = False
        if self._indented_code and self._after_blank and not self.in_list and _CODE_INDENT.match(line, body):
            return "code", content, 0
        if item:
            self.in_list = self.in_list or not is_quoted
            content, rest = content + item.end(), rest[item.end() :]
        if rest[:1] in ("`", "~") and (fence := _FENCE.match(rest)):
            self.fence, self._fence_is_quoted = fence[1] or fence[2], is_quoted
            return "fence", content, 0
        if kind == "text" and rest[0] == "|":
            return "row", content, 0
        if kind == "text" and (heading := _HEADING.match(rest)):
            self.in_list = False
            return "heading", content + heading.end(), len(heading[1])
        return kind, content, 0


def read_lines(text: str, *, indented_code: bool) -> Iterator[MarkdownLine]:
    """Every line of a text, the blank ones too."""
    reader = LineReader(indented_code=indented_code)
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield reader.read(text[start:end], start)
        start = end + 1


class MarkdownBlock(Struct, frozen=True, gc=False):
    """A block by its offsets: `line` is the beginning of its first line, `start` that of its content, after the marker
    of a list item or the signs of a heading."""

    kind: BlockKind
    line: int
    start: int
    end: int
    is_quoted: bool = False
    level: int = 0


def read_blocks(text: str, *, indented_code: bool) -> Iterator[MarkdownBlock]:
    """The blocks of a text in order. A row and a heading are a block each; outside code, a line without a letter or
    digit ends a block and belongs to none."""
    block: MarkdownBlock | None = None
    for line in read_lines(text, indented_code=indented_code):
        end = line.start + len(text[line.start : line.end].rstrip())
        if block and block.kind == line.kind == "code":
            block = replace(block, end=end if end > line.body else block.end)
            continue
        kind = _block_kind(text, line)
        if block and kind == "paragraph" and _is_continued(block, line):
            block = replace(block, end=end)
            continue
        if block:
            yield block
        block = MarkdownBlock(kind, line.start, line.content, end, line.is_quoted, line.level) if kind else None
    if block:
        yield block


def _block_kind(text: str, line: MarkdownLine) -> BlockKind | None:
    if line.kind in ("blank", "fence", "rule") or not _HAS_WORD.search(text, line.start, line.end):
        return None
    return "paragraph" if line.kind == "text" else line.kind


def _is_continued(block: MarkdownBlock, line: MarkdownLine) -> bool:
    """Whether a line of text is another one of the paragraph or the list item before it."""
    return block.kind in ("paragraph", "item") and block.is_quoted == line.is_quoted


# Foreign text in markdown --------------------------------------------------------------------------------------------
#
# After a markdown parser has read a quotation, its text is the passage again, line by line. Characters that would make
# a link, an image, a heading, a table or HTML of it are escaped by a backslash, and so are brackets: `[3]` in a passage
# is not a footnote of the answer that quotes it.

_LINE_BREAK = re.compile(r"\r\n?|\n")
_ACTIVE = re.compile(
    r"[\[\]`]"
    r"|\\(?=[!-/:-@\[-`{-~]|$)"  # an escape, or a hard line break
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,40};)"
    r"|\$(?=[^\s\d])"  # a formula, but not a price
    r"|(?<!\s)[*~]|[*~](?!\s)"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|(?i:(?<=\bhttp)|(?<=\bhttps)|(?<=\bftp)):(?=//)"  # markdown parsers turn bare URLs into links
    r"|(?i:(?<=\bwww))\.(?=\w)"
    r"|(?<=\w)@(?=\w)"
)
_BLOCK_START = re.compile(r"(?:#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+\s*$|(?=[-:|\s]*$)[-:|])")
_ITEM_START = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_ADDRESS = re.compile(r"https?://[^\s<>]+$", re.IGNORECASE)
# Every repetition has a limit, so that a hostile text cannot make the search quadratic.
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<fence>`{1,3})(?P<code>[^`\n]{1,400})(?P=fence)"
    r"|[ \t]?[\[【［]\^?\d{1,4}(?:\s?[-–,;、，；]\s?\^?\d{1,4}){0,20}(?:†[^】\n]{0,80})?[\]】］](?!\()"
    r"|!?\[(?P<text>[^\[\]\n]{0,400})\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,200}\")?\)"
    r"|(?:\*{2,3}|~~)(?=\S)|(?<=\S)(?:\*{2,3}|~~)"
    r"|(?P<sign>(?<![^\W_])[*_]{1,2})(?=\S)(?P<content>[^*~\n]{1,400}?)(?<=\S)(?P=sign)(?![^\W_])"
)


def blockquote(text: str, number: int) -> str:
    """A passage as a markdown quotation that ends with its footnote. Lines and paragraphs are preserved."""
    lines = [_escape_line(line) for line in _LINE_BREAK.split(text.strip())]
    lines[-1] = f"{lines[-1]} [{number}]"
    return "\n".join(_quote_line(line, following) for line, following in pairwise([*lines, ""]))


def escape_inline(text: str) -> str:
    """Foreign text for use inside a line of markdown."""
    return _escape_line(" ".join(text.split()))


def markdown_link(title: str, url: str) -> str:
    """A link, or the title alone if the address is not an HTTP URL."""
    if not _ADDRESS.match(url):
        return escape_inline(title)
    return f"[{escape_inline(title)}](<{url.replace(chr(92), '%5C')}>)"


def _escape_line(line: str) -> str:
    escaped = _ACTIVE.sub(r"\\\g<0>", line.strip(" \t"))
    if _BLOCK_START.match(escaped):
        return f"\\{escaped}"
    return _ITEM_START.sub(r"\1\\\2", escaped, count=1) if _ITEM_START.match(escaped) else escaped


def _quote_line(line: str, following: str) -> str:
    if not line:
        return ">"
    # Two spaces at the end of a line are a hard line break.
    return f"> {line}  " if following else f"> {line}"


# The words of markdown -----------------------------------------------------------------------------------------------


def markdown_to_text(markdown: str) -> str:
    """The text of an excerpt, without markup, addresses and footnote markers. Line breaks stay, and so does all of the
    code between fences."""
    lines: list[str] = []
    for line in read_lines(markdown, indented_code=False):
        if line.kind == "code":
            lines.append(markdown[line.start : line.end])
        elif line.kind not in ("fence", "rule"):
            lines.append(_line_text(markdown[line.content : line.end]))
    return "\n".join(lines)


def _line_text(line: str) -> str:
    stripped = line.strip()
    if stripped.startswith("|"):
        line = " · ".join(cell.strip() for cell in stripped.strip("|").split("|"))
    return _INLINE.sub(_inline_text, line)


def _inline_text(found: re.Match[str]) -> str:
    content = found["content"]
    return found["escaped"] or found["code"] or found["text"] or (_INLINE.sub(_inline_text, content) if content else "")
