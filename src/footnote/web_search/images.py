"""Images of the web for the page, which loads nothing from other hosts: pictures that a user asks for, and the icons of
sites, which are cached."""

import asyncio
import hashlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import Struct

from footnote.documents.media import detect_signature
from footnote.net.client import ConnectionFailed, Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.errors import LimitReached, UnprocessableFile
from footnote.sandbox.jobs import ImageCheck
from footnote.sandbox.pool import SandboxPool
from footnote.web_search.cache import SingleFlight
from footnote.web_search.crawl.fetch import Body, Fetcher, PageFailed, RedirectChain

ACCEPT = "image/webp, image/png, image/jpeg, image/gif;q=0.9, image/x-icon;q=0.8, */*;q=0.1"
PHOTO_TYPES = frozenset(("image/png", "image/jpeg", "image/webp", "image/gif"))
"""Without SVG, which can contain scripts."""
ICON_TYPES = PHOTO_TYPES | {"image/x-icon"}
MAX_CONCURRENT = 6
CHECK_TIMEOUT_SECONDS = 5.0
MAX_PIXELS = 100_000_000
"""A few bytes can declare any size, and a browser would allocate memory for it."""
_SIGNATURE_BYTES = 64

log = logging.getLogger(__name__)


class FetchedImage(Struct, frozen=True):
    """`media_type` is that of the first bytes, whatever the server declared."""

    media_type: str
    content: bytes


class ImageFetcher:
    """Fetches images, a few at a time; one for the whole process."""

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
        """Raises `PageFailed`, `ConnectionFailed` or `TimeoutError`. The address of every redirect is checked like that
        of a page. The timeout is for all requests and the check together."""
        async with self._slots, asyncio.timeout(timeout_seconds):
            chain = RedirectChain(PageUrl.parse(url))
            while True:
                if not chain.url.is_allowed_private(private_hosts):
                    chain.url.check_host()
                async with self._fetcher.request(
                    chain.url, headers={"Accept": ACCEPT}, private_hosts=private_hosts, timeout_seconds=timeout_seconds
                ) as response:
                    target = chain.redirect_target(response)
                    if target is None:
                        content = await _read_image(response, media_types, max_bytes)
                        break
                chain.follow(target)
            return await self._check_image(content, media_types)

    async def _check_image(self, content: bytes, media_types: frozenset[str]) -> FetchedImage:
        """Checks type and size by the header, which is parsed in the sandbox like everything else from the web."""
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
        # A body that is not an image is abandoned early.
        if len(body.data) >= _SIGNATURE_BYTES:
            _check_signature(body, media_types)
    if body.is_full:
        raise _too_large(max_bytes)
    if body.is_truncated:
        raise PageFailed("unreadable", "it did not come whole")
    _check_signature(body, media_types)
    return bytes(body.data)


def _check_signature(body: Body, media_types: frozenset[str]) -> None:
    signature = detect_signature(bytes(body.data[:_SIGNATURE_BYTES]))
    if signature is None or signature.media_type not in media_types:
        raise _wrong_type()


def _wrong_type() -> PageFailed:
    return PageFailed("media_type", "it is not a PNG, JPEG, WebP or GIF image")


def _too_large(max_bytes: int) -> PageFailed:
    return PageFailed("too_large", f"it has more than {max_bytes:,} bytes")


# Icons of sites ------------------------------------------------------------------------------------------------------

DEFAULT_ICON_PATH = "/favicon.ico"
MAX_ICON_URL_LENGTH = 2_000
MAX_ICON_BYTES = 64_000
ICON_TIMEOUT_SECONDS = 3.0
ICON_TTL_SECONDS = 7 * 86_400
MISSING_ICON_TTL_SECONDS = 86_400
"""The time until the icon of a site without one is requested again."""
MAX_ICONS = 2_000
_PRUNE_BATCH = 200
_SEPARATOR = b"\n"
"""Between the media type and the image. A file with an empty media type records that the site has no icon."""


