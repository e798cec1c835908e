"""One document from the web: whose turn it is, where redirects lead, and how fetching can fail."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

from footnote.net.client import Net, Response
from footnote.net.errors import AddressRefused
from footnote.net.guard import PageUrl
from footnote.protocol.receipts import PageFailure

MAX_REDIRECTS = 5
MAX_PER_HOST = 2
SLOT_SECONDS = 2.0


def slot_seconds_within(seconds: float) -> float:
    """How long a page has its turn where all of them have `seconds`: those that come after it need some, too."""
    return min(SLOT_SECONDS, seconds / 2)


class PageFailed(Exception):
    """A page could not be read; `reason` is short and for people."""

    def __init__(self, failure: PageFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure: PageFailure = failure
        self.reason = reason


class Fetcher:
    """Asks for documents, two at a time of one host, however many searches run."""

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
        """The response to one request. It is closed on the way out: at once, unless it was read to its end.

        `seconds` begin when it is this request's turn, and end with `TimeoutError`.
        """
        async with self._host_slot(url.host_and_port, slot_seconds), asyncio.timeout(timeout_seconds):
            response = await self._net.open_page(str(url), headers=headers, private_hosts=private_hosts)
            try:
                yield response
            finally:
                response.close()

    @asynccontextmanager
    async def _host_slot(self, host: str, seconds: float) -> AsyncGenerator[None, None]:
        """A turn ends after `seconds` even if the request goes on: two hung pages must not hold back all the others
        of their host."""
        self._users[host] += 1
        turns = self._slots.setdefault(host, asyncio.Semaphore(MAX_PER_HOST))
        try:
            await turns.acquire()
            turn = _HostSlot(turns)
            timer = asyncio.get_running_loop().call_later(seconds, turn.release)
            try:
                yield
            finally:
                timer.cancel()
                turn.release()
        finally:
            self._users[host] -= 1
            if not self._users[host]:
                del self._users[host], self._slots[host]


class _HostSlot:
    """One of a host's turns; it can be given back only once."""

    def __init__(self, semaphore: asyncio.Semaphore) -> None:
        self._semaphore: asyncio.Semaphore | None = semaphore

    def release(self) -> None:
        turns, self._semaphore = self._semaphore, None
        if turns is not None:
            turns.release()


class RedirectChain:
    """The way of one document through its redirects."""

    def __init__(self, url: PageUrl) -> None:
        self.url = url
        self._visited = [url]

    def redirect_target(self, response: Response) -> PageUrl | None:
        """Where a response redirects to, if it does."""
        location = response.headers.get("Location")
        return self.url.join(location) if response.status in (301, 302, 303, 307, 308) and location else None

    @contextmanager
    def mask_redirect_target(self) -> Generator[None, None, None]:
        """A refusal names the address. One that was redirected to is not repeated: a page could have chosen it for what
        it says, and the reason is told to a model."""
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
