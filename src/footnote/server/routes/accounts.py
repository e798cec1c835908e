"""Accounts: logging in and out, users (for admins), and the tokens of the logged-in user."""

import html

from msgspec import UNSET, Struct

from footnote.protocol.accounts import (
    IssuedToken,
    Login,
    NewToken,
    NewUser,
    Password,
    Principal,
    TokenHead,
    User,
    UserChanges,
)
from footnote.protocol.errors import LimitReached, NotLoggedIn, UsageError
from footnote.server.access import COOKIE, cookie_of
from footnote.server.assets import HTML
from footnote.server.responses import Reply, json_response
from footnote.server.route import Route, RouteCall
from footnote.server.routes.page import render_page

COOKIE_SECONDS = 400 * 86_400
"""The longest time that browsers keep a cookie. The server decides when a login ends."""


class LinkQuery(Struct, frozen=True, forbid_unknown_fields=True):
    token: str = ""


class NewPassword(Struct, frozen=True, forbid_unknown_fields=True):
    old_password: str
    password: Password


class UserList(Struct, frozen=True):
    users: tuple[User, ...]


class TokenList(Struct, frozen=True):
    tokens: tuple[TokenHead, ...]


# Logging in -------------------------------------------------------------------------------------------------


async def _log_in(call: RouteCall) -> Reply:
    login: Login = call.body
    await call.site.login_limits.acquire(call.address, login.name)
    principal, secret = await call.app.accounts.log_in(login)
    return _set_cookie(json_response(principal), call, secret)


async def _log_in_by_link(call: RouteCall) -> Reply:
    """The link that the server prints: it works once, and without a password."""
    query: LinkQuery = call.query
    try:
        await call.site.login_limits.acquire(call.address, None)
        _, secret = await call.app.accounts.log_in(Login(token=query.token))
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
    """A new password ends all logins of the user, so this browser is logged in again."""
    change: NewPassword = call.body
    accounts, name = call.app.accounts, call.current_user.name
    await call.site.login_limits.acquire(call.address, name)
    try:
        _, proof = await accounts.log_in(Login(name=name, password=change.old_password))
    except NotLoggedIn as error:
        raise UsageError(
            "The old password is wrong. If you have none, an admin can set one.", code="old_password_wrong"
        ) from error
    await accounts.log_out(proof)
    await accounts.change(call.user_id, UserChanges(password=change.password))
    if call.current_user.by == "token":
        return Reply(status=204)
    _, secret = await accounts.log_in(Login(name=name, password=change.password))
    return _set_cookie(Reply(status=204), call, secret)


def _set_cookie(reply: Reply, call: RouteCall, secret: str) -> Reply:
    reply.set_cookie(
        COOKIE, secret, max_age=COOKIE_SECONDS, secure=call.site.is_https, httponly=True, samesite="strict"
    )
    return reply


# Users and tokens -------------------------------------------------------------------------------------------


async def _users(call: RouteCall) -> UserList:
    return UserList(await call.app.accounts.users())


async def _add(call: RouteCall) -> User:
    return await call.app.accounts.add(call.body)


async def _user(call: RouteCall) -> User:
    return await call.app.accounts.user(call.path["user_id"])


async def _change(call: RouteCall) -> User:
    changes: UserChanges = call.body
    user = await call.app.accounts.change(call.path["user_id"], changes)
    if changes.disabled is not UNSET and user.disabled:
        await call.app.runner.stop_user(user.id)
    return user


async def _remove(call: RouteCall) -> None:
    user_id = call.path["user_id"]
    await call.app.accounts.check_removable(user_id)
    await call.app.runner.stop_user(user_id)
    await call.app.accounts.remove(user_id)
    await call.app.sessions.sweep()


async def _tokens(call: RouteCall) -> TokenList:
    return TokenList(await call.app.accounts.tokens(call.user_id))


async def _issue(call: RouteCall) -> IssuedToken:
    return await call.app.accounts.issue(call.user_id, call.body)


async def _revoke(call: RouteCall) -> None:
    await call.app.accounts.revoke(call.user_id, call.path["token_id"])


_USERS, _USER_PATH = "/v2/users", "/v2/users/{user_id}"
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
    Route("GET", _USERS, _users, "All users", access="admin", response=UserList),
    Route("POST", _USERS, _add, "Add a user", access="admin", body=NewUser, response=User, status=201),
    Route("GET", _USER_PATH, _user, "One user", access="admin", response=User),
    Route(
        "PATCH",
        _USER_PATH,
        _change,
        "Change role or password, or disable",
        access="admin",
        body=UserChanges,
        response=User,
    ),
    Route("DELETE", _USER_PATH, _remove, "Remove a user with all their data", access="admin", status=204),
    Route("GET", "/v2/tokens", _tokens, "Your tokens, without the tokens themselves", response=TokenList),
    Route("POST", "/v2/tokens", _issue, "A new token, shown once", body=NewToken, response=IssuedToken, status=201),
    Route("DELETE", "/v2/tokens/{token_id}", _revoke, "Revoke a token", status=204),
)
