"""How a request to a provider ended, as values, with the sentences for users; and the limits that a provider reports.

Code decides by `kind` and `code`. A reason says what happened and what can be done about it; it continues the name of
the provider and a colon. All reasons are written in this module.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.sources import ProviderFailure, SearchHit, SearchOutcome

QUOTA_RETRY_SECONDS = 600.0
"""A quota renews at the end of a day or month, or when more is bought: until then it is tried again this often."""

PauseCause: TypeAlias = Literal["block", "errors", "key"]


class Rate(Struct, frozen=True):
    """At most `requests` in any `seconds`."""

    requests: int
    seconds: float


class ProviderLimits(Struct, frozen=True):
    """The limits that a provider reports: its rate, if it gives one, and for how long it accepts no requests."""

    rate: Rate | None = None
    wait_seconds: float = 0.0


class Outcome(Struct, frozen=True, kw_only=True):
    """`skipped`: no request was made. `code` and `reason` say why there was no answer.

    `retry_after`: the seconds that a block lasts, if known. `throttle_seconds`: the request only came too early, and
    would be accepted after these seconds. `cause`: why the circuit breaker pauses the provider.
    """

    kind: SearchOutcome | Literal["skipped"]
    hits: tuple[SearchHit, ...] = ()
    code: ProviderFailure | None = None
    reason: str | None = None
    retry_after: float | None = None
    throttle_seconds: float | None = None
    cause: PauseCause | None = None
    limits: ProviderLimits = ProviderLimits()

    @property
    def is_answer(self) -> bool:
        return self.kind in ("results", "empty")


def failed_outcome(code: ProviderFailure, reason: str) -> Outcome:
    return Outcome(kind="error", code=code, reason=reason)


def unreachable(cause: str, address_setting: str) -> Outcome:
    return failed_outcome("unreachable", f"it could not be reached: {cause}; check the network and {address_setting}")


def timed_out(seconds: float) -> Outcome:
    return failed_outcome(
        "timeout", f"there was no answer within {seconds:g} seconds: try again, or raise timeoutSeconds"
    )


def unreadable(problem: str, address_setting: str) -> Outcome:
    """`problem` says what the response is, or what is missing in it."""
    return failed_outcome("unreadable", f"{problem}; check {address_setting}")


def key_refused(detail: str, key_name: str) -> Outcome:
    """`detail`, here and below: the status, and the provider's own message."""
    return failed_outcome("bad_key", f"it did not accept the key {detail}: check {key_name}")


def server_error(detail: str) -> Outcome:
    return failed_outcome("server_error", f"it has a problem of its own {detail}: try again later")


def bad_request(detail: str) -> Outcome:
    return failed_outcome("bad_request", f"it did not accept the request {detail}")


def internal_error() -> Outcome:
    reason = "its answer could not be understood, which is an error of ours: please report it"
    return failed_outcome("internal", reason)


def quota_used_up(detail: str, quota_name: str, *, retry_after: float | None) -> Outcome:
    reason = f"{quota_name} is used up {detail}: raise it with the provider, or wait"
    return Outcome(kind="blocked", code="quota", reason=reason, retry_after=retry_after or QUOTA_RETRY_SECONDS)


def rate_limited(detail: str, *, retry_after: float | None, throttle_seconds: float | None = None) -> Outcome:
    return Outcome(
        kind="blocked",
        code="rate_limited",
        reason=f"it wants fewer requests {detail}: wait a little",
        retry_after=retry_after,
        throttle_seconds=throttle_seconds,
    )


def forbidden(status: int) -> Outcome:
    reason = f"it refuses requests from here (status {status}): a firewall or a proxy may stand in between"
    return Outcome(kind="blocked", code="forbidden", reason=reason)


def robot_check(status: int, *, retry_after: float) -> Outcome:
    reason = (
        "it takes this machine for a robot: wait a minute, or set BRAVE_API_KEY, SERPER_API_KEY or TAVILY_API_KEY "
        f"(status {status})"
    )
    return Outcome(kind="blocked", code="robot_check", reason=reason, retry_after=retry_after)


def setting_missing(missing: str) -> Outcome:
    return Outcome(kind="skipped", code="missing_setting", reason=f"it needs {missing}")


def queue_full(seconds: float) -> Outcome:
    reason = f"its limit of requests leaves no room for {_format_seconds(seconds)}"
    return Outcome(kind="skipped", code="busy", reason=reason)


def paused(seconds: float, cause: PauseCause, last_reason: str) -> Outcome:
    left = f"for {_format_seconds(seconds)} more" if seconds > 0 else "while another search tries it"
    reason = f"it is left alone {left}; last time, {last_reason}"
    return Outcome(kind="skipped", code="paused", reason=reason, cause=cause)


def _format_seconds(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"
