"""Checks of texts that others wrote."""

from msgspec.structs import replace

from footnote.protocol.sessions import NewCheck, StartedRun, parse_locale
from footnote.server.responses import Reply, json_response
from footnote.server.route import Route, RouteCall


async def _check(call: RouteCall) -> Reply:
    new: NewCheck = call.body
    started = await call.app.check(call.user_id, replace(new, locale=parse_locale(new.locale) or call.locale))
    return json_response(started, 202)


ROUTES = (
    Route(
        "POST",
        "/v2/checks",
        _check,
        "Check a text, or a page, against what it links to",
        body=NewCheck,
        response=StartedRun,
        status=202,
    ),
)
