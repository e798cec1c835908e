"""What a page tells about itself: title, author, date, language, site, canonical address, icon. Any of it may be
wrong."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import urljoin

import msgspec
from msgspec import Struct

from footnote.documents.extract.tokens import Attributes
from footnote.documents.extract.tree import HtmlNode, PageTree

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
"""Icons for the screens of phones come last: they are large."""
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
    """`text` is what was read of the page, for what it does not say of itself."""
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
    """The objects of JSON-LD that describe the page, those of articles first."""
    objects: list[dict[str, Any]] = []
    for source in sources[:20]:
        try:
            _collect(msgspec.json.decode(source.strip().encode("utf-8", "replace")), objects, 4)
        except (msgspec.DecodeError, RecursionError):
            continue
    yield from sorted(objects, key=lambda one: not any(_ARTICLE.search(kind) for kind in _kinds(one)))


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
    return [str(one) for one in cast("list[Any]", kind)] if isinstance(kind, list) else [str(kind)]


def _value(structured: list[dict[str, Any]], *names: str) -> Any:
    described = (one for one in structured if any(_ARTICLE.search(kind) for kind in _kinds(one)))
    return next((one[name] for one in described for name in names if one.get(name)), None)


def _entity_name(value: Any) -> str | None:
    """The name of a person or an organisation, of the first few of several."""
    if isinstance(value, list):
        names = [name for one in cast("list[Any]", value)[:5] if (name := _entity_name(one))]
        return ", ".join(dict.fromkeys(names)) or None
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("name")
    return _line(value) or None if isinstance(value, str) and not value.startswith("http") else None


def _title(document: PageTree, metas: Mapping[str, str], structured: list[dict[str, Any]], site: str | None) -> str:
    headline = _value(structured, "headline")
    said = _first(metas, _TITLES) or (_line(headline) if isinstance(headline, str) else "")
    title = said or _line(document.title)
    heading = _heading(document.root)
    if heading and title and heading != title and title.startswith(heading):
        return heading
    return _without_site(title, site) or heading or ""


def _without_site(title: str, site: str | None) -> str:
    """`Oxygen | The Encyclopedia` without the site, which stands last or first and is the shorter part."""
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
    said = _entity_name(_value(structured, "author", "creator")) or _first(metas, _AUTHORS)
    return said if said and not said.startswith(("http", "@")) else None


def _publication_date(document: PageTree, metas: Mapping[str, str], structured: list[dict[str, Any]]) -> str | None:
    told = [
        _first(metas, _DATES[:1]),
        _value(structured, "datePublished", "uploadDate"),
        *(metas.get(name) for name in _DATES),
    ]
    times = (node.attributes.get("datetime", "") for node in _with_tag(document.root, "time"))
    return next(filter(None, map(_iso_date, told)), None) or next(filter(None, map(_iso_date, times)), None)


def _iso_date(said: Any) -> str | None:
    found = _DATE.match(said.strip()) if isinstance(said, str) else None
    if found is None:
        return None
    year, month, day = (int(part) for part in found.groups() if part)
    return f"{year:04}-{month:02}-{day:02}" if 1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31 else None


def _language(document: PageTree, metas: Mapping[str, str], text: str) -> str | None:
    told = (document.attributes.get("lang"), document.attributes.get("xml:lang"), metas.get("content-language"))
    said = next((one for one in told if one and _LANGUAGE.fullmatch(one.strip())), None)
    return said.strip().replace("_", "-") if said else _language_by_script(text[:2_000])


def _language_by_script(text: str) -> str | None:
    if _KANA.search(text):
        return "ja"
    if len(_HANGUL.findall(text)) * 4 > len(text):
        return "ko"
    if len(_HAN.findall(text)) * 4 > len(text):
        return "zh"
    return "vi" if len(_VIETNAMESE.findall(text.lower())) * 20 > len(text) else None


def _canonical(document: PageTree, metas: Mapping[str, str], url: str) -> str | None:
    told = [link.get("href", "") for link in document.relations if "canonical" in link.get("rel", "").lower().split()]
    for said in (*told, metas.get("og:url", "")):
        try:
            address = urljoin(url, said.strip()) if said.strip() else ""
        except ValueError:
            continue
        if address.startswith(("http://", "https://")) and not re.search(r"\s", address):
            return address
    return None


def _icon(document: PageTree, url: str) -> str | None:
    """Where its icon is: of several the one that is nearest to the size in which it is shown. Never a drawing in SVG,
    which is not shown, and nothing that stands in the address itself."""
    base = next((link.get("href", "") for link in document.relations if link.get("rel") == "base"), "")
    candidates = [_Icon.from_link(link) for link in document.relations[:MAX_LINK_ELEMENTS]]
    for icon in sorted(filter(None, candidates), key=lambda one: one.distance):
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
