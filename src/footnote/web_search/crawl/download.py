"""Downloads a document: follows redirects, obeys robots.txt, and enforces limits on size and media type."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct

from footnote.documents import media
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.sources import CachedPage
from footnote.web_search.cache import Clock
from footnote.web_search.crawl.fetch import Body, Fetcher, PageFailed, RedirectChain
from footnote.web_search.crawl.robots import Robots

DEFAULT_TTL_SECONDS = 5 * 60
"""For a page without cache headers: about as long as a few questions on the same subject take."""
MAX_TTL_SECONDS = 24 * 60 * 60

_DIRECTIVE = re.compile(r"([a-z-]+)\s*(?:=\s*\"?([0-9]+)\"?)?", re.IGNORECASE)


def cache_ttl(headers: Mapping[str, str]) -> float | None:
    """The seconds for which a page may be cached. 0: it must be revalidated each time; None: it must not be stored."""
    directives = {name.lower(): value for name, value in _DIRECTIVE.findall(headers.get("Cache-Control", ""))}
    if "no-store" in directives:
        return None
    if "no-cache" in directives:
        return 0
    age = headers.get("Age", "")
    seconds = _lifetime(directives.get("max-age"), headers) - (int(age[:9]) if age.isdecimal() else 0)
    return max(0, min(seconds, MAX_TTL_SECONDS))


def _lifetime(max_age: str | None, headers: Mapping[str, str]) -> float:
    if max_age:
        return int(max_age[:9])
    expires, now = headers.get("Expires"), headers.get("Date")
    if expires is None or now is None:
        return DEFAULT_TTL_SECONDS
    try:
        return (parsedate_to_datetime(expires) - parsedate_to_datetime(now)).total_seconds()
    except (ValueError, TypeError):
        return 0  # such as `Expires: 0`


SNIFF_BYTES = 512

_NAMED_MEDIA_TYPES = frozenset(
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
"""The types that a reason may name. A header can contain any text, and a model reads the reason."""
_UNKNOWN_TYPE_REASON = "it is no document of a known kind"
_MEDIA_FAMILIES = {"image": "an image", "audio": "a recording", "video": "a video", "font": "a font"}


class CrawlLimits(Struct, frozen=True):
    """The limits for one page. They apply to the bytes on the wire and to those after decompression. A longer text is
    truncated; a larger PDF or Office document is refused, because a part of it cannot be read. The timeout of a request
    begins when it gets a slot."""

    max_text_bytes: int = 4_000_000
    max_document_bytes: int = 20_000_000
    timeout_seconds: float = 20.0


class CrawlOptions(Struct, frozen=True):
    """The options of pages that are read together. `slot_seconds`: how long a page holds its slot of the host, before
    the next page may begin."""

    respect_robots: bool
    private_hosts: frozenset[str]
    slot_seconds: float


class DownloadState:
    """The progress of a download, which the report of a failed one needs too."""

    def __init__(self) -> None:
        self.url: PageUrl | None = None
        self.status: int | None = None
        self.bytes = 0


class DownloadedDocument(Struct, frozen=True):
    """A response. `body` None: the cached page is still valid."""

    url: PageUrl
    headers: Mapping[str, str]
    content_type: str = ""
    body: bytes | None = None
    truncated: bool = False


class Downloader:
    def __init__(self, net: Net, limits: CrawlLimits, clock: Clock) -> None:
        self._limits = limits
        self._fetcher = Fetcher(net)
        self._robots = Robots(self._fetcher, clock)

    async def download(
        self, url: PageUrl, cached: CachedPage | None, state: DownloadState, options: CrawlOptions
    ) -> DownloadedDocument:
        """The document at the end of the redirects. Raises `PageFailed`, `ConnectionFailed` or `TimeoutError`."""
        chain = RedirectChain(url)
        while True:
            state.url = chain.url
            with chain.mask_redirect_target():
                if options.respect_robots:
                    await self._robots.check(chain.url, options.private_hosts)
                async with self._fetcher.request(
                    chain.url,
                    headers=_request_headers(chain.url, cached),
                    private_hosts=options.private_hosts,
                    timeout_seconds=self._limits.timeout_seconds,
                    slot_seconds=options.slot_seconds,
                ) as response:
                    state.status = response.status
                    target = chain.redirect_target(response)
                    if target is None:
                        return await self._read_response(chain.url, response, cached, state)
            chain.follow(target)

    async def _read_response(
        self, url: PageUrl, response: Response, cached: CachedPage | None, state: DownloadState
    ) -> DownloadedDocument:
        if response.status == 304 and cached is not None and str(url) == cached.final_url:
            return DownloadedDocument(url, response.headers)
        if response.status in (204, 205):
            raise PageFailed("empty", f"HTTP {response.status}: there is nothing on it")
        if not 200 <= response.status < 300:
            raise PageFailed("status", f"HTTP {response.status}")
        declared = response.headers.get("Content-Type", "")
        if not media.is_readable(declared, str(url)):
            raise PageFailed("media_type", f"{_type_name(declared)} is not read")
        body = Body(response.headers.get("Content-Encoding"), self._limits.max_text_bytes)
        await _read_body(response, body, SNIFF_BYTES, state)
        content_type = media.sniff_type(declared, bytes(body.data[:SNIFF_BYTES]), str(url))
        if content_type is None:
            raise PageFailed("media_type", _unreadable_reason(declared))
        is_whole = content_type in media.WHOLE_BODY_TYPES
        if is_whole:
            self._check_size(response, content_type)
            body.limit = self._limits.max_document_bytes
        await _read_body(response, body, body.limit, state)
        if is_whole and body.is_truncated:
            raise self._too_large(content_type)
        return DownloadedDocument(url, response.headers, content_type, bytes(body.data), body.is_truncated)

    def _check_size(self, response: Response, content_type: str) -> None:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and int(length[:20]) > self._limits.max_document_bytes:
            raise self._too_large(content_type)

    def _too_large(self, content_type: str) -> PageFailed:
        kind = "a PDF" if content_type == media.PDF else "an Office document"
        return PageFailed("too_large", f"{kind} of more than {self._limits.max_document_bytes:,} bytes is not read")


def _type_name(declared: str) -> str:
    media_type = media.media_type(declared)
    return (
        media_type
        if media_type in _NAMED_MEDIA_TYPES
        else _MEDIA_FAMILIES.get(media_type.partition("/")[0], "a document of an unknown kind")
    )


def _unreadable_reason(declared: str) -> str:
    """The reason for a document that was refused by its first bytes."""
    return (
        f"{_type_name(declared)} is not read"
        if media.media_type(declared) in _NAMED_MEDIA_TYPES
        else _UNKNOWN_TYPE_REASON
    )


async def _read_body(response: Response, body: Body, max_bytes: int, state: DownloadState) -> None:
    while len(body.data) < max_bytes and not body.is_full and (chunk := await response.read_chunk()):
        state.bytes += len(chunk)
        body.feed(chunk)


def _request_headers(url: PageUrl, cached: CachedPage | None) -> dict[str, str]:
    headers = {"Accept": media.ACCEPT}
    if cached is not None and cached.final_url == str(url):
        if cached.etag:
            headers["If-None-Match"] = cached.etag
        if cached.last_modified:
            headers["If-Modified-Since"] = cached.last_modified
    return headers
