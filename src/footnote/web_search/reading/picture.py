"""One image from the web, asked for by a person: through redirects, within caps, and never anything but an image."""

import asyncio
from collections.abc import Collection

from msgspec import Struct

from footnote.documents.inspection.signatures import seen_in
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.errors import LimitReached, Unworkable
from footnote.sandbox.jobs import ImageCheck
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.reading.body import Body
from footnote.web_search.reading.fetch import Fetcher, PageFailed, Trail

ACCEPT = "image/webp, image/png, image/jpeg, image/gif;q=0.9, image/x-icon;q=0.8, */*;q=0.1"
PHOTOS = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
"""Drawings in SVG are programs too, and are not among them."""
ICONS = PHOTOS | {"image/x-icon"}
AT_ONCE = 6
CHECK_SECONDS = 5.0
MAX_PIXELS = 100_000_000
"""A few bytes can claim any size, which a browser would make room for."""
_HEAD = 64


class Picture(Struct, frozen=True):
    """`media_type` is what its first bytes say, whatever the server did."""

    media_type: str
    content: bytes


class Pictures:
    """Asks for images, a few at a time. One for all who ask."""

    def __init__(self, net: Net, sandbox: SandboxPool) -> None:
        self._fetcher = Fetcher(net)
        self._sandbox = sandbox
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
                        content = await _received(response, kinds, most)
                        break
                trail.follow(onwards)
            return await self._checked(content, kinds)

    async def _checked(self, content: bytes, kinds: frozenset[str]) -> Picture:
        """What its header says is read in the sandbox, as everything else that comes from the web."""
        try:
            facts = await self._sandbox.run(ImageCheck(content=content, filename="The image"), CHECK_SECONDS)
        except (Unworkable, LimitReached):
            raise PageFailed("unreadable", "it could not be looked at") from None
        if facts.media_type is None or facts.media_type not in kinds:
            raise _wrong_kind()
        if facts.width * facts.height > MAX_PIXELS:
            raise PageFailed("too_large", f"it has more than {MAX_PIXELS:,} pixels")
        return Picture(facts.media_type, content)


async def _received(response: Response, kinds: frozenset[str], most: int) -> bytes:
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
            _check_start(body, kinds)
    if body.full:
        raise _too_large(most)
    if body.cut:
        raise PageFailed("unreadable", "it did not come whole")
    _check_start(body, kinds)
    return bytes(body.data)


def _check_start(body: Body, kinds: frozenset[str]) -> None:
    seen = seen_in(bytes(body.data[:_HEAD]))
    if seen is None or seen.media_type not in kinds:
        raise _wrong_kind()


def _wrong_kind() -> PageFailed:
    return PageFailed("media_type", "it is not a PNG, JPEG, WebP or GIF image")


def _too_large(most: int) -> PageFailed:
    return PageFailed("too_large", f"it has more than {most:,} bytes")
