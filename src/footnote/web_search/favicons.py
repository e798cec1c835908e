"""The small signs of sites, so that browsers need not ask those for them: each fetched once in a while, and kept."""

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

from footnote.net.client import ConnectionFailed
from footnote.net.guard import PageUrl
from footnote.web_search.crawl.fetch import PageFailed
from footnote.web_search.crawl.image import ICON_TYPES, FetchedImage, ImageFetcher
from footnote.web_search.single_flight import SingleFlight

DEFAULT_PATH = "/favicon.ico"
MAX_URL_LENGTH = 2_000
MAX_BYTES = 64_000
TIMEOUT_SECONDS = 3.0
TTL_SECONDS = 7 * 86_400
MISSING_TTL_SECONDS = 86_400
"""A site without one is asked again after a day."""
MAX_ENTRIES = 2_000
_PRUNE_BATCH = 200
_SEPARATOR = b"\n"
"""Between the media type and the image. A file with nothing before it says that there is none."""

log = logging.getLogger(__name__)


class Favicons:
    """Kept as files in `folder`, and only in memory where there is none. `clock`: seconds since 1970."""

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
        """That of the site of a page, at the address `icon` if there is one, else at the usual one; None: it has none
        that can be shown."""
        for url in _candidate_urls(page_url, icon):
            name = hashlib.sha256(url.encode()).hexdigest()[:32]
            found = await self._flights.join(name, partial(self._get_or_fetch, name, url, private_hosts))
            if found is not None:
                return found
        return None

    async def _get_or_fetch(self, name: str, url: str, private_hosts: Collection[str]) -> FetchedImage | None:
        found = self._cache.get(name) or await asyncio.to_thread(self._read, name)
        if found is not None and self._clock() < found[0]:
            return found[1]
        picture = await self._fetch(url, private_hosts)
        until = self._clock() + (MISSING_TTL_SECONDS if picture is None else TTL_SECONDS)
        if self._folder is None:
            self._cache[name] = (until, picture)
            while len(self._cache) > MAX_ENTRIES:
                del self._cache[next(iter(self._cache))]
        else:
            await asyncio.to_thread(self._write, self._folder, name, picture)
        return picture

    async def _fetch(self, url: str, private_hosts: Collection[str]) -> FetchedImage | None:
        try:
            return await self._image_fetcher.fetch(
                url,
                media_types=ICON_TYPES,
                max_bytes=MAX_BYTES,
                timeout_seconds=TIMEOUT_SECONDS,
                private_hosts=private_hosts,
            )
        except (PageFailed, ConnectionFailed, TimeoutError):
            return None

    # Files -------------------------------------------------------------------------------------------------

    def _read(self, name: str) -> tuple[float, FetchedImage | None] | None:
        """What is kept, and until when it is good."""
        if self._folder is None:
            return None
        file = self._folder / name
        try:
            kind, _, content = file.read_bytes().partition(_SEPARATOR)
            written = file.stat().st_mtime
        except OSError:
            return None
        if kind.decode("latin-1") not in ICON_TYPES:
            return written + MISSING_TTL_SECONDS, None
        return written + TTL_SECONDS, FetchedImage(kind.decode("latin-1"), content)

    def _write(self, folder: Path, name: str, picture: FetchedImage | None) -> None:
        """Under another name first, so that nobody reads half of it."""
        data = b"" if picture is None else picture.media_type.encode() + _SEPARATOR + picture.content
        half = folder / f"{name}.{secrets.token_hex(4)}"
        now = self._clock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            half.write_bytes(data)
            os.utime(half, (now, now))
            half.replace(folder / name)
            _prune(folder)
        except OSError as error:  # it is shown all the same, and fetched again the next time
            log.warning("The icon of a site could not be kept: %s", error.strerror)
            with suppress(OSError):
                half.unlink(missing_ok=True)


def icon_url(page: str, icon: str | None, private_hosts: Collection[str] = ()) -> str | None:
    """The absolute address of the icon of a page, if it may be asked for: on the web, public and not too long."""
    if not icon:
        return None
    try:
        url = PageUrl.parse(page).join(icon)
        if not url.is_allowed_private(private_hosts):
            url.check_host()
    except ConnectionFailed:
        return None
    return None if len(str(url)) > MAX_URL_LENGTH else str(url)


def _candidate_urls(page: str, icon: str | None) -> Iterator[str]:
    for location in filter(None, (icon, DEFAULT_PATH)):
        with suppress(ConnectionFailed):
            yield str(PageUrl.parse(page).join(location))


def _prune(folder: Path) -> None:
    """The oldest go, some at once, when there are too many."""
    files = list(folder.iterdir())
    if len(files) <= MAX_ENTRIES:
        return
    oldest = sorted(files, key=lambda one: one.stat().st_mtime)
    for one in oldest[: len(files) - MAX_ENTRIES + _PRUNE_BATCH]:
        one.unlink(missing_ok=True)
