"""The markdown parser: CommonMark with tables, strikethrough, footnotes and formulas, and nothing dropped.

Raw HTML is text, except for line breaks, comments, and tags that only format text. Blocks that are nested deeper than
in any real document become paragraphs. A table ends at the limit for the rows of one document, and counts those that it
leaves out.
"""

import re
from copy import copy
from functools import cache
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as unlimited_table
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from footnote.documents.languages import is_cjk
from footnote.documents.markdown.latex import ENVIRONMENTS

MAX_TABLE_ROWS = 5000
"""Limit for all tables of one document."""

_MAX_BLOCK_NESTING = 80
_PARSER_MAX_NESTING = 100
_MAX_INLINE_NESTING = 12
"""Limit for nested brackets: a line of nothing else costs this many times its length."""
_MARKS = re.compile(r"(?:[>\s]|[-*+]\s|\d{1,9}[.)]\s)+")
_MAX_DELIMITERS = 60
"""Delimiters of emphasis that are checked for an open one."""
_TAG = re.compile(
    r"<!--.{0,1000}?-->|</?(?P<inline>sub|sup|kbd|u|mark|b|i|strong|em|span|small)(?:\s[^<>]{0,500})?>"
    r"|</?(?:div|p|center|details|summary)(?:\s[^<>]{0,500})?>",
    re.IGNORECASE | re.DOTALL,
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}
_MAX_INLINE_FORMULA_CHARS = 2000
_MAX_FORMULA_LINES = 100
# `\[3\]` and `\[sic\]` are brackets of a quotation, not formulas.
_ENVIRONMENT = re.compile(r"\\begin\{([a-z]+\*?)\}")
_FORMULA = re.compile(r"\\[A-Za-z]|[\^_=<>+]")


def parse_tokens(markdown: str) -> tuple[list[Token], dict[str, Any]]:
    """The tokens of a text, and its definitions."""
    env: dict[str, Any] = {}
    return _parser().parse(markdown, env), env


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _PARSER_MAX_NESTING, "store_labels": True})
    blocks, inlines = _BlockRules(), _InlineRules()
    parser.block, parser.inline = blocks, inlines
    parser.configure("commonmark", {"html": False, "maxNesting": _PARSER_MAX_NESTING, "store_labels": True})
    parser.enable(["table", "strikethrough"])
    # Escaped text must stay recognisable, since it is not a marker of a source.
    parser.disable(["text_join", "html_block", "html_inline"])
    footnote_plugin(parser, move_to_end=False)
    dollarmath_plugin(
        parser, allow_labels=False, allow_space=False, allow_digits=False, allow_blank_lines=False, double_inline=True
    )
    blocks.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    blocks.ruler.before("fence", "bracket_formula", _formula_block, {"alt": ["paragraph", "reference", "blockquote"]})
    blocks.ruler.before("fence", "environment", _environment, {"alt": ["paragraph", "reference", "blockquote"]})
    inlines.ruler.before("escape", "bracket_formula", _formula)
    inlines.ruler.before("autolink", "line_break", _line_break)
    inlines.ruler.before("autolink", "tag", _tag)
    blocks.ruler.before("fence", "comment", _comment, {"alt": ["paragraph"]})
    # The tree builder decides which URLs may be linked: a link rejected here would be shown as its source.
    parser.validateLink = _accept_link
    inlines.parser = copy(parser)
    inlines.parser.options = OptionsDict(cast("Any", dict(parser.options)))
    inlines.parser.options["maxNesting"] = _MAX_INLINE_NESTING
    return parser


def _accept_link(url: str) -> bool:
    return bool(url)


class _BlockRules(ParserBlock):
    """The block parser; that of the library drops blocks that are nested too deep, and all that follows them."""

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803 - the names of the base class
        if state.level < _MAX_BLOCK_NESTING:
            super().tokenize(state, startLine, endLine)
            return
        line = startLine
        while line < endLine:
            line = state.skipEmptyLines(line)
            if line >= endLine or 0 <= state.sCount[line] < state.blkIndent:
                break
            _paragraph(state, line)
            line += 1
        state.line = min(line, endLine)


def _paragraph(state: StateBlock, line: int) -> None:
    """A line as a paragraph, without markers of quotations and lists."""
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    marks = _MARKS.match(text + "\n")
    text = text[marks.end() :].strip() if marks else text.strip()
    if not text:
        return
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content, token.children, token.map = text, [], [line, line + 1]
    state.push("paragraph_close", "p", -1)


