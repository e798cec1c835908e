"""Our own HTTP API from the other side: sessions, and runs that are followed through lost connections."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from footnote.client.failures import PASSING, refusal, unreachable
from footnote.net.client import Net, Response
from footnote.net.failures import ConnectionFailed
from footnote.protocol.errors import LimitReached, UpstreamError, UsageError
from footnote.protocol.events import Event, MessageStop
from footnote.protocol.frames import EventDecoder
from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import NewMessage, NewSession, RunView, SessionChanges, SessionPage, SourceView, Started

STALL_SECONDS = 60.0
"""Our server sends pings more often than that; a connection that is silent for longer is dead."""
LARGEST_ANSWER = 1_000_000_000
JSON = "application/json"

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class Patience(Struct, frozen=True):
    """How long a lost server is waited for, and how long between two tries, in seconds."""

    first: float = 0.25
    longest: float = 4.0
    total: float = 60.0


class Api:
    """The API at `base_url`. The token goes there and nowhere else: redirects are not followed."""

    def __init__(self, net: Net, base_url: str, token: str | None, *, patience: Patience | None = None) -> None:
        self.base_url = server_url(base_url)
        self._net = net
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._patience = patience or Patience()

    async def create_session(self, new: NewSession) -> SessionHead:
        return await self._ask("POST", "/v2/sessions", SessionHead, new)

    async def sessions(self, query: str | None = None, cursor: str | None = None) -> SessionPage:
        wanted = {name: value for name, value in (("query", query), ("cursor", cursor)) if value is not None}
        return await self._ask("GET", f"/v2/sessions{'?' if wanted else ''}{urlencode(wanted)}", SessionPage)

    async def history(self, session_id: str) -> History:
        return await self._ask("GET", f"/v2/sessions/{_part(session_id)}/history?turns=true", History)

    async def source(self, session_id: str, number: int) -> SourceView:
        return await self._ask("GET", f"/v2/sessions/{_part(session_id)}/sources/{number}", SourceView)

    async def rename(self, session_id: str, title: str) -> SessionHead:
        return await self._ask("PATCH", f"/v2/sessions/{_part(session_id)}", SessionHead, SessionChanges(title=title))

    async def delete_session(self, session_id: str) -> None:
        await self._answer("DELETE", f"/v2/sessions/{_part(session_id)}")

    async def start(self, session_id: str, new: NewMessage) -> Started:
        """Asks a question. The run goes on by itself: `follow` it, as often as it takes."""
        return await self._ask("POST", f"/v2/sessions/{_part(session_id)}/messages", Started, new)

    async def cancel(self, run_id: str) -> RunView:
        return await self._ask("POST", f"/v2/runs/{_part(run_id)}/cancel", RunView)

    async def ask(self, session_id: str, new: NewMessage) -> AsyncGenerator[tuple[int, Event], None]:
        """Asks a question and follows its run."""
        started = await self.start(session_id, new)
        async with aclosing(self.follow(started.run_id)) as events:
            async for numbered in events:
                yield numbered

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[tuple[int, Event], None]:
        """The events of a run with their ids, from the one after `after` to the last, each once and in order,
        however often the connection breaks. `UpstreamError`: the server did not come back."""
        outage = _Outage(self.base_url, self._patience)
        while True:
            try:
                async with aclosing(self._events(run_id, after)) as events:
                    async for number, event in events:
                        outage.over()
                        after = number
                        yield number, event
                        if isinstance(event, MessageStop):
                            return
                reason, wait = "the stream ended before the run", None
            except LimitReached as error:
                reason, wait = error.message, error.retry_after
            except UpstreamError as error:
                if error.status not in PASSING and not isinstance(error, ConnectionFailed):
                    raise
                reason, wait = error.message, None
            await outage.wait(reason, wait)

    async def _events(self, run_id: str, after: int) -> AsyncGenerator[tuple[int, Event], None]:
        """What one connection brings."""
        decoder = EventDecoder()
        place = f"/v2/runs/{_part(run_id)}/events"
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        async with self._opened("GET", place, headers=headers) as response:
            while chunk := await response.read_some():
                for numbered in decoder.push(chunk):
                    yield numbered

    async def _ask(self, method: str, path: str, kind: type[_T], body: Struct | None = None) -> _T:
        answer = await self._answer(method, path, body)
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError:
            raise UpstreamError(
                f"{self.base_url} answered with something that this version does not understand. "
                "Is it Footnote, and not much older or newer than this one?"
            ) from None

    async def _answer(self, method: str, path: str, body: Struct | None = None) -> bytes:
        """The body of a whole answer. Where it fails, nothing is tried again: it may have been done."""
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Accept": JSON, **({} if data is None else {"Content-Type": JSON})}
        try:
            async with self._opened(method, path, headers=headers, body=data) as response:
                return await response.read_all(LARGEST_ANSWER)
        except ConnectionFailed as error:
            raise unreachable(self.base_url, error.message) from error

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, *, headers: dict[str, str], body: bytes | None = None
    ) -> AsyncGenerator[Response, None]:
        """A response that is a success; anything else is the error that it tells of."""
        url = f"{self.base_url}{path}"
        response = await self._net.request(method, url, headers={**headers, **self._headers}, body=body)
        try:
            if not 200 <= response.status < 300:
                said = await response.read_all(1_000_000)
                raise refusal(self.base_url, response.status, response.headers, said)
            yield response
        finally:
            response.close()


class _Outage:
    """The time since something was last heard from a server."""

    def __init__(self, base_url: str, patience: Patience) -> None:
        self._base_url = base_url
        self._patience = patience
        self.over()

    def over(self) -> None:
        self._delay = self._patience.first
        self._since: float | None = None

    async def wait(self, reason: str, retry_after: float | None) -> None:
        """Waits before the next try, or gives up."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
            log.warning("The connection to %s was lost (%s); trying again.", self._base_url, reason)
        delay = max(self._delay, retry_after or 0)
        if now + delay - self._since > self._patience.total:
            raise UpstreamError(
                f"The connection to {self._base_url} was lost and did not come back: {reason}. The run goes on without "
                "us; `footnote sessions show` will tell what came of it."
            )
        self._delay = min(self._delay * 2, self._patience.longest)
        await asyncio.sleep(delay)


def server_url(text: str) -> str:
    """The address of a server, without a slash at its end."""
    wrong = UsageError(f"{text!r} is not the address of a server. Write it as http://127.0.0.1:8484")
    try:
        parts = urlsplit(text.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise wrong from None
    if not known or parts.username is not None or parts.query or parts.fragment:
        raise wrong
    return text.strip().rstrip("/")


def _part(name: Any) -> str:
    """An id as one part of a path, whatever somebody typed."""
    return quote(str(name), safe="")
