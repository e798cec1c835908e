"""One image from the web, asked for by a person: through redirects, within caps, and never anything but an image."""

import asyncio
from collections.abc import Collection

from msgspec import Struct

from footnote.documents.inspection.signatures import detect_signature
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.errors import LimitReached, UnprocessableFile
from footnote.sandbox.jobs import ImageCheck
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.crawl.body import Body
from footnote.web_search.crawl.fetch import Fetcher, PageFailed, RedirectChain

ACCEPT = "image/webp, image/png, image/jpeg, image/gif;q=0.9, image/x-icon;q=0.8, */*;q=0.1"
PHOTO_TYPES = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
"""Drawings in SVG are programs too, and are not among them."""
ICON_TYPES = PHOTO_TYPES | {"image/x-icon"}
MAX_CONCURRENT = 6
CHECK_TIMEOUT_SECONDS = 5.0
MAX_PIXELS = 100_000_000
"""A few bytes can claim any size, which a browser would make room for."""
_HEADER_BYTES = 64


class FetchedImage(Struct, frozen=True):
    """`media_type` is what its first bytes say, whatever the server did."""

    media_type: str
    content: bytes


class ImageFetcher:
    """Asks for images, a few at a time. One for all who ask."""

    def __init__(self, net: Net, sandbox: SandboxPool) -> None:
        self._fetcher = Fetcher(net)
        self._sandbox = sandbox
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def fetch(
        self,
        url: str,
        *,
        media_types: frozenset[str] = PHOTO_TYPES,
        max_bytes: int,
        timeout_seconds: float,
        private_hosts: Collection[str] = (),
    ) -> FetchedImage:
        """`PageFailed`, `ConnectionFailed` or `TimeoutError` say what went wrong. Every address on the way is judged
        as those of pages are; `seconds` are for all of it."""
        async with self._slots, asyncio.timeout(timeout_seconds):
            trail = RedirectChain(PageUrl.parse(url))
            while True:
                if not trail.url.is_allowed_private(private_hosts):
                    trail.url.check_host()
                async with self._fetcher.request(
                    trail.url, headers={"Accept": ACCEPT}, private_hosts=private_hosts, timeout_seconds=timeout_seconds
                ) as response:
                    onwards = trail.redirect_target(response)
                    if onwards is None:
                        content = await _read_image(response, media_types, max_bytes)
                        break
                trail.follow(onwards)
            return await self._check_image(content, media_types)

    async def _check_image(self, content: bytes, media_types: frozenset[str]) -> FetchedImage:
        """What its header says is read in the sandbox, as everything else that comes from the web."""
        try:
            facts = await self._sandbox.run(ImageCheck(content=content, filename="The image"), CHECK_TIMEOUT_SECONDS)
        except (UnprocessableFile, LimitReached):
            raise PageFailed("unreadable", "it could not be looked at") from None
        if facts.media_type is None or facts.media_type not in media_types:
            raise _wrong_type()
        if facts.width * facts.height > MAX_PIXELS:
            raise PageFailed("too_large", f"it has more than {MAX_PIXELS:,} pixels")
        return FetchedImage(facts.media_type, content)


async def _read_image(response: Response, media_types: frozenset[str], max_bytes: int) -> bytes:
    if not 200 <= response.status < 300 or response.status in (204, 205):
        raise PageFailed("status", f"HTTP {response.status}")
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and int(length[:20]) > max_bytes:
        raise _too_large(max_bytes)
    body = Body(response.headers.get("Content-Encoding"), max_bytes + 1)
    while not body.is_full and (chunk := await response.read_chunk()):
        body.feed(chunk)
        # What is no image is not read to its end.
        if len(body.data) >= _HEADER_BYTES:
            _check_header(body, media_types)
    if body.is_full:
        raise _too_large(max_bytes)
    if body.is_truncated:
        raise PageFailed("unreadable", "it did not come whole")
    _check_header(body, media_types)
    return bytes(body.data)


def _check_header(body: Body, media_types: frozenset[str]) -> None:
    seen = detect_signature(bytes(body.data[:_HEADER_BYTES]))
    if seen is None or seen.media_type not in media_types:
        raise _wrong_type()


def _wrong_type() -> PageFailed:
    return PageFailed("media_type", "it is not a PNG, JPEG, WebP or GIF image")


def _too_large(max_bytes: int) -> PageFailed:
    return PageFailed("too_large", f"it has more than {max_bytes:,} bytes")
