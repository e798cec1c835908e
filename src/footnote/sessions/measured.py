"""Runs, measured: how long they took, how they ended, what a trace says of them."""

from collections.abc import Awaitable, Callable

from footnote import tracing
from footnote.sessions.live import LiveRun
from footnote.tracing import SLOW, Count, Origin, Span, Work

RUNS = Work("run", "Runs that were carried on here, each until it ended or was left.", span="run", classes=SLOW)
STARTED = Count("runs_started", "Runs that began here.")
ADOPTED = Count("runs_adopted", "Runs that were taken over from another process.")
GIVEN_UP = Count(
    "runs_given_up", "Runs that were taken over again and again without getting on, and ended with an error."
)
LOST = Count("leases_lost", "Runs that were carried on here until they were another process's, or deleted.")


async def measured(live: LiveRun, carry: Callable[[LiveRun], Awaitable[None]]) -> None:
    """Carries a run on, as one span. Of one that was taken over, whoever asked for it is long gone."""
    is_new = live.found is None
    (STARTED if is_new else ADOPTED).add()
    caller = tracing.caller() if is_new else None
    with RUNS(origin=Origin(live.head.id, live.head.session_id, live.log.lease.fence, caller)) as span:
        try:
            await carry(live)
        finally:
            _tell(span, live)
            LOST.add(live.is_lost)


def _tell(span: Span, live: LiveRun) -> None:
    """What came of it. It is `lost` to another process, or `left` to whoever carries it on."""
    head, closing = live.head, live.closing
    span.outcome = "lost" if live.is_lost else live.outcome or "left"
    span.note(
        {
            "footnote.run.id": head.id,
            "footnote.session.id": head.session_id,
            "footnote.agent.id": head.asked.agent_id,
            "footnote.fence": live.log.lease.fence,
            "gen_ai.request.model": head.asked.model,
        }
    )
    if closing is not None:
        span.note(
            {
                "footnote.stop_reason": closing.delta.stop_reason,
                "gen_ai.usage.input_tokens": closing.usage.input_tokens,
                "gen_ai.usage.output_tokens": closing.usage.output_tokens,
            }
        )
