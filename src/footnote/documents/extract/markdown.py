"""The content of a page as markdown: blocks with a blank line between, plain inside a line, links by their offsets. A
footnote of the page is a link without a text, to the source that it names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from footnote.documents.extract.notation import superscript
from footnote.documents.extract.tree import HEADINGS, HtmlNode
from footnote.protocol.sources import Link

_SPACE = re.compile(r"[\s\u00a0]+")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s](\w[\w+#-]*)")
_REFERENCE = re.compile(r"\s*\[[\w\s,.*†‡-]{1,12}\]\s*")
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_ROWS = frozenset(("thead", "tbody", "tfoot", "tr"))
_MAX_SUPERSCRIPT_CHARS = 12
"""Limit for a reference mark or an exponent; a longer superscript is a remark."""
_MAX_CELL_PROSE = 300
"""A cell with more prose than this is a part of a page that is laid out by a table."""


class MarkdownPiece(NamedTuple):
    """A part of the text, with the links in it: start, end, address."""

    text: str
    links: tuple[tuple[int, int, str], ...] = ()


EMPTY = MarkdownPiece("")


def to_markdown(content: HtmlNode, base: str) -> MarkdownPiece:
    """The blocks of an element, in order. Relative links are resolved against `base`."""
    return _join(_blocks(content, base), "\n\n")


def as_links(piece: MarkdownPiece) -> tuple[Link, ...]:
    return tuple(Link(url, start, end) for start, end, url in piece.links)


def _blocks(node: HtmlNode, base: str) -> Iterator[MarkdownPiece]:
    """The blocks of an element, and the paragraphs of its own text between them."""
    inline: list[HtmlNode | str] = []
    for kid in node.kids:
        if isinstance(kid, str) or not kid.solid:
            inline.append(kid)
            continue
        yield from _paragraphs(inline, base)
        inline = []
        yield from _block(kid, base)
    yield from _paragraphs(inline, base)


def _block(node: HtmlNode, base: str) -> Iterator[MarkdownPiece]:
    tag = node.tag
    if tag in HEADINGS:
        heading = _to_single_line(_join(_blocks(node, base), " "))
        yield from [_prefix_lines(heading, "#" * int(tag[1]) + " ", "")] if heading.text else []
    elif tag in ("pre", "listing"):
        yield from _code(node)
    elif tag == "blockquote":
        inside = _join(_blocks(node, base), "\n\n")
        yield from [_prefix_lines(inside, "> ", "> ")] if inside.text else []
    elif tag in _LISTS:
        yield _join(_items(node, base), "\n")
    elif tag == "dd":
        inside = _join(_blocks(node, base), "\n\n")
        yield from [_prefix_lines(inside, "- ", "  ")] if inside.text else []
    elif tag == "table":
        yield from _table(node, base)
    elif tag != "hr":
        yield from _blocks(node, base)


def _paragraphs(kids: list[HtmlNode | str], base: str) -> Iterator[MarkdownPiece]:
    """The paragraphs of inline content. In old pages, two line breaks in a row end a paragraph."""
    runs: list[tuple[str, str]] = []
    breaks = 0
    for text, url in _runs(kids, ""):
        if text == "\n":
            breaks += 1
        elif text.strip():
            if breaks > 1:
                yield from _paragraph(runs, base)
                runs = []
            elif breaks:
                runs.append(("\n", ""))
            breaks = 0
            runs.append((text, url))
        else:
            runs.append((text, url))
    yield from _paragraph(runs, base)


def _runs(kids: Iterable[HtmlNode | str], url: str) -> Iterator[tuple[str, str]]:
    """Runs of text with the addresses of their links; a line break is a run. Two links side by side are two words."""
    after_link = False
    for kid in kids:
        is_link = not isinstance(kid, str) and kid.tag == "a"
        if after_link and is_link:
            yield " ", ""
        after_link = is_link
        if isinstance(kid, str):
            yield kid.replace("\n", " "), url
        elif kid.tag == "br":
            yield "\n", ""
        elif kid.tag in ("sup", "a") and _is_reference(kid):
            yield from (("", cited) for cited in _cited_addresses(kid))
        elif kid.tag == "sup" and len(raised := "".join(_raw(kid)).strip()) <= _MAX_SUPERSCRIPT_CHARS:
            links = (inner for inner in kid.kids if isinstance(inner, HtmlNode) and inner.tag == "a")
            yield superscript(raised, ""), next((link.attributes.get("href", "").strip() for link in links), url)
        elif kid.tag == "a":
            yield from _runs(kid.kids, kid.attributes.get("href", "").strip() or url)
        else:
            yield from _runs(kid.kids, url)


def _is_reference(node: HtmlNode) -> bool:
    """Whether it is a footnote of the page: `[12]` after a statement would look like one of ours."""
    if node.tag == "a" and not node.attributes.get("href", "").startswith("#"):
        return False
    return _REFERENCE.fullmatch("".join(_raw(node))) is not None


CITED = "cited-address"
"""The attribute of a footnote of the page that has the address of its source."""


_MAX_NOTE = 300
"""The elements of a note that are looked at."""
_MAX_SHORT_NOTE = 3
"""The links of a short note that may lead to the longer one."""


def name_cited_sources(root: HtmlNode) -> None:
    """Gives each footnote of a page the address of the source that it leads to: the first one of the element with its
    id, or of the one that this element leads to, as the short notes of Wikipedia do."""
    references = [node for node in _elements(root) if node.tag == "a" and _is_reference(node)]
    if not references:
        return
    targets = {node.attributes["id"]: node for node in _elements(root) if node.attributes.get("id")}
    addresses: dict[str, str | None] = {}
    for reference in references:
        fragment = _fragment(reference)
        if fragment not in addresses:
            addresses[fragment] = _cited_source(fragment, targets)
        if (address := addresses[fragment]) is not None:
            reference.attributes[CITED] = address


def _cited_source(fragment: str, targets: Mapping[str, HtmlNode]) -> str | None:
    note = targets.get(fragment)
    if note is None:
        return None
    links = [link.attributes.get("href", "").strip() for link in islice(_elements(note), _MAX_NOTE) if link.tag == "a"]
    if found := _web_address(links):
        return found
    longer = (targets.get(unquote(href[1:])) for href in links[:_MAX_SHORT_NOTE] if href.startswith("#"))
    hrefs = (
        link.attributes.get("href", "").strip()
        for one in longer
        if one is not None
        for link in islice(_elements(one), _MAX_NOTE)
    )
    return _web_address(hrefs)


def _fragment(link: HtmlNode) -> str:
    href = link.attributes.get("href", "")
    return unquote(href.removeprefix("#"))


def _web_address(hrefs: Iterable[str]) -> str | None:
    return next((href for href in hrefs if href.startswith(("http://", "https://", "//"))), None)


def _elements(node: HtmlNode) -> Iterator[HtmlNode]:
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [kid for kid in reversed(found.kids) if isinstance(kid, HtmlNode)]


def _cited_addresses(reference: HtmlNode) -> Iterator[str]:
    return (node.attributes[CITED] for node in _elements(reference) if CITED in node.attributes)


def _paragraph(runs: list[tuple[str, str]], base: str) -> Iterator[MarkdownPiece]:
    pieces: list[str] = []
    links: list[tuple[int, int, str]] = []
    length = 0
    after_space = True  # the text so far ends with white space, or is empty
    for text, url in runs:
        piece = text if text == "\n" else _SPACE.sub(" ", _INVISIBLE.sub("", text))
        if after_space or text == "\n":
            piece = piece.lstrip(" ")
        if text == "\n" and pieces and pieces[-1].endswith(" "):
            pieces[-1] = pieces[-1][:-1]
            length -= 1
        if not piece:
            if not text and url and (address := _address(url, base)):
                at = length - (1 if pieces and pieces[-1].endswith(" ") else 0)
                links.append((at, at, address))
            continue
        lead = len(piece) - len(piece.lstrip())
        if url and (inner := piece.strip()) and (address := _address(url, base)):
            links.append((length + lead, length + lead + len(inner), address))
        pieces.append(piece)
        length += len(piece)
        after_space = piece[-1].isspace()
    text = "".join(pieces).rstrip()
    if text:
        yield MarkdownPiece(text, tuple(_merge_links(links, len(text))))


def _merge_links(links: list[tuple[int, int, str]], length: int) -> Iterator[tuple[int, int, str]]:
    """Joins the runs of one link, of which there are several if its text is partly bold."""
    merged: list[tuple[int, int, str]] = []
    for start, end, url in links:
        if merged and merged[-1][2] == url and start - merged[-1][1] <= 1:
            merged[-1] = (merged[-1][0], end, url)
        else:
            merged.append((start, end, url))
    return ((start, min(end, length), url) for start, end, url in merged if start < length)


def _address(url: str, base: str) -> str | None:
    if url.startswith("#"):
        return None
    try:
        address = urljoin(base, url)
    except ValueError:
        return None
    return address if address.startswith(("http://", "https://")) and not re.search(r"\s", address) else None


def _items(node: HtmlNode, base: str) -> Iterator[MarkdownPiece]:
    number = 0
    for kid in node.kids:
        if isinstance(kid, str) or not (kid.size or kid.own):
            continue
        if kid.tag in _LISTS:  # a list directly in a list: its items belong to the item before
            yield _prefix_lines(_join(_items(kid, base), "\n"), "  ", "  ")
            continue
        number += 1
        mark = f"{number}. " if node.tag == "ol" else "- "
        inside = _item(kid, base)
        if inside.text:
            yield _prefix_lines(inside, mark, " " * len(mark))


def _item(node: HtmlNode, base: str) -> MarkdownPiece:
    """The blocks of an item: a list follows on the next line, other blocks after a blank one."""
    joined = EMPTY
    for block in _blocks(node, base):
        is_list = block.text.startswith(("- ", "1. "))
        joined = _join([joined, block], "\n" if is_list else "\n\n") if joined.text else block
    return joined


def _code(node: HtmlNode) -> Iterator[MarkdownPiece]:
    text = "".join(_raw(node)).strip("\n").replace("\u00a0", " ")
    if not text.strip():
        return
    inner = next((kid for kid in node.kids if isinstance(kid, HtmlNode) and kid.tag == "code"), node)
    language = _LANGUAGE.search(f"{inner.attributes.get('class', '')} {node.attributes.get('class', '')}")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    yield MarkdownPiece(f"{fence}{language[1] if language else ''}\n{text}\n{fence}")


def _raw(node: HtmlNode) -> Iterator[str]:
    for kid in node.kids:
        if isinstance(kid, str):
            yield kid
        elif kid.tag == "br":
            yield "\n"
        else:
            yield from _raw(kid)
            if kid.tag in ("div", "p", "li"):
                yield "\n"


def _table(node: HtmlNode, base: str) -> Iterator[MarkdownPiece]:
    rows = [row for row in _rows(node) if row]
    columns = max(map(len, rows), default=0)
    if columns < 2 or len(rows) < 2 or any(_is_layout(cell) for row in rows for cell in row):
        yield from _blocks(node, base)
        return
    yield from (
        block for kid in node.kids if isinstance(kid, HtmlNode) and kid.tag == "caption" for block in _blocks(kid, base)
    )
    lines = [_row(row, columns, base) for row in rows]
    yield _join([lines[0], MarkdownPiece("|" + " --- |" * columns), *lines[1:]], "\n")


def _rows(node: HtmlNode) -> Iterator[list[HtmlNode]]:
    for kid in node.kids:
        if isinstance(kid, str) or kid.tag not in _ROWS:
            continue
        if kid.tag == "tr":
            yield [cell for cell in kid.kids if isinstance(cell, HtmlNode) and cell.tag in ("td", "th")]
        else:
            yield from _rows(kid)


def _is_layout(cell: HtmlNode) -> bool:
    return (
        cell.prose > _MAX_CELL_PROSE
        or cell.headings > 0
        or any(isinstance(kid, HtmlNode) and kid.tag == "table" for kid in cell.kids)
    )


def _row(cells: list[HtmlNode], columns: int, base: str) -> MarkdownPiece:
    lines = [_to_single_line(_join(_blocks(cell, base), " "), bar="\\|") for cell in cells]
    lines += [EMPTY] * (columns - len(lines))
    inside = _join(lines, " | ", keep_empty=True)
    return MarkdownPiece(f"| {inside.text} |", tuple((start + 2, end + 2, url) for start, end, url in inside.links))


# Composition of pieces --------------------------------------------------------------------------------------------


def _join(pieces: Iterable[MarkdownPiece], separator: str, *, keep_empty: bool = False) -> MarkdownPiece:
    texts: list[str] = []
    links: list[tuple[int, int, str]] = []
    at = 0
    for piece in pieces:
        if not (piece.text or keep_empty):
            continue
        at += len(separator) if texts else 0
        links += [(start + at, end + at, url) for start, end, url in piece.links]
        texts.append(piece.text)
        at += len(piece.text)
    return MarkdownPiece(separator.join(texts), tuple(links))


def _prefix_lines(piece: MarkdownPiece, first: str, rest: str) -> MarkdownPiece:
    """The piece with a prefix before every line, without its trailing space before an empty one."""
    lines = piece.text.split("\n")
    prefixed: list[str] = []
    shifts: list[int] = []
    shift = 0
    for number, line in enumerate(lines):
        prefix = first if number == 0 else rest if line else rest.rstrip()
        shift += len(prefix)
        shifts.append(shift)
        prefixed.append(prefix + line)
    return MarkdownPiece("\n".join(prefixed), tuple(_shift_links(piece.links, lines, shifts)))


def _shift_links(
    links: tuple[tuple[int, int, str], ...], lines: list[str], shifts: list[int]
) -> Iterator[tuple[int, int, str]]:
    """The links with the offsets of their shifted lines. A link over several lines ends with the first of them."""
    ends = accumulate(len(line) + 1 for line in lines)
    spans = iter(zip(ends, shifts, strict=True))
    end_of_line, shift = next(spans)
    for start, end, url in links:
        while start >= end_of_line:
            end_of_line, shift = next(spans)
        yield start + shift, min(end, end_of_line - 1) + shift, url


def _to_single_line(piece: MarkdownPiece, bar: str = "|") -> MarkdownPiece:
    """The piece with a space for each line break, so that offsets stay the same, and with `bar` for each `|`."""
    text = piece.text.replace("\n", " ")
    if bar == "|" or "|" not in text:
        return MarkdownPiece(text, piece.links)
    extra = len(bar) - 1

    def shift(offset: int) -> int:
        return offset + extra * text.count("|", 0, offset)

    links = tuple((shift(start), shift(end), url) for start, end, url in piece.links)
    return MarkdownPiece(text.replace("|", bar), links)
