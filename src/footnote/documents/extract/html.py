"""HTML pages: their main content as markdown, and the metadata that they declare."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import urljoin

import msgspec
from msgspec import Struct

from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.extract.content import MIN_TEXT_CHARS, main_content
from footnote.documents.extract.markdown import MarkdownPiece, as_links, name_cited_sources, to_markdown
from footnote.documents.extract.tokens import Attributes
from footnote.documents.extract.tree import HtmlNode, PageTree, parse_html

SCRIPT_PAGE_CHARS = 200
"""A page with scripts and fewer letters is most likely rendered by them."""
MAX_WALL_CHARS = 1_500
"""A longer page has content, whatever else it asks for."""

_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without) (?:\w+ ){0,3}javascript"
    r"|javascript (?:is |to be )?(?:\w+ ){0,2}(?:disabled|required|enabled|off)"
    r"|bật javascript|启用\s*javascript|開啟\s*javascript|javascript を有効",
    re.IGNORECASE,
)
_WALL = re.compile(
    r"(?:accept|allow|consent to|agree to) (?:\w+ ){0,3}cookies|cookies? (?:policy|consent|preferences|settings)"
    r"|(?:uses?|using) (?:\w+ ){0,2}cookies|we value your privacy|our \d+ partners|access information on a device"
    r"|before you continue|verify (?:that )?you are (?:a )?human|are you a robot"
    r"|not a robot|checking your browser|unusual traffic|complete the (?:security check|captcha)|just a moment"
    r"|(?:log|sign) in to (?:continue|read|view)|subscribe to (?:continue|read)|create (?:an|a free) account to"
    r"|chấp nhận (?:tất cả )?cookie|đăng nhập để|xác minh (?:rằng )?bạn (?:là|không phải)"
    r"|接受(?:所有|全部)?\s*cookie|登录后(?:查看|继续|阅读)|验证您是真人|请完成安全验证",
    re.IGNORECASE,
)


def reject_walls(document: PageTree, everything: str, prose: int, content: str) -> None:
    """Raises `UnreadableDocument` for a page without content. `everything` is all visible text, navigation included,
    and `prose` the amount of it in paragraphs; `content` is the extracted text. A cookie notice beside a short text is
    not a wall."""
    visible = " ".join(everything.split())
    has_content = len(content) >= MIN_TEXT_CHARS and not _WALL.search(content)
    if len(visible) <= MAX_WALL_CHARS and (_WALL.search(document.title) or (_WALL.search(visible) and not has_content)):
        raise UnreadableDocument("consent_wall", "it asks for consent, a login or a proof of being human first")
    asks_for_scripts = any(_NEEDS_SCRIPT.search(text) for text in (*document.noscript, visible))
    if len(visible) < SCRIPT_PAGE_CHARS and (asks_for_scripts or (document.scripts and not prose)):
        raise UnreadableDocument("needs_javascript", "its text is made by a script, which is not run here")
    if not visible:
        raise UnreadableDocument("empty", "there is no text in it")


LOW_CONTENT_CHARS = 400
"""A page with less content may be nothing but a wall."""
SMALL_PAGE_CHARS = 4_000
BLANK_PAGE_CHARS = 50
"""A page with fewer visible letters counts as blank."""


def read(text: str, url: str) -> ExtractedPage:
    document = _parse_page(text)
    # Before `main_content`, which changes the tree.
    size, prose = document.root.size, document.root.prose
    everything = _all_text(document.root) if size <= SMALL_PAGE_CHARS else ""
    metadata = page_metadata(document, url, everything)
    name_cited_sources(document.root)
    chosen = to_markdown(main_content(document, url), url)
    if len(chosen.text) < LOW_CONTENT_CHARS and size <= SMALL_PAGE_CHARS:
        reject_walls(document, everything, prose, chosen.text)
    if not chosen.text:
        raise UnreadableDocument("empty", "there is no text in it")
    shortened = _truncate(chosen)
    return ExtractedPage(
        text=shortened.text,
        title=metadata.title,
        author=metadata.author,
        published=metadata.published,
        language=metadata.language,
        site_name=metadata.site_name,
        canonical_url=metadata.canonical_url,
        icon=metadata.icon,
        links=as_links(shortened),
        cut=document.cut or len(shortened.text) < len(chosen.text),
    )


def _parse_page(text: str) -> PageTree:
    """The page as a browser without scripts shows it. `noscript` of a forum may hold a whole thread, that of most pages
    a sentence. The hidden content of a blank page is used, since a script would reveal it."""
    document = parse_html(text)
    if document.root.prose < LOW_CONTENT_CHARS and document.noscript:
        without_scripts = parse_html("".join(document.noscript)).root
        if without_scripts.prose > 2 * document.root.prose:
            document.root = without_scripts
    if document.root.size < BLANK_PAGE_CHARS:
        with_hidden = parse_html(text, include_hidden=True).root
        if with_hidden.prose >= LOW_CONTENT_CHARS:
            document.root = with_hidden
    return document


def _all_text(node: HtmlNode) -> str:
    return " ".join(kid if isinstance(kid, str) else _all_text(kid) for kid in node.kids)


def _truncate(piece: MarkdownPiece) -> MarkdownPiece:
    """Cuts a text that is too long at the end of a block."""
    if len(piece.text) <= MAX_CHARACTERS:
        return piece
    end = piece.text.rfind("\n\n", MAX_CHARACTERS // 2, MAX_CHARACTERS)
    end = end if end > 0 else MAX_CHARACTERS
    return MarkdownPiece(piece.text[:end], tuple(link for link in piece.links if link[1] <= end))


# Metadata: title, author, date, language, site, canonical URL and icon, as the page declares them ---------------------

MAX_FIELD_CHARS = 300
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)|(\d{4})(\d{2})(\d{2})(?!\d)|(\d{4})/(\d{2})/(\d{2})(?!\d)")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_SEPARATOR = re.compile(r"(?<!\s)\s++[|·•\u2013\u2014:»«-]++\s++|(?:(?<!\s)\s++)?[|_]\s*+")
_SIGNS = " |·•\u2013\u2014:»«-_"
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Review|Recipe|WebPage|QAPage)$")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]")

_TITLES = ("og:title", "twitter:title", "dc.title", "citation_title")
_AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author", "sailthru.author")
_DATES = (
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "dc.date.issued",
    "dc.date",
    "publishdate",
    "pubdate",
    "publish_date",
    "parsely-pub-date",
    "date",
)
_SITES = ("og:site_name", "application-name")


MAX_LINK_ELEMENTS = 500
MAX_ICON_URL_CHARS = 2_000
ICON_SIZE = 32
TOUCH_ICON_DISTANCE = 10_000
"""Icons for home screens of phones come last: they are large."""
_SIZE = re.compile(r"(\d{1,4})[xX]\d")


class PageMetadata(Struct, frozen=True, kw_only=True):
    title: str
    author: str | None
    published: str | None
    language: str | None
    site_name: str | None
    canonical_url: str | None
    icon: str | None


def page_metadata(document: PageTree, url: str, text: str) -> PageMetadata:
    """`text` is the text of the page, to detect the language if it is not declared."""
    metas = _by_name(document.metas)
    structured = list(_json_ld_objects(document.structured))
    site = _first(metas, _SITES) or _entity_name(_value(structured, "publisher"))
    return PageMetadata(
        title=_title(document, metas, structured, site),
        author=_author(metas, structured),
        published=_publication_date(document, metas, structured),
        language=_language(document, metas, text),
        site_name=site,
        canonical_url=_canonical(document, metas, url),
        icon=_icon(document, url),
    )


def _by_name(metas: list[Attributes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in metas:
        name = (
            meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv") or ""
        ).lower()
        content = _line(meta.get("content", ""))
        if name and content:
            found.setdefault(name, content)
    return found


def _json_ld_objects(sources: list[str]) -> Iterator[dict[str, Any]]:
    """The JSON-LD objects of the page, articles first."""
    objects: list[dict[str, Any]] = []
    for source in sources[:20]:
        try:
            _collect(msgspec.json.decode(source.strip().encode("utf-8", "replace")), objects, 4)
        except (msgspec.DecodeError, RecursionError):
            continue
    yield from sorted(objects, key=lambda item: not any(_ARTICLE.search(kind) for kind in _kinds(item)))


def _collect(value: Any, objects: list[dict[str, Any]], levels: int) -> None:
    if isinstance(value, list):
        for item in cast("list[Any]", value)[:50]:
            _collect(item, objects, levels)
    elif isinstance(value, dict) and levels:
        found = cast("dict[str, Any]", value)
        objects.append(found)
        _collect(found.get("@graph"), objects, levels - 1)
        _collect(found.get("mainEntity"), objects, levels - 1)


def _kinds(found: Mapping[str, Any]) -> list[str]:
    kind = found.get("@type")
    return [str(item) for item in cast("list[Any]", kind)] if isinstance(kind, list) else [str(kind)]


def _value(structured: list[dict[str, Any]], *names: str) -> Any:
    described = (item for item in structured if any(_ARTICLE.search(kind) for kind in _kinds(item)))
    return next((item[name] for item in described for name in names if item.get(name)), None)


def _entity_name(value: Any) -> str | None:
    """The name of a person or an organisation; of several, the first few names."""
    if isinstance(value, list):
        names = [name for item in cast("list[Any]", value)[:5] if (name := _entity_name(item))]
        return ", ".join(dict.fromkeys(names)) or None
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("name")
    return _line(value) or None if isinstance(value, str) and not value.startswith("http") else None


def _title(document: PageTree, metas: Mapping[str, str], structured: list[dict[str, Any]], site: str | None) -> str:
    headline = _value(structured, "headline")
    name = _first(metas, _TITLES) or (_line(headline) if isinstance(headline, str) else "")
    title = name or _line(document.title)
    heading = _heading(document.root)
    if heading and title and heading != title and title.startswith(heading):
        return heading
    return _without_site(title, site) or heading or ""


def _without_site(title: str, site: str | None) -> str:
    """`Oxygen | The Encyclopedia` without the name of the site, which is the first or last part, and short."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    last = parts[-1]
    if site and parts[0].casefold() == site.casefold():
        return title[len(parts[0]) :].lstrip(_SIGNS)
    if (site and last.casefold() == site.casefold()) or (len(last) <= 30 and len(last) * 2 < len(title)):
        return title[: title.rindex(last)].rstrip(_SIGNS)
    return title


