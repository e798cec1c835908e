"""Markdown and Footnote's own lines with the 16 colours of the user's terminal theme.

The only importer of rich, which is an optional dependency: import this module late.
"""

import io
import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from footnote.cli.terminal.clean import clean, clean_line
from footnote.cli.terminal.lines import Line, Tone

_styles: dict[Tone, str] = {"normal": "", "dim": "dim", "good": "green", "doubtful": "yellow", "bad": "red"}
_theme = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.code": "cyan",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "cyan",
        "markdown.item.number": "cyan",
    }
)
# No HTML: it would be swallowed, and with it the `<T>` of a sentence. No reference definitions: a list of sources
# written as `[1]: https://…` would be swallowed too, and blocks that were painted before could not use it anyway.
_parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("reference")
_sgr = re.compile(r"\x1b\[[0-9;]*m")
_until_trailing_space = re.compile(r"(?:(?:\x1b\[[0-9;]*+m| )*+(?!\x1b\[[0-9;]*+m)[^ ])*+")
"""A line without the spaces and styles at its end."""


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar = {}


class _PlainCodeBlock(CodeBlock):
    """Code on the terminal's own background, indented by two, long lines wrapped and never lost."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code,
            self.lexer_name,
            theme=self.theme,
            background_color="default",
            word_wrap=True,
            padding=(0, 2) if options.max_width > 20 else 0,
        )


class _PaintedMarkdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCodeBlock,
        "code_block": _PlainCodeBlock,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.parsed = [_tidy(token) for token in _parser.parse(text)]


def _tidy(token: Token) -> Token:
    if token.children:
        return token.copy(children=list(_tidy_inline(token.children)))
    return token


def _tidy_inline(children: Sequence[Token]) -> Iterable[Token]:
    """Inline tokens that rich shows in place: a link followed by its address, so that the user sees where it leads; an
    image as its description and address; and the line breaks of the model as line breaks.
    """
    link, text_of_link = "", ""
    for token in children:
        if token.type == "link_open":
            link, text_of_link = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close":
            if link not in (text_of_link, f"mailto:{text_of_link}"):
                yield Token("text", "", 0, content=f" ({link})")
        elif token.type == "image":
            yield Token("text", "", 0, content=f"{clean(token.content)} ({token.attrs.get('src', '')})")
        elif token.type == "softbreak":
            yield Token("hardbreak", "br", 0)
        else:
            # Entities are decoded by now: `&#x202e;` must not bring back what `clean` removed.
            text_of_link += token.content
            yield token.copy(content=clean(token.content))


class Painter:
    """Paints for one terminal. Without `color` there are no styles, only the layout."""

    def __init__(self, *, color: bool) -> None:
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
            theme=_theme,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def markdown(self, text: str, columns: int) -> list[str]:
        """A block as painted lines of at most `columns` cells, without empty lines around it."""
        self._console.width = columns
        with self._console.capture() as capture:
            self._console.print(_PaintedMarkdown(text))
        lines = [_strip_trailing_space(line) for line in capture.get().split("\n")]
        shown = [at for at, line in enumerate(lines) if line]
        return lines[shown[0] : shown[-1] + 1] if shown else []

    def line(self, line: Line, columns: int | None = None) -> str:
        """A line with colours; with `columns` it is cut to that many cells."""
        text = Text()
        for span in line:
            text.append(clean_line(span.text), _styles[span.tone])
        if columns is not None:
            text.truncate(columns, overflow="ellipsis")
        self._console.width = max(text.cell_len, 1)
        with self._console.capture() as capture:
            self._console.print(text, end="", no_wrap=True)
        return capture.get()

    def rows(self, painted: str, columns: int) -> int:
        """How many rows a painted line fills on a screen of that width."""
        return max(-(-cell_len(_sgr.sub("", painted)) // columns), 1)


def _strip_trailing_space(line: str) -> str:
    found = _until_trailing_space.match(line)
    end = found.end() if found else 0
    return line[:end] + ("\x1b[0m" if end and "\x1b" in line[end:] else "")
