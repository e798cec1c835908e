"""Web text inside an answer: word for word, and nothing in it acts as markdown.

After a markdown parser has read a quotation, its text is the passage again, line by line. Signs that would make a
link, an image, a heading, a table or HTML of it stand behind a backslash, and so do brackets: `[3]` in a passage is
no footnote of ours.
"""

import re
from itertools import pairwise

_LINE_BREAK = re.compile(r"\r\n?|\n")
_ACTIVE = re.compile(
    r"[\[\]`]"
    r"|\\(?=[!-/:-@\[-`{-~]|$)"  # an escape, or a line break
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,40};)"
    r"|\$(?=[^\s\d])"  # a formula; a price is none
    r"|(?<!\s)[*~]|[*~](?!\s)"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|(?i:(?<=\bhttp)|(?<=\bhttps)|(?<=\bftp)):(?=//)"  # addresses become links by themselves
    r"|(?i:(?<=\bwww))\.(?=\w)"
    r"|(?<=\w)@(?=\w)"
)
_BLOCK_START = re.compile(r"(?:#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+\s*$|(?=[-:|\s]*$)[-:|])")
_ITEM_START = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_ADDRESS = re.compile(r"https?://[^\s<>]+$", re.IGNORECASE)


def blockquote(text: str, number: int) -> str:
    """A passage as a quotation with its footnote at the end. Its lines stay lines, its paragraphs paragraphs."""
    lines = [_escape_line(line) for line in _LINE_BREAK.split(text.strip())]
    lines[-1] = f"{lines[-1]} [{number}]"
    return "\n".join(_quote_line(line, following) for line, following in pairwise([*lines, ""]))


def escape_inline(text: str) -> str:
    """Foreign text inside a line of ours."""
    return _escape_line(" ".join(text.split()))


def markdown_link(title: str, url: str) -> str:
    """A link, or the title alone where the address is none that may be opened."""
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
    # Two spaces at the end of a line keep it from being joined with the next one.
    return f"> {line}  " if following else f"> {line}"
