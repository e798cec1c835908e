"""One image from the web, asked for by a person: through redirects, within caps, and never anything but an image."""

import asyncio
from collections.abc import Collection

from msgspec import Struct

from footnote.documents.inspection.signatures import seen_in
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.web_search.reading.body import Body
from footnote.web_search.reading.fetch import Fetcher, PageFailed, Trail

ACCEPT = "image/webp, image/png, image/jpeg, image/gif;q=0.9, image/x-icon;q=0.8, */*;q=0.1"
PHOTOS = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
"""Drawings in SVG are programs too, and are not among them."""
ICONS = PHOTOS | {"image/x-icon"}
AT_ONCE = 6
_HEAD = 64


class Picture(Struct, frozen=True):
    """`media_type` is what its first bytes say, whatever the server did."""

    media_type: str
    content: bytes


class Pictures:
    """Asks for images, a few at a time. One for all who ask."""

    def __init__(self, net: Net) -> None:
        self._fetcher = Fetcher(net)
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def fetch(
        self,
        address: str,
        *,
        kinds: frozenset[str] = PHOTOS,
        most: int,
        seconds: float,
        private_hosts: Collection[str] = (),
    ) -> Picture:
        """`PageFailed`, `ConnectionFailed` or `TimeoutError` say what went wrong. Every address on the way is judged
        as those of pages are; `seconds` are for all of it."""
        async with self._turns, asyncio.timeout(seconds):
            trail = Trail(PageUrl.parse(address))
            while True:
                if not trail.url.is_among(private_hosts):
                    trail.url.check_host()
                async with self._fetcher.exchange(
                    trail.url, headers={"Accept": ACCEPT}, private_hosts=private_hosts, seconds=seconds
                ) as response:
                    onwards = trail.leads_on(response)
                    if onwards is None:
                        return await _taken(response, kinds, most)
                trail.follow(onwards)


async def _taken(response: Response, kinds: frozenset[str], most: int) -> Picture:
    if not 200 <= response.status < 300 or response.status in (204, 205):
        raise PageFailed("status", f"HTTP {response.status}")
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise _too_large(most)
    body = Body(response.headers.get("Content-Encoding"), most + 1)
    while not body.full and (chunk := await response.read_some()):
        body.feed(chunk)
        # What is no image is not read to its end.
        if len(body.data) >= _HEAD:
            _kind(body, kinds)
    if body.full:
        raise _too_large(most)
    if body.cut:
        raise PageFailed("unreadable", "it did not come whole")
    return Picture(_kind(body, kinds), bytes(body.data))


def _kind(body: Body, kinds: frozenset[str]) -> str:
    seen = seen_in(bytes(body.data[:_HEAD]))
    if seen is None or seen.media_type not in kinds:
        raise PageFailed("media_type", "it is not a PNG, JPEG, WebP or GIF image")
    return seen.media_type


def _too_large(most: int) -> PageFailed:
    return PageFailed("too_large", f"it has more than {most:,} bytes")