def _heading(node: HtmlNode) -> str | None:
    found = next(_with_tag(node, "h1"), None)
    return _line("".join(_texts(found))) or None if found else None


def _with_tag(node: HtmlNode, tag: str) -> Iterator[HtmlNode]:
    if node.tag == tag:
        yield node
    for kid in node.kids:
        if isinstance(kid, HtmlNode):
            yield from _with_tag(kid, tag)


def _texts(node: HtmlNode) -> Iterator[str]:
    for kid in node.kids:
        if isinstance(kid, str):
            yield kid
        else:
            yield from _texts(kid)


def _author(metas: Mapping[str, str], structured: list[dict[str, Any]]) -> str | None:
    value = _entity_name(_value(structured, "author", "creator")) or _first(metas, _AUTHORS)
    return value if value and not value.startswith(("http", "@")) else None


def _publication_date(document: PageTree, metas: Mapping[str, str], structured: list[dict[str, Any]]) -> str | None:
    declared = [
        _first(metas, _DATES[:1]),
        _value(structured, "datePublished", "uploadDate"),
        *(metas.get(name) for name in _DATES),
    ]
    times = (node.attributes.get("datetime", "") for node in _with_tag(document.root, "time"))
    return next(filter(None, map(_iso_date, declared)), None) or next(filter(None, map(_iso_date, times)), None)


