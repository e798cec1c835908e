"""Accounts, for admins, and everybody's own tokens."""

from msgspec import UNSET, Struct

from footnote.protocol.accounts import IssuedToken, NewToken, NewUser, TokenHead, User, UserChanges
from footnote.server.table import Call, Route


class Users(Struct, frozen=True):
    users: tuple[User, ...]


class Tokens(Struct, frozen=True):
    tokens: tuple[TokenHead, ...]


async def _users(call: Call) -> Users:
    return Users(await call.app.accounts.users())


async def _add(call: Call) -> User:
    return await call.app.accounts.add(call.body)


async def _user(call: Call) -> User:
    return await call.app.accounts.user(call.path["user_id"])


async def _change(call: Call) -> User:
    changes: UserChanges = call.body
    user = await call.app.accounts.change(call.path["user_id"], changes)
    if changes.disabled is not UNSET and user.disabled:
        await call.app.runner.stop_user(user.id)
    return user


async def _remove(call: Call) -> None:
    user_id = call.path["user_id"]
    await call.app.accounts.check_removable(user_id)
    await call.app.runner.stop_user(user_id)
    await call.app.accounts.remove(user_id)
    await call.app.sessions.sweep()


async def _tokens(call: Call) -> Tokens:
    return Tokens(await call.app.accounts.tokens(call.user_id))


async def _issue(call: Call) -> IssuedToken:
    return await call.app.accounts.issue(call.user_id, call.body)


async def _revoke(call: Call) -> None:
    await call.app.accounts.revoke(call.user_id, call.path["token_id"])


_USERS, _ONE = "/v2/users", "/v2/users/{user_id}"
ROUTES = (
    Route("GET", _USERS, _users, "All users", access="admin", answer=Users),
    Route("POST", _USERS, _add, "Add a user", access="admin", body=NewUser, answer=User, status=201),
    Route("GET", _ONE, _user, "One user", access="admin", answer=User),
    Route("PATCH", _ONE, _change, "Change role or password, or disable", access="admin", body=UserChanges, answer=User),
    Route("DELETE", _ONE, _remove, "Remove a user with all that is theirs", access="admin", status=204),
    Route("GET", "/v2/tokens", _tokens, "Your tokens, without the tokens themselves", answer=Tokens),
    Route("POST", "/v2/tokens", _issue, "A new token, shown once", body=NewToken, answer=IssuedToken, status=201),
    Route("DELETE", "/v2/tokens/{token_id}", _revoke, "Revoke a token", status=204),
)