class Favicons:
    """The icons of sites. They are cached as files in `folder`, without a folder in memory. `clock`: seconds since
    1970."""

    def __init__(
        self, image_fetcher: ImageFetcher, folder: Path | None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._image_fetcher = image_fetcher
        self._folder = folder
        self._clock = clock
        self._flights = SingleFlight[FetchedImage | None]()
        self._cache: dict[str, tuple[float, FetchedImage | None]] = {}

    async def get(
        self, page_url: str, private_hosts: Collection[str] = (), icon: str | None = None
    ) -> FetchedImage | None:
        """The icon of the site of a page: the one at the address `icon` if there is such an address and it works,
        otherwise the one at the usual path. None: the site has no icon that can be shown."""
        for url in _candidate_urls(page_url, icon):
            name = hashlib.sha256(url.encode()).hexdigest()[:32]
            image = await self._flights.join(name, partial(self._get_or_fetch, name, url, private_hosts))
            if image is not None:
                return image
        return None

    async def _get_or_fetch(self, name: str, url: str, private_hosts: Collection[str]) -> FetchedImage | None:
        entry = self._cache.get(name) or await asyncio.to_thread(self._read, name)
        if entry is not None and self._clock() < entry[0]:
            return entry[1]
        image = await self._fetch(url, private_hosts)
        expires = self._clock() + (MISSING_ICON_TTL_SECONDS if image is None else ICON_TTL_SECONDS)
        if self._folder is None:
            self._cache[name] = (expires, image)
            while len(self._cache) > MAX_ICONS:
                del self._cache[next(iter(self._cache))]
        else:
            await asyncio.to_thread(self._write, self._folder, name, image)
        return image

    async def _fetch(self, url: str, private_hosts: Collection[str]) -> FetchedImage | None:
        try:
            return await self._image_fetcher.fetch(
                url,
                media_types=ICON_TYPES,
                max_bytes=MAX_ICON_BYTES,
                timeout_seconds=ICON_TIMEOUT_SECONDS,
                private_hosts=private_hosts,
            )
        except (PageFailed, ConnectionFailed, TimeoutError):
            return None

    def _read(self, name: str) -> tuple[float, FetchedImage | None] | None:
        """A cached icon with the time when it expires; None: there is no file."""
        if self._folder is None:
            return None
        file = self._folder / name
        try:
            media_type, _, content = file.read_bytes().partition(_SEPARATOR)
            written_at = file.stat().st_mtime
        except OSError:
            return None
        if media_type.decode("latin-1") not in ICON_TYPES:
            return written_at + MISSING_ICON_TTL_SECONDS, None
        return written_at + ICON_TTL_SECONDS, FetchedImage(media_type.decode("latin-1"), content)

    def _write(self, folder: Path, name: str, image: FetchedImage | None) -> None:
        """Writes a temporary file and renames it, so that no reader sees a part of it."""
        data = b"" if image is None else image.media_type.encode() + _SEPARATOR + image.content
        temporary = folder / f"{name}.{secrets.token_hex(4)}"
        now = self._clock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary.write_bytes(data)
            os.utime(temporary, (now, now))
            temporary.replace(folder / name)
            _prune(folder)
        except OSError as error:  # the icon is still returned, and fetched again the next time
            log.warning("The icon of a site could not be kept: %s", error.strerror)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def icon_url(page: str, icon: str | None, private_hosts: Collection[str] = ()) -> str | None:
    """The absolute URL of the icon of a page, if it may be requested: on the public web or an allowed host, and not too
    long."""
    if not icon:
        return None
    try:
        url = PageUrl.parse(page).join(icon)
        if not url.is_allowed_private(private_hosts):
            url.check_host()
    except ConnectionFailed:
        return None
    return None if len(str(url)) > MAX_ICON_URL_LENGTH else str(url)


def _candidate_urls(page: str, icon: str | None) -> Iterator[str]:
    for location in filter(None, (icon, DEFAULT_ICON_PATH)):
        with suppress(ConnectionFailed):
            yield str(PageUrl.parse(page).join(location))


def _prune(folder: Path) -> None:
    """Removes the oldest files when there are too many, in batches, so that not every write sorts them."""
    files = list(folder.iterdir())
    if len(files) <= MAX_ICONS:
        return
    oldest = sorted(files, key=lambda file: file.stat().st_mtime)
    for file in oldest[: len(files) - MAX_ICONS + _PRUNE_BATCH]:
        file.unlink(missing_ok=True)
