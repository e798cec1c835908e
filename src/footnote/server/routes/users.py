"""Accounts, for admins, and everybody's own tokens."""

from msgspec import UNSET, Struct

from footnote.protocol.accounts import IssuedToken, NewToken, NewUser, TokenHead, User, UserChanges
from footnote.server.route import Route, RouteCall


class UserList(Struct, frozen=True):
    users: tuple[User, ...]


class TokenList(Struct, frozen=True):
    tokens: tuple[TokenHead, ...]


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
    Route("DELETE", _USER_PATH, _remove, "Remove a user with all that is theirs", access="admin", status=204),
    Route("GET", "/v2/tokens", _tokens, "Your tokens, without the tokens themselves", response=TokenList),
    Route("POST", "/v2/tokens", _issue, "A new token, shown once", body=NewToken, response=IssuedToken, status=201),
    Route("DELETE", "/v2/tokens/{token_id}", _revoke, "Revoke a token", status=204),
)
