"""From a URL to the bytes of a document: through redirects, by the rules of each host, within the caps."""

from collections.abc import Mapping

from msgspec import Struct

from footnote.documents import media
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.pages import CachedPage
from footnote.web_search.clock import Clock
from footnote.web_search.reading.body import Body
from footnote.web_search.reading.fetch import Fetcher, PageFailed, Trail
from footnote.web_search.reading.robots import Robots

SNIFFED = 512

_NAMED = frozenset(
    {
        *(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "avif", "bmp", "tiff", "svg+xml", "x-icon")),
        *(f"audio/{kind}" for kind in ("mpeg", "mp4", "ogg", "wav", "x-wav", "webm", "flac", "aac")),
        *(f"video/{kind}" for kind in ("mp4", "webm", "ogg", "mpeg", "quicktime", "x-msvideo")),
        *(f"font/{kind}" for kind in ("woff", "woff2", "ttf", "otf")),
        *(f"text/{kind}" for kind in ("css", "javascript", "calendar", "rtf", "event-stream")),
        *(
            f"application/{kind}"
            for kind in ("zip", "gzip", "x-gzip", "x-tar", "x-7z-compressed", "vnd.rar", "x-bzip2")
        ),
        *(f"application/{kind}" for kind in ("javascript", "rtf", "epub+zip", "msword", "wasm", "x-msdownload")),
        *(f"application/vnd.ms-{kind}" for kind in ("excel", "powerpoint")),
        *(
            f"application/vnd.openxmlformats-officedocument.{kind}"
            for kind in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
        ),
        *(f"application/vnd.oasis.opendocument.{kind}" for kind in ("text", "spreadsheet", "presentation")),
    }
)
"""Kinds that are repeated when they are not read. A header can say anything, and the reason is told to a model."""
_UNKNOWN = "it is no document of a known kind"
_FAMILIES = {"image": "an image", "audio": "a recording", "video": "a video", "font": "a font"}


class Caps(Struct, frozen=True):
    """What one page may cost. Bytes are counted on the wire and again after decompression; text beyond them is left
    out, while of a PDF or an Office document a part is of no use. `seconds` are for one request, from when it is its
    turn."""

    text_bytes: int = 4_000_000
    whole_bytes: int = 20_000_000
    seconds: float = 20.0


class Terms(Struct, frozen=True):
    """What holds for all pages that are read together. A page has its host to itself for `turn_seconds`, with one
    other; after that the next may begin."""

    respect_robots: bool
    private_hosts: frozenset[str]
    turn_seconds: float


class Course:
    """How far a download has come, for the report of one that fails too."""

    def __init__(self) -> None:
        self.url: PageUrl | None = None
        self.status: int | None = None
        self.bytes = 0


class Document(Struct, frozen=True):
    """What a server sent. `body` None: what we had is still right."""

    url: PageUrl
    headers: Mapping[str, str]
    content_type: str = ""
    body: bytes | None = None
    cut: bool = False


class Downloader:
    def __init__(self, net: Net, caps: Caps, clock: Clock) -> None:
        self._caps = caps
        self._fetcher = Fetcher(net)
        self._robots = Robots(self._fetcher, clock)

    async def download(self, url: PageUrl, known: CachedPage | None, course: Course, terms: Terms) -> Document:
        """Whatever `url` leads to. `PageFailed`, `ConnectionFailed` or `TimeoutError` say what went wrong."""
        trail = Trail(url)
        while True:
            course.url = trail.url
            with trail.told_in_our_words():
                if terms.respect_robots:
                    await self._robots.check(trail.url, terms.private_hosts)
                async with self._fetcher.exchange(
                    trail.url,
                    headers=_headers(trail.url, known),
                    private_hosts=terms.private_hosts,
                    seconds=self._caps.seconds,
                    turn_seconds=terms.turn_seconds,
                ) as response:
                    course.status = response.status
                    onwards = trail.leads_on(response)
                    if onwards is None:
                        return await self._take(trail.url, response, known, course)
            trail.follow(onwards)

    async def _take(self, url: PageUrl, response: Response, known: CachedPage | None, course: Course) -> Document:
        if response.status == 304 and known is not None and str(url) == known.final_url:
            return Document(url, response.headers)
        if response.status in (204, 205):
            raise PageFailed("empty", f"HTTP {response.status}: there is nothing on it")
        if not 200 <= response.status < 300:
            raise PageFailed("status", f"HTTP {response.status}")
        declared = response.headers.get("Content-Type", "")
        if not media.is_readable(declared, str(url)):
            raise PageFailed("media_type", f"{_kind(declared)} is not read")
        body = Body(response.headers.get("Content-Encoding"), self._caps.text_bytes)
        await _read(response, body, SNIFFED, course)
        content_type = media.seen_type(declared, bytes(body.data[:SNIFFED]), str(url))
        if content_type is None:
            raise PageFailed("media_type", _why_not_read(declared))
        is_whole = content_type in media.WHOLE
        if is_whole:
            self._check_size(response, content_type)
            body.limit = self._caps.whole_bytes
        await _read(response, body, body.limit, course)
        if is_whole and body.cut:
            raise self._too_large(content_type)
        return Document(url, response.headers, content_type, bytes(body.data), body.cut)

    def _check_size(self, response: Response, content_type: str) -> None:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and int(length[:20]) > self._caps.whole_bytes:
            raise self._too_large(content_type)

    def _too_large(self, content_type: str) -> PageFailed:
        kind = "a PDF" if content_type == media.PDF else "an Office document"
        return PageFailed("too_large", f"{kind} of more than {self._caps.whole_bytes:,} bytes is not read")


def _kind(declared: str) -> str:
    kind = media.media_type(declared)
    return kind if kind in _NAMED else _FAMILIES.get(kind.partition("/")[0], "a document of an unknown kind")


def _why_not_read(declared: str) -> str:
    """Of a document whose beginning was looked at."""
    return f"{_kind(declared)} is not read" if media.media_type(declared) in _NAMED else _UNKNOWN


async def _read(response: Response, body: Body, enough: int, course: Course) -> None:
    while len(body.data) < enough and not body.full and (chunk := await response.read_some()):
        course.bytes += len(chunk)
        body.feed(chunk)


def _headers(url: PageUrl, known: CachedPage | None) -> dict[str, str]:
    headers = {"Accept": media.ACCEPT}
    if known is not None and known.final_url == str(url):
        if known.etag:
            headers["If-None-Match"] = known.etag
        if known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
    return headers
