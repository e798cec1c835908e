"""Links, addresses and the names of sources in a block of markdown, as far as they are no words of its statements."""

import re
from collections.abc import Iterator

from footnote.text.sentences import Span

INLINE_LINK = re.compile(
    r"(?<!\\)(!?)\[((?:\\.|[^\[\]\\\n]|\[[^\[\]\n]{0,100}\]){0,500})\]\((?:[^()\n]|\([^()\n]{0,500}\)){0,2000}\)"
)
LINK_TARGET = re.compile(r"\s*(?:<([^<>\n]{1,2000})>|([^\s()<>]{1,2000}(?:\([^\s()]{0,500}\)[^\s()<>]{0,500}){0,4}))")
REFERENCE_LINK = re.compile(r"(?<![\\!\]])\[([^\[\]\n]{1,300})\]\[([^\[\]\n]{0,60})\]")
ADDRESS = re.compile(
    r"(?:https?://|(?<![\w@./-])www\.(?=\w))[^\s<>\"“”‘’`|\\\[\]{}（）【】「」，。；！？、\u3000]{1,2000}"
    r"|(?:\bdoi:\s?|(?<![\w./-]))10\.\d{4,9}/[^\s<>\"“”`|\[\]{}，。；]{1,300}",
    re.IGNORECASE,
)
BRACKET_PAIRS = ("<>", "()", "（）")
_AFTER_ADDRESS = ".,;:!?'*_~"

LABELS = (
    r"sources?|refs?\.?|references?|cit(?:ed|ation)s?|links?|urls?|via|see(?: also)?|cf\.?|at|from|here|doi|web|"
    r"nguồn(?: tin| tham khảo)?|theo|xem(?: thêm)?|liên kết|dẫn nguồn|来源|來源|出处|链接|链结|参见|参考|见|详见|引自"
)
"""Words that say where something is and nothing else, as the inside of a group of a pattern."""
_NAMING = r"(?:sources?|via|nguồn(?: tin| tham khảo)?|来源|來源|出处)"
_NAMED_SOURCE = re.compile(rf"[(（]\s{{0,3}}{_NAMING}\s{{0,3}}[:：][^()（）\n]{{1,900}}[)）]", re.IGNORECASE)
_NAMED_AT_END = re.compile(
    rf"(?<=[.!?。！？…])\s{{0,3}}{_NAMING}\s{{0,3}}[:：][^.。!?！？()（）\n]{{1,900}}[.。]?\s{{0,3}}$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_ONLY = re.compile(
    rf"\W{{0,3}}(?:(?:{LABELS}|facts?|fact sheet|details|more|read more|learn more|"
    r"chi tiết|đọc thêm|详情|更多)\W{0,3}){1,3}",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s{0,3}[,;、，；/|&·]?\s{0,3}(?:and|và|和|及)?\s{0,3}")
_OPENING, _CLOSING = re.compile(r"[(（]\s{0,3}\Z"), re.compile(r"\s{0,3}[)）]")
_SENTENCE_END_BEFORE = re.compile(r"[.!?。！？…][\"'”’»)）]?\s{0,3}\Z")
_SENTENCE_END_AFTER = re.compile(r"\s{0,3}(?:[.。](?=\s|\Z)|\Z|\n)")
_PART_OF_CLAUSE = re.compile(
    r"\b(?:the|a|an|this|that|these|its|his|her|their|our|of|in|to|from|by|at|on|with|for|and|or|is|are|was|were|as|per|see|"
    r"read|learn|find|than)\s{0,3}\Z",
    re.IGNORECASE,
)
_MAX_TITLE = 60
"""A link with a longer text after a sentence is a sentence itself."""
_MAX_LABEL = 120
_MAX_GROUP = 20


def first_address(body: str) -> str:
    """The first address in the definition of a note."""
    found = ADDRESS.search(body)
    return trim_address(found.group()) if found else ""


def trim_address(written: str) -> str:
    """An address without the punctuation of the sentence around it."""
    written = written.rstrip(_AFTER_ADDRESS)
    while written.endswith(")") and written.count(")") > written.count("("):
        written = written[:-1].rstrip(_AFTER_ADDRESS)
    return written


def is_web_address(address: str) -> bool:
    return address[:8].casefold().startswith(("http://", "https://", "www."))


def source_labels(raw: str, shown: str) -> Iterator[Span]:
    """What names the source of a statement and is no part of it: `(source: Reuters, AP)`, `([Reuters](…), [AP](…))`, a
    link `[facts](…)` at the end of a sentence, a link with a title after it. `shown` is the text with a space for each
    character of its markup."""
    for found in (*_NAMED_SOURCE.finditer(shown), *_NAMED_AT_END.finditer(shown)):
        yield Span(*found.span())
    links = [link for link in INLINE_LINK.finditer(raw) if not link[1]]
    at = 0
    while at < len(links):
        last = at
        while last + 1 < min(len(links), at + _MAX_GROUP) and _BETWEEN.fullmatch(
            raw, links[last].end(), links[last + 1].start()
        ):
            last += 1
        group = links[at : last + 1]
        if span := _label_span(raw, group):
            yield span
        at = last + 1


def _label_span(raw: str, group: "list[re.Match[str]]") -> Span | None:
    start, end = group[0].start(), group[-1].end()
    before = raw[max(0, start - 20) : start]
    titles = [link[2] for link in group]
    if max(map(len, titles)) > _MAX_LABEL:
        return None
    opening, closing = _OPENING.search(before), _CLOSING.match(raw, end)
    if opening and closing:
        return Span(start - len(before) + opening.start(), closing.end())
    after = _SENTENCE_END_AFTER.match(raw, end)
    if after is None:
        return None
    if _SENTENCE_END_BEFORE.search(before):
        is_title = all(len(title) <= _MAX_TITLE and title[-1:] not in ".!?。！？" for title in titles)
        return Span(start, after.end()) if is_title else None
    is_label = all(_LABEL_ONLY.fullmatch(title) for title in titles)
    return Span(start, end) if is_label and before.strip() and not _PART_OF_CLAUSE.search(before) else None
