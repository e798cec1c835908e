"""The HTML tokenizer: tags and text as browsers see them, for any input, in one pass and linear time.

A parser written in C would be shorter to call, and was tried. libxml2 puts the whole page into its `nav` where an end
tag is missing (2 % of the pages that were measured); lexbor needs minutes for a megabyte of nested elements.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import TypeAlias

HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none"
    r"|visibility\s*:\s*(?:hidden|collapse)"
    r"|font-size\s*+:\s*+(?:0++(?:\.0*+)?|\.0++)\s*+(?:px|pt|em|rem|%|!|;|$)"
    r"|text-indent\s*:\s*-\s*\d{3,}"
    r"|(?:left|top|right)\s*:\s*-\s*\d{4,}"
    r"|clip\s*:\s*rect\(\s*(?:0|1px)",
    re.IGNORECASE,
)

FOR_SCREEN_READERS = re.compile(
    r"(?:^|[\s_-])(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a11y-hidden|u-hidden(?:-visually)?"
    r"|offscreen|element-invisible|assistive-text)(?=$|[\s_-])",
    re.IGNORECASE,
)

REACT_REVEAL = re.compile(r'\$R[A-Z]\((?:"B:[\da-f]+",)?"(S:[\da-f]+)"')
REACT_PLACE = '<template id="B:'
REACT_PART = re.compile(r'<div hidden(?:="")? id="(S:[\da-f]+)"')
TOGGLE_TARGETS = (
    re.compile(r"""aria-controls=["']([^"'<>\s]{1,200})["']"""),
    re.compile(r"""-target=["']#([^"'<>\s]{1,200})["']"""),
)


def revealed_ids(source: str) -> frozenset[str]:
    """The ids of elements that are hidden only until a script has run or a button is clicked: content that React
    streams and moves into place, and sections that can be unfolded."""
    late = REACT_PART.findall(source) if REACT_PLACE in source else []
    late += REACT_REVEAL.findall(source) if "$R" in source else []
    return frozenset((*late, *(name for controlled in TOGGLE_TARGETS for name in controlled.findall(source))))


def is_hidden(tag: str, attributes: Mapping[str, str], revealed: frozenset[str]) -> bool:
    """By the attributes of the element; style sheets are not read. Elements with `revealed` ids are not hidden.

    The whole page is never hidden: many hide `body` until a script has run.
    """
    if tag in ("html", "body"):
        return False
    if revealed and attributes.get("id") in revealed:
        return False
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    if attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and HIDDEN_STYLE.search(style):
        return True
    classes = attributes.get("class")
    return bool(classes and FOR_SCREEN_READERS.search(classes))


Attributes: TypeAlias = dict[str, str]


Tag: TypeAlias = tuple[str, str, str]
"""Name, `/` for an end tag, and the unparsed attributes, which are rarely needed."""

# Possessive quantifiers: an unclosed tag or comment fails at once, without backtracking.
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

RAW_TEXT_TAGS = frozenset(("script", "style", "textarea", "title", "noscript", "iframe", "noframes", "noembed", "xmp"))
"""Their content is not markup, and ends with the first end tag."""

_RAW_END = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in RAW_TEXT_TAGS}


def tokenize(source: str) -> Iterator[Tag | str]:
    """Tags and the text between them. Raw text follows its tag as one string, if there is any."""
    at = 0
    search = _MARKUP.search
    while (found := search(source, at)) is not None:
        start, end = found.span()
        if start > at:
            yield unescape_text(source[at:start])
        at = end
        closing, name, attributes, unclosed = found.groups()
        if name is None:
            if unclosed is not None:
                return
            continue
        name = name.lower()
        yield name, closing, attributes
        if name in RAW_TEXT_TAGS and not closing:
            end = _raw_text_end(source, name, at)
            if end > at:
                yield unescape_text(source[at:end]) if name in ("textarea", "title") else source[at:end]
            at = end
    if at < len(source):
        yield unescape_text(source[at:])


def unescape_text(source: str) -> str:
    return unescape(source) if "&" in source else source


def parse_attributes(source: str) -> Attributes:
    """By lower-case name; the first one of a name counts."""
    found: Attributes = {}
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        key = name if name.islower() else name.lower()
        if key not in found:
            value = double or single or bare
            # In a URL `&copy=1` is a parameter: only references with a semicolon are decoded.
            found[key] = _REFERENCE.sub(_character, value) if "&" in value else value
    return found


def _character(reference: re.Match[str]) -> str:
    return unescape(reference[0])


def _raw_text_end(source: str, name: str, at: int) -> int:
    found = _RAW_END[name].search(source, at)
    return found.start() if found else len(source)
