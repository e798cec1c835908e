"""The links of a text that somebody else wrote: markdown and HTML links, addresses in the text, DOIs and arXiv ids."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from footnote.evidence.sources import normalize_url
from footnote.protocol.sources import Link
from footnote.text.markdown import MarkdownLine, escape_inline

NON_URL_CHARACTERS = (
    r"\s<>\"|\u201c\u201d\u2018\u2019\uff0c\u3002\uff1b\uff01\uff1f\u3001\uff08\uff09"
    r"\u3010\u3011\u300a\u300b\u300c\u300d"
)
"""Characters that no address contains, as the inside of a character class: spaces, quotation marks, and the punctuation
of Chinese."""
_TRAILING_PUNCTUATION = ".,;:!?'*_`~"
_PAIRS = ("()", "[]", "{}")
DOI_RESOLVER = "https://doi.org/"
ARXIV = "https://arxiv.org/abs/"

_TICKS = re.compile(r"`++")
_BRACKET = re.compile(r"\\[\\\[\]`]|[\[\]]|\n[ \t]*+\n")
_DESTINATION = re.compile(
    r"\([ \t]{0,9}+(?:<(?P<angled>[^<>\n]{1,2000}+)>|(?P<plain>(?:[^\s()<>]|\([^\s()<>]{0,500}+\)){1,2000}+))"
    r"(?:\s{1,9}+(?:\"[^\"\n]{0,300}+\"|'[^'\n]{0,300}+'|\([^()\n]{0,300}+\)))?[ \t]{0,9}+\)"
)
_ANCHOR = re.compile(r"<a\s([^<>]{1,3000}+)>", re.IGNORECASE)
_ANCHOR_END = re.compile(r"</a>", re.IGNORECASE)
_HREF = re.compile(
    r"href\s{0,9}+=\s{0,9}+(?:\"([^\"]{1,2000}+)\"|'([^']{1,2000}+)'|([^\s\"'<>]{1,2000}+))", re.IGNORECASE
)
_MAX_ANCHOR_TEXT = 1_000
_ADDRESS = re.compile(
    rf"<(?P<auto>https?://[^\s<>]{{1,2000}}+)>|(?P<url>(?:https?://|(?<![\w@./-])www\.)[^{NON_URL_CHARACTERS}]{{1,2000}}+)"
    rf"|(?:(?<!\w)doi:?\s?)?(?<![\w./-])(?P<doi>10\.\d{{4,9}}/[^{NON_URL_CHARACTERS}]{{1,300}}+)"
    r"|(?<![\w./-])arxiv:\s?(?P<arxiv>\d{4}\.\d{4,5}(?:v\d{1,2})?|[a-z-]{2,12}(?:\.[a-z]{2})?/\d{7})(?!\w)",
    re.IGNORECASE,
)
_WIDE_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_DEFINITION = re.compile(r"[ ]{0,3}+\[([^\^\]\n][^\]\n]{0,80}+)\]:[ \t]{0,9}+<?([^\s<>]{1,2000}+)>?[^\n]{0,500}+$")
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)


class TextLink(Struct, frozen=True):
    """A link from `start` to `end`. `text` is what a reader sees of it; None: an address that stands there itself."""

    start: int
    end: int
    url: str
    text: str | None = None


def strip_punctuation(address: str) -> str:
    """An address without the punctuation of the sentence around it."""
    for opening, closing in _PAIRS:
        unopened = address.count(closing) - address.count(opening)
        end = len(address.rstrip(_TRAILING_PUNCTUATION))
        while unopened > 0 and address[end - 1 : end] == closing:
            unopened -= 1
            end -= 1
        address = address[:end].rstrip(_TRAILING_PUNCTUATION)
    return address


def find_links(text: str, lines: Sequence[MarkdownLine]) -> tuple[TextLink, ...]:
    """The links to pages of the web, in order and without overlap. Code and images have none. `lines` are those of the
    text."""
    taken = _code_mask(text, lines)
    definitions = dict(_definitions(text, lines))
    found = [*_markdown_links(text, taken, definitions), *_html_links(text, taken)]
    found += _addresses(text, taken)
    return tuple(sorted(found, key=lambda link: link.start))


def _code_mask(text: str, lines: Sequence[MarkdownLine]) -> bytearray:
    """1 for each character of code."""
    mask = bytearray(len(text))
    start: int | None = None
    for line in lines:
        is_code = line.kind in ("code", "fence")
        if is_code:
            mask[line.start : line.end] = b"\1" * (line.end - line.start)
        if is_code or line.kind == "blank":
            if start is not None:
                _mask_inline_code(text, start, line.start, mask)
            start = None
        elif start is None:
            start = line.start
    if start is not None:
        _mask_inline_code(text, start, len(text), mask)
    return mask


def _mask_inline_code(text: str, start: int, end: int, mask: bytearray) -> None:
    """A run of backticks is closed by the next run of the same length."""
    runs = [found.span() for found in _TICKS.finditer(text, start, end)]
    closing: dict[int, int] = {}
    pairs: list[int | None] = []
    for position in range(len(runs) - 1, -1, -1):
        length = runs[position][1] - runs[position][0]
        pairs.append(closing.get(length))
        closing[length] = position
    pairs.reverse()
    position = 0
    while position < len(runs):
        partner = pairs[position]
        if partner is not None:
            first, last = runs[position][0], runs[partner][1]
            mask[first:last] = b"\1" * (last - first)
            position = partner
        position += 1


def _definitions(text: str, lines: Sequence[MarkdownLine]) -> Iterator[tuple[str, str]]:
    """The targets of reference links: `[label]: https://…`."""
    for line in lines:
        if line.kind == "text" and (found := _DEFINITION.match(text, line.body, line.end)):
            yield _label(found[1]), found[2]


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


# Links with a text ---------------------------------------------------------------------------------------------------


def _markdown_links(text: str, taken: bytearray, definitions: Mapping[str, str]) -> Iterator[TextLink]:
    """A link may contain an image, but no other link: of two links inside each other, the inner one counts."""
    last_start = -1
    for opening, closing in _bracket_pairs(text, taken):
        target = _target(text, opening, closing, definitions)
        if target is None:
            continue
        end, url = target
        if text[opening - 1 : opening] == "!" and opening:
            taken[opening - 1 : end] = b"\1" * (end - opening + 1)
            continue
        if last_start > opening:
            continue
        last_start = opening
        is_web = _WEB.match(url)
        taken[opening:end] = b"\1" * (end - opening)
        if is_web:
            yield TextLink(opening, end, url, text[opening + 1 : closing])


def _bracket_pairs(text: str, taken: bytearray) -> Iterator[tuple[int, int]]:
    """The brackets that belong together, by their closing one. None reaches over an empty line."""
    stack: list[int] = []
    for found in _BRACKET.finditer(text):
        if taken[found.start()]:
            continue
        sign = found.group()
        if sign == "[":
            stack.append(found.start())
        elif sign == "]" and stack:
            yield stack.pop(), found.start()
        elif sign[0] == "\n":
            stack.clear()


def _target(text: str, opening: int, closing: int, definitions: Mapping[str, str]) -> tuple[int, str] | None:
    """The end of the link whose text stands between the brackets, and its address."""
    following = text[closing + 1 : closing + 2]
    if following == "(" and (found := _DESTINATION.match(text, closing + 1)):
        return found.end(), found["angled"] or found["plain"]
    if not definitions:
        return None
    if following == "[":
        end = text.find("]", closing + 2, closing + 84)
        label = text[closing + 2 : end] or text[opening + 1 : closing]
        if end >= 0 and (url := definitions.get(_label(label))):
            return end + 1, url
    if closing - opening <= 82 and following != ":" and (url := definitions.get(_label(text[opening + 1 : closing]))):
        return closing + 1, url
    return None


def _html_links(text: str, taken: bytearray) -> Iterator[TextLink]:
    for tag in _ANCHOR.finditer(text):
        href = _HREF.search(tag[1])
        end = _ANCHOR_END.search(text, tag.end(), tag.end() + _MAX_ANCHOR_TEXT) if href else None
        if href is None or end is None or taken[tag.start()]:
            continue
        url = href[1] or href[2] or href[3]
        taken[tag.start() : end.end()] = b"\1" * (end.end() - tag.start())
        if _WEB.match(url):
            yield TextLink(tag.start(), end.end(), url.replace("&amp;", "&"), text[tag.end() : end.start()])


# Addresses -----------------------------------------------------------------------------------------------------------


def _addresses(text: str, taken: bytearray) -> Iterator[TextLink]:
    for found in _ADDRESS.finditer(text):
        if taken[found.start()]:
            continue
        if found["auto"]:
            yield TextLink(found.start(), found.end(), found["auto"])
        elif found["arxiv"]:
            yield TextLink(found.start(), found.end(), ARXIV + found["arxiv"])
        elif found["doi"]:
            doi = strip_punctuation(_without_wide_letters(found["doi"]))
            yield TextLink(found.start(), found.start("doi") + len(doi), DOI_RESOLVER + doi)
        else:
            address = strip_punctuation(_without_wide_letters(found["url"]))
            url = address if "://" in address else f"https://{address}"
            if _WEB.match(url):
                yield TextLink(found.start(), found.start() + len(address), url)


def _without_wide_letters(address: str) -> str:
    """An address without the Chinese, Japanese or Korean text that follows it without a space. Such letters belong to
    an address where they begin a part of its path or query, as in `/wiki/北京`."""
    for found in _WIDE_LETTERS.finditer(address):
        if address[found.start() - 1] not in "/=_-":
            return address[: found.start()]
    return address


# Links beside a text -------------------------------------------------------------------------------------------------


def with_markdown_links(text: str, links: Sequence[Link], url: str = "") -> str:
    """A text whose links stand beside it, with the links in it, as markdown. `url` is the address of the text: where it
    has links to other sites, those to its own are left out, because they lead around and are no sources."""
    others = [link for link in links if not url or normalize_url(link.url) != normalize_url(url)]
    own_host = _host(url)
    kept = [link for link in others if _host(link.url) != own_host] or others
    pieces: list[str] = []
    at = 0
    for link in sorted(kept, key=lambda link: (link.start, link.end)):
        if link.start >= at:
            shown = escape_inline(text[link.start : link.end])
            # A footnote of the page has no text of its own.
            pieces += [text[at : link.start], f"[{shown}](<{link.url}>)" if shown else f" ([source](<{link.url}>))"]
            at = link.end
    return "".join([*pieces, text[at:]])


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.removeprefix("www.")
    except ValueError:
        return ""
