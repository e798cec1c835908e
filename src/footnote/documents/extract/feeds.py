"""RSS, Atom and other XML. Entities are rejected: a kilobyte of them can expand to gigabytes."""

import re
from email.utils import parsedate_to_datetime
from html import unescape
from urllib.parse import urljoin
from xml.parsers import expat

from msgspec import Struct

from footnote.documents.extract import MAX_CHARACTERS, ExtractedPage, UnreadableDocument
from footnote.documents.extract.plain import clean_text
from footnote.protocol.sources import Link

MAX_ITEMS = 500

_ROOTS = {"rss": "application/rss+xml", "RDF": "application/rss+xml", "feed": "application/atom+xml"}
_ITEMS = frozenset(("item", "entry"))
_FIELDS = {
    "title": "title",
    "link": "link",
    "pubDate": "date",
    "published": "date",
    "updated": "updated",
    "date": "date",
    "description": "text",
    "summary": "text",
    "subtitle": "text",
    "content": "text",
    "encoded": "text",
    "language": "language",
}
_DECLARED = re.compile(r"\A\s*<\?xml[^>]*\?>")
_TAGS = re.compile(r"<[^<>]*>")
_MAX_DEPTH = 500


class _FeedEntry(Struct):
    """An item of a feed, or the feed itself."""

    title: str = ""
    link: str = ""
    date: str = ""
    updated: str = ""
    text: str = ""
    language: str = ""


class _FeedParser:
    """Collects the items of a feed, and all text in case that the XML is not a feed."""

    def __init__(self) -> None:
        self.root = ""
        self.feed = _FeedEntry()
        self.items: list[_FeedEntry] = []
        self.texts: list[str] = []
        self._path: list[str] = []
        self._item: _FeedEntry | None = None
        self._item_depth = 0
        self._text: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if len(self._path) >= _MAX_DEPTH:
            raise UnreadableDocument("unreadable", "it is nested too deeply")
        self._path.append(name)
        self.root = self.root or name
        if name in _ITEMS and self._item is None and self.root in _ROOTS:
            self._item = _FeedEntry()
            self._item_depth = len(self._path)
        if name == "link" and "href" in attributes and attributes.get("rel", "alternate") == "alternate":
            entry = self._entry()
            if entry is not None:
                entry.link = entry.link or attributes["href"]
        self._flush()

    def end(self, name: str) -> None:
        text = self._flush()
        fact = _FIELDS.get(name.rpartition(":")[2])
        entry = self._entry()
        if fact and entry is not None and text:
            # The longest text is used: many feeds have a teaser and the whole article.
            previous = getattr(entry, fact)
            setattr(entry, fact, max(previous, text, key=len) if fact == "text" else previous or text)
        if self._item is not None and len(self._path) == self._item_depth:
            self.items.append(self._item)
            self._item = None
        self._path.pop()

    def data(self, text: str) -> None:
        self._text.append(text)

    def _entry(self) -> _FeedEntry | None:
        """The entry whose child the current element is; None if it is nested deeper, such as in an image."""
        if self._item is not None:
            return self._item if len(self._path) == self._item_depth + 1 else None
        if self.root == "feed":
            return self.feed if len(self._path) == 2 else None
        return self.feed if len(self._path) == 3 and self._path[1] == "channel" else None

    def _flush(self) -> str:
        text = "".join(self._text).strip()
        self._text.clear()
        if text:
            self.texts.append(text)
        return text


def read(text: str, url: str) -> ExtractedPage:
    reader = _FeedParser()
    _parse(text, reader)
    if reader.items:
        return _render_feed(reader, url)
    words = clean_text("\n\n".join(reader.texts))
    if not words:
        raise UnreadableDocument("empty", "there is no text in it")
    cut = len(words) > MAX_CHARACTERS
    return ExtractedPage(text=words[:MAX_CHARACTERS].rstrip(), media_type="application/xml", cut=cut)


def _parse(text: str, reader: _FeedParser) -> None:
    """Feeds with a stray `&` are common: what comes before the first error is used."""
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(_DECLARED.sub("", text, count=1).lstrip().encode("utf-8", "replace"), True)  # noqa: FBT003 - the library's
    except expat.ExpatError as error:
        if not reader.items and not reader.texts:
            raise UnreadableDocument("unreadable", "it is broken: no XML") from error


def _refuse(*_declaration: object) -> None:
    raise UnreadableDocument("unreadable", "it declares entities, which can be made to expand without end")


def _render_feed(reader: _FeedParser, url: str) -> ExtractedPage:
    title = _line(reader.feed.title)
    out = f"# {title}" if title else ""
    about = _line(reader.feed.text)
    if about and about != title:
        out += f"\n\n{about}"
    links: list[Link] = []
    for item in reader.items[:MAX_ITEMS]:
        name = _line(item.title) or _line(item.link) or "Untitled"
        out += "\n\n## "
        link = _target(url, item.link)
        if link:
            links.append(Link(link, len(out), len(out) + len(name)))
        out += name
        date = _date(item.date or item.updated)
        words = _line(item.text)
        out += (f"\n\n{date}" if date else "") + (f"\n\n{words}" if words and words != name else "")
    begin = len(out) - len(out.lstrip("\n"))
    text = out[begin : begin + MAX_CHARACTERS].rstrip()
    shifted = (Link(link.url, link.start - begin, link.end - begin) for link in links)
    return ExtractedPage(
        text=text,
        title=title,
        language=reader.feed.language or None,
        media_type=_ROOTS[reader.root],
        links=tuple(link for link in shifted if link.end <= len(text)),
        cut=len(out) - begin > MAX_CHARACTERS or len(reader.items) > MAX_ITEMS,
    )


def _target(url: str, link: str) -> str:
    try:
        target = urljoin(url, link.strip()) if link else ""
    except ValueError:
        return ""
    return target if target.startswith(("https://", "http://")) else ""


def _line(text: str) -> str:
    """The text of a field, which is HTML in most feeds, escaped once or twice."""
    return " ".join(clean_text(unescape(_TAGS.sub(" ", unescape(text)))).split())


def _date(text: str) -> str:
    """An ISO date, if the text can be parsed as one."""
    text = text.strip()
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return text[:10]
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, IndexError, TypeError):
        return _line(text)