def _iso_date(value: Any) -> str | None:
    found = _DATE.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day = (int(part) for part in found.groups() if part)
    return f"{year:04}-{month:02}-{day:02}" if 1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31 else None


def _language(document: PageTree, metas: Mapping[str, str], text: str) -> str | None:
    declared = (document.attributes.get("lang"), document.attributes.get("xml:lang"), metas.get("content-language"))
    value = next((item for item in declared if item and _LANGUAGE.fullmatch(item.strip())), None)
    return value.strip().replace("_", "-") if value else _language_by_script(text[:2_000])


def _language_by_script(text: str) -> str | None:
    if _KANA.search(text):
        return "ja"
    if len(_HANGUL.findall(text)) * 4 > len(text):
        return "ko"
    if len(_HAN.findall(text)) * 4 > len(text):
        return "zh"
    return "vi" if len(_VIETNAMESE.findall(text.lower())) * 20 > len(text) else None


def _canonical(document: PageTree, metas: Mapping[str, str], url: str) -> str | None:
    declared = [
        link.get("href", "") for link in document.relations if "canonical" in link.get("rel", "").lower().split()
    ]
    for value in (*declared, metas.get("og:url", "")):
        try:
            address = urljoin(url, value.strip()) if value.strip() else ""
        except ValueError:
            continue
        if address.startswith(("http://", "https://")) and not re.search(r"\s", address):
            return address
    return None


def _icon(document: PageTree, url: str) -> str | None:
    """The URL of the icon whose size is nearest to that in which it is shown. SVG icons and data URLs are ignored,
    since they are not shown."""
    base = next((link.get("href", "") for link in document.relations if link.get("rel") == "base"), "")
    candidates = [_Icon.from_link(link) for link in document.relations[:MAX_LINK_ELEMENTS]]
    for icon in sorted(filter(None, candidates), key=lambda icon: icon.distance):
        try:
            address = urljoin(urljoin(url, base.strip()), icon.href)
        except ValueError:
            continue
        if address.startswith(("http://", "https://")) and len(address) <= MAX_ICON_URL_CHARS:
            return address
    return None


class _Icon(Struct, frozen=True):
    href: str
    distance: int

    @classmethod
    def from_link(cls, link: Attributes) -> "_Icon | None":
        rel, href = link.get("rel", "").lower().split(), link.get("href", "").strip()
        is_drawing = "svg" in link.get("type", "").lower() or href.lower().partition("?")[0].endswith(".svg")
        if not href or is_drawing or href.lower().startswith("data:") or re.search(r"\s", href):
            return None
        if "icon" in rel:
            size = _SIZE.match(link.get("sizes", "").strip())
            return cls(href, abs(int(size[1]) - ICON_SIZE) if size else 0)
        return cls(href, TOUCH_ICON_DISTANCE) if "apple-touch-icon" in rel else None


def _first(metas: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((metas[name] for name in names if metas.get(name)), None)


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_FIELD_CHARS]
