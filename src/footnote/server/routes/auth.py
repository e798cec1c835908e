"""Logging in and out, and who one is."""

import html

from msgspec import Struct

from footnote.protocol.accounts import Login, Password, Principal, UserChanges
from footnote.protocol.errors import LimitReached, NotLoggedIn, UsageError
from footnote.server.access import COOKIE, cookie_of
from footnote.server.assets import HTML
from footnote.server.responses import Reply, json_response
from footnote.server.route import Route, RouteCall
from footnote.server.routes.page import render_page

COOKIE_SECONDS = 400 * 86_400
"""As long as browsers keep one at all. When a visit is over, the server decides."""


class LinkQuery(Struct, frozen=True, forbid_unknown_fields=True):
    token: str = ""


class NewPassword(Struct, frozen=True, forbid_unknown_fields=True):
    old_password: str
    password: Password


async def _log_in(call: RouteCall) -> Reply:
    login: Login = call.body
    await call.site.login_limits.acquire(call.address, login.name)
    principal, secret = await call.app.accounts.log_in(login)
    return _set_cookie(json_response(principal), call, secret)


async def _log_in_by_link(call: RouteCall) -> Reply:
    """Where the printed address leads. Who has it is let in, once."""
    wanted: LinkQuery = call.query
    try:
        await call.site.login_limits.acquire(call.address, None)
        _, secret = await call.app.accounts.log_in(Login(token=wanted.token))
    except NotLoggedIn as error:
        return render_page(call, "login.html", 401, reason=html.escape(error.message))
    except LimitReached as error:
        return render_page(call, "login.html", 429, reason=html.escape(error.message))
    return _set_cookie(Reply(status=303, location="/"), call, secret)


async def _log_out(call: RouteCall) -> Reply:
    if call.current_user.by == "cookie" and (secret := cookie_of(call.headers)):
        await call.app.accounts.log_out(secret)
    reply = Reply(status=204)
    reply.delete_cookie(COOKIE, secure=call.site.is_https, httponly=True, samesite="strict")
    return reply


async def _me(call: RouteCall) -> Principal:
    return call.current_user


async def _change_password(call: RouteCall) -> Reply:
    """All visits of the page end with it, so that this one is begun again."""
    new: NewPassword = call.body
    accounts, name = call.app.accounts, call.current_user.name
    await call.site.login_limits.acquire(call.address, name)
    try:
        _, proof = await accounts.log_in(Login(name=name, password=new.old_password))
    except NotLoggedIn as error:
        raise UsageError("The old password is wrong. Who has none gets one from an admin.") from error
    await accounts.log_out(proof)
    await accounts.change(call.user_id, UserChanges(password=new.password))
    if call.current_user.by == "token":
        return Reply(status=204)
    _, secret = await accounts.log_in(Login(name=name, password=new.password))
    return _set_cookie(Reply(status=204), call, secret)


def _set_cookie(reply: Reply, call: RouteCall, secret: str) -> Reply:
    reply.set_cookie(
        COOKIE, secret, max_age=COOKIE_SECONDS, secure=call.site.is_https, httponly=True, samesite="strict"
    )
    return reply


ROUTES = (
    Route("POST", "/v2/auth/login", _log_in, "Log in with a password", access="anyone", body=Login, response=Principal),
    Route("POST", "/v2/auth/logout", _log_out, "Log out of the page", status=204),
    Route("GET", "/v2/auth/me", _me, "Who you are", response=Principal),
    Route("POST", "/v2/auth/password", _change_password, "Change your password", body=NewPassword, status=204),
    Route(
        "GET",
        "/login",
        _log_in_by_link,
        "Log in with a link that works once",
        access="anyone",
        query=LinkQuery,
        status=303,
        media_type=HTML,
        is_safe=False,
    ),
)