class _InlineRules(ParserInline):
    """The inline parser. `parser` is that of the blocks with a lower limit for nesting."""

    parser: MarkdownIt

    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        del md
        state = _State(src, self.parser, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    """Accepts delimiters without a space after them: in `**「重要」**後`, since Chinese and Japanese have none, and
    in `**Note:**text`, where it was forgotten."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803, FBT001 - the names of the base class
        scanned = super().scanDelims(start, canSplitWord)
        if not canSplitWord or (scanned.can_open and scanned.can_close):
            return scanned
        before = self.src[start - 1] if start else " "
        end = start + scanned.length
        after = self.src[end] if end < self.posMax else " "
        if before.isspace() or after.isspace():
            return scanned
        if not (is_cjk(before) or is_cjk(after)):
            is_forgotten = scanned.can_open and after.isalnum() and self._is_open(self.src[start], scanned.length)
            return Scanned(can_open=False, can_close=True, length=scanned.length) if is_forgotten else scanned
        return Scanned(scanned.can_open or is_cjk(before), scanned.can_close or is_cjk(after), scanned.length)

    def _is_open(self, marker: str, length: int) -> bool:
        """Whether so many of these delimiters have opened an emphasis that is not closed."""
        opened = 0
        for mark in self.delimiters[-_MAX_DELIMITERS:]:
            if mark.marker == ord(marker):
                opened += -1 if mark.close and opened else int(mark.open)
        return opened >= length


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    previous_rows: int = state.env.get("rows", 0)
    cut = min(end, start + 2 + MAX_TABLE_ROWS - previous_rows)
    opening = len(state.tokens)
    if not unlimited_table(state, start, cut, silent):
        return False
    if silent:
        return True
    state.env["rows"] = previous_rows + state.line - start - 2
    line = state.line
    while cut <= line < end and state.sCount[line] >= state.blkIndent and "|" in _line(state, line):
        line += 1
    state.tokens[opening].meta["left_out"] = line - state.line
    state.line = line
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _find_end(state: StateBlock, terminator: str, at: int) -> int | None:
    """The index after the next closing delimiter. Cached, since many opening ones may share it."""
    known: dict[str, tuple[int, int]] = state.env.setdefault("next", {})
    since, end = known.get(terminator, (at + 1, at))
    if not since <= at < end:
        found = state.src.find(terminator, at)
        known[terminator] = since, end = at, found + len(terminator) if found >= 0 else len(state.src) + 1
    return end if end <= len(state.src) else None


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    if state.is_code_block(start) or not _line(state, start).startswith("\\["):
        return False
    lines: list[str] = []
    for line in range(start, min(end, start + _MAX_FORMULA_LINES)):
        text = _line(state, line).strip()
        if not text or (line > start and state.sCount[line] < state.blkIndent):
            return False
        lines.append(text)
        if text.endswith("\\]"):
            formula = "\n".join(lines)[2:-2]
            if "\\]" in formula or not _FORMULA.search(formula):
                return False
            if not silent:
                state.line = line + 1
                token = state.push("math_block", "math", 0)
                token.content = formula
            return True
    return False


def _environment(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """`\\begin{align}` to its end, with no dollars around it."""
    opening = _ENVIRONMENT.match(_line(state, start))
    if opening is None or opening[1] not in ENVIRONMENTS or state.is_code_block(start):
        return False
    closing = rf"\end{{{opening[1]}}}"
    lines: list[str] = []
    if (_find_end(state, closing, state.bMarks[start]) or len(state.src) + 1) > state.eMarks[end - 1]:
        return False
    for line in range(start, min(end, start + _MAX_FORMULA_LINES)):
        text = _line(state, line).strip()
        if not text or (line > start and state.sCount[line] < state.blkIndent):
            return False
        lines.append(text)
        if closing in text:
            if text.rstrip(".,;").endswith(closing):
                if not silent:
                    state.line = line + 1
                    token = state.push("math_block", "math", 0)
                    token.content = "\n".join(lines).rstrip(".,;")
                return True
            return False
    return False


def _formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    start = state.pos + 2
    closing = _CLOSING.get(state.src[state.pos : start])
    end = (
        -1 if closing is None else state.src.find(closing, start, min(state.posMax, start + _MAX_INLINE_FORMULA_CHARS))
    )
    formula = state.src[start:end].strip() if end >= 0 else ""
    if not formula or (closing == "\\]" and not _FORMULA.search(formula)):
        return False
    if not silent:
        token = state.push("math_inline" if closing == "\\)" else "math_inline_double", "math", 0)
        token.content = formula
    state.pos = end + 2
    return True


def _line_break(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    found = _LINE_BREAK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """Drops comments and unknown tags, but not their content."""
    found = _TAG.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "<" else None
    if found is None:
        return False
    if not silent and not found["inline"] and not found.group().startswith("<!"):
        state.push("softbreak", "br", 0)
    state.pos = found.end()
    return True


def _comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the signature of a rule
    """A comment that begins a line and may contain empty lines."""
    if state.level or state.is_code_block(start) or not _line(state, start).startswith("<!--"):
        return False
    closing = _find_end(state, "-->", state.bMarks[start])
    if closing is None or not state.bMarks[start] < closing <= state.eMarks[end - 1]:
        return False
    ends = state.src.find("\n", closing)
    if state.src[closing : ends if ends >= 0 else len(state.src)].strip():
        return False
    if not silent:
        state.line = next(line for line in range(start, end) if state.eMarks[line] >= closing) + 1
    return True
