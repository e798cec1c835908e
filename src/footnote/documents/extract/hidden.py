"""What a page holds but does not show: text for machines, and the place where prompt injections live."""

import re
from collections.abc import Mapping

UNSEEN_STYLE = re.compile(
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

REACT_SHOWS = re.compile(r'\$R[A-Z]\((?:"B:[\da-f]+",)?"(S:[\da-f]+)"')
REACT_PLACE = '<template id="B:'
REACT_PART = re.compile(r'<div hidden(?:="")? id="(S:[\da-f]+)"')
CONTROLLED = (
    re.compile(r"""aria-controls=["']([^"'<>\s]{1,200})["']"""),
    re.compile(r"""-target=["']#([^"'<>\s]{1,200})["']"""),
)


def shown_by_script(source: str) -> frozenset[str]:
    """The ids of parts that are hidden only until a script has run, or until somebody clicks: what React sends late and
    puts in its place at once, and what a button of the page unfolds."""
    late = REACT_PART.findall(source) if REACT_PLACE in source else []
    late += REACT_SHOWS.findall(source) if "$R" in source else []
    return frozenset((*late, *(name for controlled in CONTROLLED for name in controlled.findall(source))))


def is_hidden(tag: str, attributes: Mapping[str, str], shown: frozenset[str]) -> bool:
    """By what the element itself says; style sheets are not read. `shown` are the ids of those that are not.

    The whole page is never hidden: many hide `body` until a script has run.
    """
    if tag in ("html", "body"):
        return False
    if shown and attributes.get("id") in shown:
        return False
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    if attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and UNSEEN_STYLE.search(style):
        return True
    classes = attributes.get("class")
    return bool(classes and FOR_SCREEN_READERS.search(classes))
