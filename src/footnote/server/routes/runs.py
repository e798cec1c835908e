"""Questions, and the runs that answer them."""

from msgspec.structs import replace

from footnote.protocol.errors import UsageError
from footnote.protocol.plans import PlanChanges, PlanView, Steering
from footnote.protocol.sessions import Approval, NewMessage, RetryRequest, RunView, StartedRun, parse_locale
from footnote.server.requests import prefers_json
from footnote.server.responses import PING_SECONDS, EventStream, Reply, json_response
from footnote.server.route import Route, RouteCall

LAST_EVENT_HEADER = "last-event-id"
MAX_EVENT_ID_DIGITS = 18


async def _ask(call: RouteCall) -> Reply | EventStream:
    new: NewMessage = call.body
    new = replace(new, locale=parse_locale(new.locale) or call.locale)
    return _started_response(call, await call.app.runner.start(call.user_id, call.path["session_id"], new))


async def _retry(call: RouteCall) -> Reply | EventStream:
    retry: RetryRequest = call.body
    retry = replace(retry, locale=parse_locale(retry.locale) or call.locale)
    session_id, message_id = call.path["session_id"], call.path["message_id"]
    return _started_response(call, await call.app.runner.retry(call.user_id, session_id, message_id, retry))


async def _edit(call: RouteCall) -> Reply | EventStream:
    new: NewMessage = call.body
    new = replace(new, locale=parse_locale(new.locale) or call.locale)
    session_id, message_id = call.path["session_id"], call.path["message_id"]
    return _started_response(call, await call.app.runner.edit(call.user_id, session_id, message_id, new))


async def _view(call: RouteCall) -> RunView:
    return await call.app.runner.view(call.user_id, call.path["run_id"])


async def _cancel(call: RouteCall) -> RunView:
    return await call.app.runner.cancel(call.user_id, call.path["run_id"])


async def _decide(call: RouteCall) -> RunView:
    return await call.app.runner.decide(call.user_id, call.path["run_id"], call.path["tool_use_id"], call.body)


async def _plan(call: RouteCall) -> PlanView:
    return await call.app.runner.plan(call.user_id, call.path["run_id"])


async def _change_plan(call: RouteCall) -> PlanView:
    return await call.app.runner.change_plan(call.user_id, call.path["run_id"], call.body)


async def _steer(call: RouteCall) -> PlanView:
    return await call.app.runner.steer(call.user_id, call.path["run_id"], call.body)


async def _finish(call: RouteCall) -> RunView:
    return await call.app.runner.finish(call.user_id, call.path["run_id"])


async def _events(call: RouteCall) -> EventStream:
    after = _parse_last_event_id(call.headers.get(LAST_EVENT_HEADER))
    run = await call.app.runner.view(call.user_id, call.path["run_id"])
    return _stream(call, run.run_id, run.session_id, after)


def _started_response(call: RouteCall, started: StartedRun) -> Reply | EventStream:
    if prefers_json(call.headers.get("accept")):
        return json_response(started, 202)
    return _stream(call, started.run_id, started.session_id)


def _stream(call: RouteCall, run_id: str, session_id: str, after: int = 0) -> EventStream:
    chunks = call.app.runner.follow(run_id, after, idle_seconds=PING_SECONDS)
    return EventStream(call.site, chunks, footnote_run=run_id, footnote_session=session_id)


def _parse_last_event_id(text: str | None) -> int:
    text = (text or "").strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()) or len(text) > MAX_EVENT_ID_DIGITS:
        raise UsageError("Last-Event-ID is the `id` of an event that came before; leave it out to get all events.")
    return int(text)


_MESSAGES = "/v2/sessions/{session_id}/messages"
ROUTES = (
    Route(
        "POST",
        _MESSAGES,
        _ask,
        "Ask, and follow the answer",
        body=NewMessage,
        response=StartedRun,
        status=202,
        streams=True,
    ),
    Route(
        "POST",
        f"{_MESSAGES}/{{message_id}}/retry",
        _retry,
        "Answer a question again, as a new branch",
        body=RetryRequest,
        response=StartedRun,
        status=202,
        streams=True,
    ),
    Route(
        "POST",
        f"{_MESSAGES}/{{message_id}}/edit",
        _edit,
        "Change a question, as a new branch",
        body=NewMessage,
        response=StartedRun,
        status=202,
        streams=True,
    ),
    Route("GET", "/v2/runs/{run_id}", _view, "The state of a run", response=RunView),
    Route(
        "GET",
        "/v2/runs/{run_id}/events",
        _events,
        "The events of a run, from its start or after a given one",
        streams=True,
    ),
    Route("POST", "/v2/runs/{run_id}/cancel", _cancel, "Cancel a run; what it has written is kept", response=RunView),
    Route(
        "POST",
        "/v2/runs/{run_id}/approvals/{tool_use_id}",
        _decide,
        "Allow or deny a call that waits for approval",
        body=Approval,
        response=RunView,
    ),
    Route("POST", "/v2/runs/{run_id}/finish", _finish, "Make a run answer with what it has", response=RunView),
    Route("GET", "/v2/runs/{run_id}/plan", _plan, "The plan of a research run", response=PlanView),
    Route(
        "PATCH",
        "/v2/runs/{run_id}/plan",
        _change_plan,
        "Change, add, drop and order the questions that nobody works on yet",
        body=PlanChanges,
        response=PlanView,
    ),
    Route(
        "POST",
        "/v2/runs/{run_id}/steer",
        _steer,
        "Tell a research run something while it goes on",
        body=Steering,
        response=PlanView,
    ),
)
