"""What every download from the web needs: slots of each host, redirects, decompression with limits, and failures."""

import asyncio
import zlib
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

from footnote.net import AddressRefused
from footnote.net.client import Net, Response
from footnote.net.guard import PageUrl
from footnote.protocol.sources import PageFailure

MAX_REDIRECTS = 5
MAX_PER_HOST = 2
SLOT_SECONDS = 2.0


def slot_seconds_within(seconds: float) -> float:
    """How long a page may hold its slot if all pages share `seconds`: those that wait for it need time, too."""
    return min(SLOT_SECONDS, seconds / 2)


class PageFailed(Exception):
    """A page could not be read; `reason` is a short text for users."""

    def __init__(self, failure: PageFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure: PageFailure = failure
        self.reason = reason


class Fetcher:
    """Requests documents, at most `MAX_PER_HOST` at a time from one host, over all searches."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def request(
        self,
        url: PageUrl,
        *,
        headers: Mapping[str, str],
        private_hosts: Collection[str],
        timeout_seconds: float,
        slot_seconds: float = SLOT_SECONDS,
    ) -> AsyncGenerator[Response, None]:
        """The response to one request, which is closed at the end. The timeout begins when the request gets its slot;
        `TimeoutError` is raised when it is exceeded."""
        async with self._host_slot(url.host_and_port, slot_seconds), asyncio.timeout(timeout_seconds):
            response = await self._net.open_page(str(url), headers=headers, private_hosts=private_hosts)
            try:
                yield response
            finally:
                response.close()

    @asynccontextmanager
    async def _host_slot(self, host: str, seconds: float) -> AsyncGenerator[None, None]:
        """A slot is released after `seconds` even if the request continues: two hanging pages must not block all others
        of their host."""
        self._users[host] += 1
        slots = self._slots.setdefault(host, asyncio.Semaphore(MAX_PER_HOST))
        try:
            await slots.acquire()
            slot = _HostSlot(slots)
            timer = asyncio.get_running_loop().call_later(seconds, slot.release)
            try:
                yield
            finally:
                timer.cancel()
                slot.release()
        finally:
            self._users[host] -= 1
            if not self._users[host]:
                del self._users[host], self._slots[host]


class _HostSlot:
    """A slot of a host, which is released at most once."""

    def __init__(self, semaphore: asyncio.Semaphore) -> None:
        self._semaphore: asyncio.Semaphore | None = semaphore

    def release(self) -> None:
        semaphore, self._semaphore = self._semaphore, None
        if semaphore is not None:
            semaphore.release()


class RedirectChain:
    """The redirects of one document. `url` is the current one."""

    def __init__(self, url: PageUrl) -> None:
        self.url = url
        self._visited = [url]

    def redirect_target(self, response: Response) -> PageUrl | None:
        """The target of a redirect; None: the response is not one."""
        location = response.headers.get("Location")
        return self.url.join(location) if response.status in (301, 302, 303, 307, 308) and location else None

    @contextmanager
    def mask_redirect_target(self) -> Generator[None, None, None]:
        """Removes the address of a redirect from a refusal. A page chose that address, perhaps for the words in it, and
        a model reads the refusal."""
        try:
            yield
        except AddressRefused:
            if len(self._visited) == 1:
                raise
            raise AddressRefused("it redirects to an address that is not on the public web") from None

    def follow(self, url: PageUrl) -> None:
        if url in self._visited:
            raise PageFailed("redirects", "it redirects in a circle")
        if len(self._visited) > MAX_REDIRECTS:
            raise PageFailed("redirects", f"it redirects more than {MAX_REDIRECTS} times")
        self._visited.append(url)
        self.url = url


MAX_EXPANSION_RATIO = 150
"""Text is compressed to a tenth, tables and logs to a fiftieth. A body that exceeds its limit at a higher ratio was
made to do so."""

MAX_MEMBERS = 1_000
"""Files of many gzip members exist; millions of empty members only cost time."""

_UNREQUESTED_ENCODINGS = frozenset(
    ("br", "zstd", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "lzma", "dcb", "dcz")
)
"""The encodings that a reason may name. A header can contain any text, and a model reads the reason."""

_GZIP = b"\x1f\x8b"
_HEADER_BYTES = 2


class Body:
    """A body that is decompressed as it arrives, up to `limit`. The caller feeds it until it is full or the response
    ends. `wire_bytes` counts the received bytes, `data` holds the decompressed ones."""

    def __init__(self, encoding: str | None, limit: int) -> None:
        self.data = bytearray()
        self.wire_bytes = 0
        self.limit = limit
        self._inflater = _Inflater() if _is_compressed(encoding) else None

    @property
    def is_full(self) -> bool:
        return len(self.data) >= self.limit or self.wire_bytes >= self.limit

    @property
    def is_truncated(self) -> bool:
        """Whether a part is missing, because of the limit or because a compressed body ended too early."""
        return self.is_full or (self._inflater is not None and bool(self.data) and not self._inflater.is_complete)

    def feed(self, chunk: bytes) -> None:
        self.wire_bytes += len(chunk)
        max_bytes = self.limit - len(self.data)
        if self._inflater is None:
            self.data += chunk[:max_bytes]
            return
        self.data += self._inflater.inflate(chunk, max_bytes)
        if self.is_full and len(self.data) > MAX_EXPANSION_RATIO * (self.wire_bytes - self._inflater.leftover):
            raise PageFailed("too_large", f"it expands to more than {self.limit:,} bytes: a decompression bomb")


class _Inflater:
    """Decompresses gzip with any number of members, zlib, or deflate without a header: servers confuse their names.

    Padding or garbage after the last member is ignored, as in browsers. `leftover` counts the compressed bytes that the
    limit left unused.
    """

    def __init__(self) -> None:
        self.leftover = 0
        self._members = 0
        self._header = b""
        self._in_member = False
        self._current = zlib.decompressobj()
        self._has_trailing_garbage = False

    @property
    def is_complete(self) -> bool:
        """Whether the last member is complete."""
        return not self._in_member and self._members > 0

    def inflate(self, chunk: bytes, max_bytes: int) -> bytes:
        """At most `max_bytes` decompressed bytes; no more are produced, whatever the ratio."""
        output = bytearray()
        try:
            while chunk and len(output) < max_bytes and not self._has_trailing_garbage:
                if not self._in_member:
                    chunk = self._begin_member(chunk)
                    continue
                output += self._current.decompress(chunk, max_bytes - len(output))
                chunk = self._current.unconsumed_tail
                if self._current.eof:
                    chunk = self._current.unused_data
                    self._in_member = False
                    self._members += 1
        except zlib.error:
            raise PageFailed("unreadable", "its compression is broken") from None
        self.leftover = len(chunk)
        return bytes(output)

    def _begin_member(self, chunk: bytes) -> bytes:
        """Collects the first bytes of a member until they show its format."""
        head = self._header + chunk
        if len(head) < _HEADER_BYTES:
            self._header = head
            return b""
        is_gzip = head.startswith(_GZIP)
        if self._members and not is_gzip:
            self._has_trailing_garbage = True
            return b""
        if self._members >= MAX_MEMBERS:
            raise PageFailed("too_large", f"it is compressed in more than {MAX_MEMBERS:,} pieces")
        is_zlib = head[0] & 0x0F == 8 and int.from_bytes(head[:_HEADER_BYTES], "big") % 31 == 0
        bits = 16 + zlib.MAX_WBITS if is_gzip else zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
        self._header, self._in_member, self._current = b"", True, zlib.decompressobj(bits)
        return head


def _is_compressed(encoding: str | None) -> bool:
    match (encoding or "identity").strip().lower():
        case "identity":
            return False
        case "gzip" | "x-gzip" | "deflate":
            return True
        case other:
            how = f"as {other!r}" if other in _UNREQUESTED_ENCODINGS else "in an unknown way"
            raise PageFailed("unreadable", f"it is compressed {how}, which was not asked for")
