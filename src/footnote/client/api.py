"""Our own HTTP API from the other side: sessions, and runs that are followed through lost connections."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from urllib.parse import urlencode

from msgspec import Struct

from footnote.client.files import FilesApi
from footnote.client.transport import RETRYABLE_STATUSES, Transport, quote_segment
from footnote.net.client import Net
from footnote.net.errors import ConnectionFailed
from footnote.protocol.errors import LimitReached, UpstreamError
from footnote.protocol.events import Event, MessageStop
from footnote.protocol.frames import EventDecoder
from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import (
    Approval,
    NewMessage,
    NewSession,
    RunView,
    SessionChanges,
    SessionPage,
    SourceView,
    StartedRun,
)

STALL_SECONDS = 60.0
"""Our server sends pings more often than that; a connection that is silent for longer is dead."""
log = logging.getLogger(__name__)


class RetryPolicy(Struct, frozen=True):
    """How long a lost server is waited for, and how long between two tries, in seconds."""

    first: float = 0.25
    longest: float = 4.0
    total: float = 60.0


class ServerApi:
    """The API at `base_url`. `files`: those of the sessions, and sessions as bundles."""

    def __init__(self, net: Net, base_url: str, token: str | None, *, retry_policy: RetryPolicy | None = None) -> None:
        self._transport = Transport(net, base_url, token)
        self.base_url = self._transport.base_url
        self.files = FilesApi(self._transport)
        self._retry_policy = retry_policy or RetryPolicy()

    async def create_session(self, new: NewSession) -> SessionHead:
        return await self._transport.request("POST", "/v2/sessions", SessionHead, new)

    async def sessions(self, query: str | None = None, cursor: str | None = None) -> SessionPage:
        wanted = {name: value for name, value in (("query", query), ("cursor", cursor)) if value is not None}
        return await self._transport.request(
            "GET", f"/v2/sessions{'?' if wanted else ''}{urlencode(wanted)}", SessionPage
        )

    async def history(self, session_id: str) -> History:
        return await self._transport.request(
            "GET", f"/v2/sessions/{quote_segment(session_id)}/history?turns=true", History
        )

    async def source(self, session_id: str, number: int) -> SourceView:
        return await self._transport.request(
            "GET", f"/v2/sessions/{quote_segment(session_id)}/sources/{number}", SourceView
        )

    async def rename(self, session_id: str, title: str) -> SessionHead:
        return await self._transport.request(
            "PATCH", f"/v2/sessions/{quote_segment(session_id)}", SessionHead, SessionChanges(title=title)
        )

    async def delete_session(self, session_id: str) -> None:
        await self._transport.request_bytes("DELETE", f"/v2/sessions/{quote_segment(session_id)}")

    async def start(self, session_id: str, new: NewMessage) -> StartedRun:
        """Asks a question. The run goes on by itself: `follow` it, as often as it takes."""
        return await self._transport.request(
            "POST", f"/v2/sessions/{quote_segment(session_id)}/messages", StartedRun, new
        )

    async def cancel(self, run_id: str) -> RunView:
        return await self._transport.request("POST", f"/v2/runs/{quote_segment(run_id)}/cancel", RunView)

    async def decide(self, run_id: str, call_id: str, approval: Approval) -> RunView:
        """What the user says to a call that waits for approval."""
        return await self._transport.request(
            "POST", f"/v2/runs/{quote_segment(run_id)}/approvals/{quote_segment(call_id)}", RunView, approval
        )

    async def ask(self, session_id: str, new: NewMessage) -> AsyncGenerator[tuple[int, Event], None]:
        """Asks a question and follows its run."""
        started = await self.start(session_id, new)
        async with aclosing(self.follow(started.run_id)) as events:
            async for numbered in events:
                yield numbered

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[tuple[int, Event], None]:
        """The events of a run with their ids, from the one after `after` to the last, each once and in order,
        however often the connection breaks. `UpstreamError`: the server did not come back."""
        outage = _Reconnect(self.base_url, self._retry_policy)
        while True:
            try:
                async with aclosing(self._stream_events(run_id, after)) as events:
                    async for number, event in events:
                        outage.reset()
                        after = number
                        yield number, event
                        if isinstance(event, MessageStop):
                            return
                reason, wait = "the stream ended before the run", None
            except LimitReached as error:
                reason, wait = error.message, error.retry_after
            except UpstreamError as error:
                if error.status not in RETRYABLE_STATUSES and not isinstance(error, ConnectionFailed):
                    raise
                reason, wait = error.message, None
            await outage.wait(reason, wait)

    async def _stream_events(self, run_id: str, after: int) -> AsyncGenerator[tuple[int, Event], None]:
        """What one connection brings."""
        decoder = EventDecoder()
        place = f"/v2/runs/{quote_segment(run_id)}/events"
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        async with self._transport.open_response("GET", place, headers=headers) as response:
            while chunk := await response.read_chunk():
                for numbered in decoder.push(chunk):
                    yield numbered


class _Reconnect:
    """The time since something was last heard from a server."""

    def __init__(self, base_url: str, retry_policy: RetryPolicy) -> None:
        self._base_url = base_url
        self._retry_policy = retry_policy
        self.reset()

    def reset(self) -> None:
        self._delay = self._retry_policy.first
        self._lost_at: float | None = None

    async def wait(self, reason: str, retry_after: float | None) -> None:
        """Waits before the next try, or gives up."""
        now = asyncio.get_running_loop().time()
        if self._lost_at is None:
            self._lost_at = now
            log.warning("The connection to %s was lost (%s); trying again.", self._base_url, reason)
        delay = max(self._delay, retry_after or 0)
        if now + delay - self._lost_at > self._retry_policy.total:
            raise UpstreamError(
                f"The connection to {self._base_url} was lost and did not come back: {reason}. The run goes on without "
                "us; `footnote sessions show` will tell what came of it."
            )
        self._delay = min(self._delay * 2, self._retry_policy.longest)
        await asyncio.sleep(delay)
