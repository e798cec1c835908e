"""HTML as a run of tags and text, as browsers read it: any input, in one pass, in linear time.

A parser written in C would be shorter to call, and was tried. libxml2 puts the whole page into its `nav` where an end
tag is missing (2 % of the pages that were measured); lexbor needs minutes for a megabyte of nested elements.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import TypeAlias

Attributes: TypeAlias = dict[str, str]


Tag: TypeAlias = tuple[str, str, str]
"""Name, `/` if it closes, and the source of its attributes, which most never need."""

# Possessive quantifiers: an unclosed tag or comment is given up at once, not tried in every other way.
_MARKUP = re.compile(
    r"""<(?:
        (?P<closing>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+)>
      | !--(?:-?>|.*?--!?>)
      | [!?/](?!--)[^>]*+>
      | (?P<unclosed>[a-zA-Z/!?].*+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s"'>/=][^\s>/=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++)))?""")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,31});")

RAW = frozenset(("script", "style", "textarea", "title", "noscript", "iframe", "noframes", "noembed", "xmp"))
"""What stands in these is no markup: it ends with the end tag, whatever else is inside."""

_RAW_END = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in RAW}


def tokens(source: str) -> Iterator[Tag | str]:
    """Tags and the text between them. Raw text follows its tag as one piece, if there is any."""
    at = 0
    search = _MARKUP.search
    while (found := search(source, at)) is not None:
        start, end = found.span()
        if start > at:
            yield text(source[at:start])
        at = end
        closing, name, attributes, unclosed = found.groups()
        if name is None:
            if unclosed is not None:
                return
            continue
        name = name.lower()
        yield name, closing, attributes
        if name in RAW and not closing:
            end = _end_of_raw(source, name, at)
            if end > at:
                yield text(source[at:end]) if name in ("textarea", "title") else source[at:end]
            at = end
    if at < len(source):
        yield text(source[at:])


def text(source: str) -> str:
    return unescape(source) if "&" in source else source


def attributes(source: str) -> Attributes:
    """By lower-case name; of two with one name the first counts."""
    found: Attributes = {}
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        key = name if name.islower() else name.lower()
        if key not in found:
            value = double or single or bare
            # In a URL `&copy=1` is a parameter: only what ends with a semicolon is a character.
            found[key] = _REFERENCE.sub(_character, value) if "&" in value else value
    return found


def _character(reference: re.Match[str]) -> str:
    return unescape(reference[0])


def _end_of_raw(source: str, name: str, at: int) -> int:
    found = _RAW_END[name].search(source, at)
    return found.start() if found else len(source)
