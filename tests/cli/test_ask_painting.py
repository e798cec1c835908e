"""Markdown in a terminal: no text of the model is lost, and no line is wider than the screen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from footnote.cli.terminal.lines import StyledText
from footnote.cli.terminal.painting import Painter

blocks = st.sampled_from(
    ["\n", "\n\n", "- ", "10. ", "```", "```py\n", "~~~", "| a ", "|---|", "# ", "> ", "    ", "---\n"]
)
marks = st.sampled_from(["**", "`", "[", "](", ")", "![", "<b>", "\t", "&#13;", "\\", "_", "~~"])
words = st.sampled_from(["word ", "中文", "👩‍🔬", "ệ", "\u0301", "x" * 30])
markdown = st.lists(blocks | marks | words, max_size=40).map("".join)


def paint(text: str, columns: int = 40) -> str:
    return "\n".join(Painter(color=False).markdown(text, columns))


@pytest.mark.parametrize(
    ("text", "shown"),
    {
        "heading": ("# Title", "Title"),
        "emphasis": ("**a** *b* ~~c~~ `d`", "a b c d"),
        "link": ("[text](https://a.example/x)", "text (https://a.example/x)"),
        "link in bold": ("**[text](https://a.example)**", "text (https://a.example)"),
        "bare link": ("<https://a.example>", "https://a.example"),
        "mail": ("<me@a.example>", "me@a.example"),
        "image": ("a ![chart](https://a.example/c.png) b", "a chart (https://a.example/c.png) b"),
        "image in a link": ("[![chart](http://a/c.png)](http://b)", "chart (http://a/c.png) (http://b)"),
        "no HTML": ("Vec<T> and <b>bold</b>", "Vec<T> and <b>bold</b>"),
        "HTML block": ("<details>\n<summary>s</summary>", "<details>\n<summary>s</summary>"),
        "list of sources": (
            "[1]: https://a.example\n[2]: https://b.example",
            "[1]: https://a.example\n[2]: https://b.example",
        ),
        "footnote": ("It is 42.[^1]", "It is 42.[^1]"),
        "lines": ("one\ntwo", "one\ntwo"),
        "list": ("- a\n  - b\n- c", " • a\n    • b\n • c"),
        "numbers": ("3. a\n4. b", " 3 a\n 4 b"),
        "quote": ("> a", "▌ a"),
        "table": ("| a | 名 |\n|---|---|\n| 1 | 2 |", " a  名\n ─────\n 1  2"),
        "code": ("```\na  b\n\n  c\n```", "  a  b\n\n    c"),
        "entity": ("a &amp; b &#x202e;c", "a & b c"),
        "nothing": ("\n \n", ""),
    }.values(),
)
def test_markdown_is_shown(text: str, shown: str) -> None:
    assert paint(text) == shown


@settings(deadline=None)
@given(markdown, st.sampled_from([4, 20, 80]))
def test_whatever_the_model_writes_can_be_painted_and_fits(text: str, columns: int) -> None:
    assert max((cell_len(line) for line in paint(text, columns).split("\n")), default=0) <= columns


def test_a_line_of_ours_is_cut_by_cells_not_by_characters() -> None:
    painter = Painter(color=False)
    assert painter.line((StyledText("搜索网页"), StyledText(" · 股价走势")), 14) == "搜索网页 · 股…"
    assert painter.line((StyledText("搜索网页"), StyledText(" · 股价走势"))) == "搜索网页 · 股价走势"


def test_a_painted_line_fills_as_many_rows_as_it_has_cells() -> None:
    painter = Painter(color=True)
    assert [painter.rows(line, 4) for line in ("", "\x1b[1mab\x1b[0m", "abcd", "abcde", "中文字")] == [1, 1, 1, 2, 2]
