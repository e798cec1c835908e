"""One document from the web: whose turn it is, where redirects lead, and how fetching can fail."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager

from footnote.net.client import Net, Response
from footnote.net.failures import AddressRefused
from footnote.net.guard import PageUrl
from footnote.protocol.receipts import PageFailure

REDIRECTS = 5
PER_HOST = 2
TURN_SECONDS = 2.0


def turn_within(seconds: float) -> float:
    """How long a page has its turn where all of them have `seconds`: those that come after it need some, too."""
    return min(TURN_SECONDS, seconds / 2)


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
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def exchange(
        self,
        url: PageUrl,
        *,
        headers: Mapping[str, str],
        private_hosts: Collection[str],
        seconds: float,
        turn_seconds: float = TURN_SECONDS,
    ) -> AsyncGenerator[Response, None]:
        """The response to one request. It is closed on the way out: at once, unless it was read to its end.

        `seconds` begin when it is this request's turn, and end with `TimeoutError`.
        """
        async with self._turn(url.host_and_port, turn_seconds), asyncio.timeout(seconds):
            response = await self._net.open_page(str(url), headers=headers, private_hosts=private_hosts)
            try:
                yield response
            finally:
                response.close()

    @asynccontextmanager
    async def _turn(self, host: str, seconds: float) -> AsyncGenerator[None, None]:
        """A turn ends after `seconds` even if the request goes on: two hung pages must not hold back all the others
        of their host."""
        self._users[host] += 1
        turns = self._turns.setdefault(host, asyncio.Semaphore(PER_HOST))
        try:
            await turns.acquire()
            turn = _Turn(turns)
            timer = asyncio.get_running_loop().call_later(seconds, turn.end)
            try:
                yield
            finally:
                timer.cancel()
                turn.end()
        finally:
            self._users[host] -= 1
            if not self._users[host]:
                del self._users[host], self._turns[host]


class _Turn:
    """One of a host's turns; it can be given back only once."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns: asyncio.Semaphore | None = turns

    def end(self) -> None:
        turns, self._turns = self._turns, None
        if turns is not None:
            turns.release()


class Trail:
    """The way of one document through its redirects."""

    def __init__(self, url: PageUrl) -> None:
        self.url = url
        self._seen = [url]

    def leads_on(self, response: Response) -> PageUrl | None:
        """Where a response redirects to, if it does."""
        location = response.headers.get("Location")
        return self.url.join(location) if response.status in (301, 302, 303, 307, 308) and location else None

    @contextmanager
    def told_in_our_words(self) -> Generator[None, None, None]:
        """A refusal names the address. One that was redirected to is not repeated: a page could have chosen it for what
        it says, and the reason is told to a model."""
        try:
            yield
        except AddressRefused:
            if len(self._seen) == 1:
                raise
            raise AddressRefused("it redirects to an address that is not on the public web") from None

    def follow(self, url: PageUrl) -> None:
        if url in self._seen:
            raise PageFailed("redirects", "it redirects in a circle")
        if len(self._seen) > REDIRECTS:
            raise PageFailed("redirects", f"it redirects more than {REDIRECTS} times")
        self._seen.append(url)
        self.url = url
