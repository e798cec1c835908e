"""Sessions: created, listed, searched, changed, read and deleted."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct
from msgspec.structs import replace

from footnote.protocol.history import History, SessionHead
from footnote.protocol.sessions import NewSession, Origin, SessionChanges, SessionPage, SourceView
from footnote.server.route import Route, RouteCall
from footnote.server.routes.catalog import resolve_agent_id


class SessionQuery(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(max_length=1000)] | None = None
    cursor: Annotated[str, Meta(max_length=1000)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 30
    origin: Origin = "page"


class HistoryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`turns`: also the origin and the end of each turn: model, usage, error, branches."""

    turns: bool = False


async def _create(call: RouteCall) -> SessionHead:
    new: NewSession = call.body
    return await call.app.sessions.create(call.user_id, resolve_agent_id(call.app, new.agent_id), title=new.title)


async def _list(call: RouteCall) -> SessionPage:
    query: SessionQuery = call.query
    return await call.app.sessions.list(
        call.user_id,
        query=query.query or None,
        cursor=query.cursor or None,
        limit=query.limit,
        origin=query.origin,
    )


async def _head(call: RouteCall) -> SessionHead:
    return await call.app.sessions.head(call.user_id, call.path["session_id"])


async def _change(call: RouteCall) -> SessionHead:
    return await call.app.sessions.change(call.user_id, call.path["session_id"], call.body)


async def _delete(call: RouteCall) -> None:
    session_id = call.path["session_id"]
    await call.app.runner.stop_session(call.user_id, session_id)
    await call.app.sessions.delete(call.user_id, session_id)


async def _history(call: RouteCall) -> History:
    history = await call.app.sessions.history(call.user_id, call.path["session_id"])
    return history if call.query.turns else replace(history, turns=UNSET)


async def _source(call: RouteCall) -> SourceView:
    return await call.app.sessions.source(call.user_id, call.path["session_id"], call.path["number"])


_SESSION_PATH = "/v2/sessions/{session_id}"
ROUTES = (
    Route("POST", "/v2/sessions", _create, "Create a session", body=NewSession, response=SessionHead, status=201),
    Route("GET", "/v2/sessions", _list, "Your sessions, newest first", query=SessionQuery, response=SessionPage),
    Route("GET", _SESSION_PATH, _head, "One session", response=SessionHead),
    Route(
        "PATCH",
        _SESSION_PATH,
        _change,
        "Rename a session, or show another branch",
        body=SessionChanges,
        response=SessionHead,
    ),
    Route("DELETE", _SESSION_PATH, _delete, "Delete a session with all its messages and files", status=204),
    Route(
        "GET",
        f"{_SESSION_PATH}/history",
        _history,
        "The messages of a session, as the page shows them after a reload",
        query=HistoryQuery,
        response=History,
    ),
    Route("GET", f"{_SESSION_PATH}/sources/{{number:int}}", _source, "The source of a footnote", response=SourceView),
)
