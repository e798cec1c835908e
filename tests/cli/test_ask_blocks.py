"""Finished blocks and the live tail: printed blocks never change, however the text is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.cli.terminal.answer import BlockSplitter

DOCUMENT = """\
# Heading
A paragraph
of two lines.

- one
- two

  more of two

- three
  ```
  code in an item

  ```

After the list.

1. first

2. second

```python
a = 1

b = 2
```
| a | b |
|---|---|
| 1 | 2 |

> quote

    indented

~~~~
~~~
still code
~~~~
The end"""

BLOCKS = [
    "# Heading\nA paragraph\nof two lines.\n\n",
    "- one\n- two\n\n  more of two\n\n- three\n  ```\n  code in an item\n\n  ```\n\n",
    "After the list.\n\n",
    "1. first\n\n2. second\n\n",
    "```python\na = 1\n\nb = 2\n```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "> quote\n\n",
    "    indented\n\n",
    "~~~~\n~~~\nstill code\n~~~~\n",
]

markdown = st.lists(
    st.sampled_from(
        ["\n", "\n\n", "- ", "1. ", "```", "```py", "~~~", "| a ", "|---|", "# ", "> ", "word ", "  ", "中"]
    ),
    max_size=60,
)


def split(pieces: list[str]) -> tuple[list[str], str]:
    splitter = BlockSplitter()
    blocks = [block for piece in pieces for block in splitter.push(piece)]
    return blocks, splitter.tail


def test_paragraphs_lists_tables_and_fences_are_blocks() -> None:
    assert split([DOCUMENT]) == (BLOCKS, "The end")


def test_a_list_ends_where_a_line_shows_that_it_is_over() -> None:
    assert split(["- a\n\n"]) == ([], "- a\n\n")
    assert split(["- a\n\nb"]) == ([], "- a\n\nb")
    assert split(["- a\n\nb\n"]) == (["- a\n\n"], "b\n")


def test_a_lazy_line_belongs_to_its_item() -> None:
    assert split(["- a\nlazy\n- b\n\nc\n"]) == (["- a\nlazy\n- b\n\n"], "c\n")


def test_a_shorter_fence_inside_a_longer_one_is_code() -> None:
    assert split(["````\n```\n\n```\n````\n"]) == (["````\n```\n\n```\n````\n"], "")


def test_backticks_in_a_sentence_open_no_fence() -> None:
    assert split(["```x``` is code\n\nnext"]) == (["```x``` is code\n\n"], "next")


def test_the_end_makes_a_block_of_the_tail() -> None:
    splitter = BlockSplitter()
    splitter.push("```\nnever closed")
    assert (splitter.flush(), splitter.tail) == ("```\nnever closed", "")


@given(markdown)
def test_blocks_and_tail_are_the_text(pieces: list[str]) -> None:
    blocks, tail = split(pieces)
    assert "".join(blocks) + tail == "".join(pieces)


@given(markdown)
def test_a_finished_block_never_changes_as_the_text_grows(pieces: list[str]) -> None:
    splitter = BlockSplitter()
    finished: list[str] = []
    for end, piece in enumerate(pieces, 1):
        finished += splitter.push(piece)
        whole, _ = split(["".join(pieces[:end])])
        assert finished == whole


@given(markdown)
def test_blocks_do_not_depend_on_how_the_text_arrived(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert split(list(text)) == split([text])


def preview_of(text: str, columns: int = 10, rows: int = 3) -> str:
    splitter = BlockSplitter()
    splitter.push(text)
    return splitter.preview(columns, rows)


@pytest.mark.parametrize(
    ("tail", "preview"),
    {
        "short": ("a\nb", "a\nb"),
        "many lines": ("a\nb\nc\nd\ne", "c\nd\ne"),
        "one long line": ("0123456789" * 20, "0123456789" * 3),
        "long lines": ("x" * 25 + "\n" + "y" * 15, "x" * 10 + "\n" + "y" * 15),
        "a fence keeps its opening": ("```py\n1\n2\n3\n4\n5", "```py\n3\n4\n5"),
        "a fence with its opening in sight": ("```py\n1\n2", "```py\n1\n2"),
        "a table keeps its head": ("|a|b|\n|-|-|\n|1|2|\n|3|4|\n|5|6|\n|7|8", "|a|b|\n|-|-|\n|3|4|\n|5|6|\n|7|8"),
        "a list begins with an outer item": ("- a\n  - b\n  - c\n- d\n  - e", "- d\n  - e"),
        "a lone dash waits": ("A paragraph\n-", "A paragraph"),
        "so does a lone number of an item": ("A paragraph\n1.", "A paragraph"),
        "a number that answers does not": ("6 x 7:\n42", "6 x 7:\n42"),
        "a lone dash in code does not": ("```\n-", "```\n-"),
        "nothing": ("", ""),
    }.values(),
)
def test_the_preview_is_as_long_as_the_screen_needs(tail: str, preview: str) -> None:
    assert preview_of(tail) == preview


@given(markdown, st.integers(1, 200))
def test_the_preview_does_not_grow_with_the_tail(pieces: list[str], times: int) -> None:
    long = "```\n" + "".join(pieces) * times
    assert len(preview_of(long)) <= 3 * (10 + 1) + 100
