"""Approval on a server: a call waits until the user decides, on any replica and at any time.

The decision is read from the database, where another replica, or an earlier process, may have stored it.
"""

import asyncio
import logging
from collections.abc import Callable

from footnote.cancel import Cancelled, CancelScope
from footnote.db import approvals as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.protocol.messages import ToolCall
from footnote.tools.approval import ALLOWED, Decision, declined_decision, unanswered_decision

POLL_SECONDS = 5.0
"""How often a waiting call polls the database, in case the message of a decision was lost."""

log = logging.getLogger(__name__)


class StoredApprovals:
    """The approver of one run. `call_key` identifies a call with its run; `seconds`: the time limit of the user."""

    def __init__(
        self,
        database: Database,
        call_key: Callable[[ToolCall], db.CallKey],
        clock: Callable[[], float],
        timeout: float,
        *,
        on_wait: Callable[[], None],
        closing: CancelScope,
    ) -> None:
        """`on_wait` is called when the run begins to wait for the user. With `closing` the time of the user is over."""
        self._database = database
        self._call_key = call_key
        self._clock = clock
        self._timeout = timeout
        self._on_wait = on_wait
        self._closing = closing
        self._wakeup = asyncio.Event()

    def wake(self) -> None:
        """Wakes waiting calls to read the database, since a decision may have been stored."""
        self._wakeup.set()
        self._wakeup = asyncio.Event()

    async def decision(self, call: ToolCall, title: str) -> Decision | None:  # noqa: ARG002 - a client has it from the call
        return await self._poll(self._call_key(call))

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        self._on_wait()
        key = self._call_key(call)
        began_at = self._clock()
        while True:
            hint = self._wakeup  # before the read, so that a decision during it is not missed
            try:
                decided = await self._poll(key, began_at)
            except DatabaseFailed as error:
                log.debug("Whether a call may be made cannot be looked up yet: %s", error.message)
                decided = None
            if decided is not None:
                return decided
            try:
                async with asyncio.timeout(min(POLL_SECONDS, self._timeout)):
                    await self._closing.wait(hint.wait())
            except (TimeoutError, Cancelled):
                pass

    async def _poll(self, call: db.CallKey, began_at: float | None = None) -> Decision | None:
        """The decision; None: there is none yet, and the user still has time. `began_at`: when this process began to
        wait, used while the request for approval is not stored yet."""
        found = await self._database.read(db.approval_status(call))
        asked_at = began_at if found.asked_at is None else found.asked_at
        outcome = found.outcome
        is_over = self._closing.is_cancelled or (asked_at is not None and self._clock() - asked_at >= self._timeout)
        if outcome is None and asked_at is not None and is_over:
            outcome = "expired"
        if outcome is None:
            return None
        if not found.is_stored and found.asked_at is not None:
            await self._database.write(db.store_outcome(call.run_id, call.call_id, outcome, self._clock()))
            return await self._poll(call, began_at)  # a decision may have been stored in this moment
        match outcome:
            case "deny":
                return declined_decision(call.tool, found.note)
            case "expired":
                return unanswered_decision(call.tool)
            case _:
                return ALLOWED
