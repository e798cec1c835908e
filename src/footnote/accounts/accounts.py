"""`Accounts`: users and their credentials.

accounts = Accounts(database, local_token=local_token(home, environ))
user, cookie = await accounts.log_in(Login(name="ann", password="…"))
user = await accounts.principal(cookie, "cookie")
"""

import asyncio
import logging
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from footnote.accounts.credentials import (
    PREFIXES,
    Passwords,
    check_password,
    has_prefix_of,
    hash_of,
    is_equal,
    new_secret,
)
from footnote.db import accounts as db
from footnote.db.blobs import get_or_create_secret as db_secret
from footnote.db.engine import Database
from footnote.db.script import Steps, lock, script
from footnote.protocol import format_time, new_id
from footnote.protocol.accounts import (
    LOCAL_USER,
    IssuedToken,
    Login,
    NewToken,
    NewUser,
    Principal,
    TokenHead,
    User,
    UserChanges,
)
from footnote.protocol.errors import (
    Conflict,
    FootnoteError,
    LimitReached,
    NotAllowed,
    NotLoggedIn,
    Unknown,
    UsageError,
)

DAY = 86_400.0
COOKIE_SECONDS = 30 * DAY
"""A login ends when there is no request for this long."""
LOGIN_SECONDS = 15 * 60.0
TOUCH_SECONDS = 60.0
"""The time of the last use of a credential is updated at most this often."""
MAX_TOKENS = 200
"""The number of tokens that a user can have."""
SHARED_TOKEN_NAME = "local token"  # noqa: S105 - the name that it is kept under
WRONG_PASSWORD = "The name or the password is wrong."  # noqa: S105 - a sentence
WRONG_TOKEN = "This login link has been used or is too old. Ask for a new one."  # noqa: S105 - a sentence

log = logging.getLogger(__name__)


class Accounts:
    """Several processes may share a database."""

    def __init__(
        self,
        database: Database,
        *,
        local_token: str | None = None,
        clock: Callable[[], float] = time.time,
        passwords: Passwords | None = None,
    ) -> None:
        self._database = database
        self._local_token = local_token
        self._clock = clock
        self._passwords = passwords or Passwords()
        self._touch_tasks: dict[str, asyncio.Task[None]] = {}

    async def share_local_token(self) -> str | None:
        """Stores the local token of the first replica, so that all replicas accept the same one."""
        if self._local_token is not None:
            stored = await self._database.write(db_secret(SHARED_TOKEN_NAME, self._local_token.encode()))
            self._local_token = stored.decode()
        return self._local_token

    async def close(self) -> None:
        """Called before the database is closed: waits for pending updates of last uses."""
        await asyncio.gather(*self._touch_tasks.values())
        await asyncio.to_thread(self._passwords.close)

    async def users(self) -> tuple[User, ...]:
        """The oldest first."""
        return tuple(_user(row) for row in await self._database.read(db.accounts()))

    async def user(self, user_id: str) -> User:
        return _user(await self._database.read(_require_account(user_id)))

    async def user_by_name(self, name: str) -> User:
        row = (
            await self._database.read(db.account_by_name(name_key(name))) if len(name) <= 4 * MAX_NAME_LENGTH else None
        )
        if row is None:
            raise Unknown("There is no user of this name. `footnote users list` shows all of them.")
        return _user(row)

    async def add(self, new: NewUser) -> User:
        name = normalize_name(new.name)
        check_password(new.password)
        conflict = Conflict(f"There is a user {name} already. Choose another name.", code="user_exists", name=name)
        if await self._database.read(db.account_by_name(name_key(name))):  # before much work is done
            raise conflict
        row = db.AccountRow(
            id=new_id("user"),
            name=name,
            role=new.role,
            disabled=False,
            created_at=format_time(self._clock()),
            password=await self._passwords.hash(new.password),
        )
        if not await self._database.write(db.add_account(row, name_key(name))):
            raise conflict
        return _user(row)

    async def change(self, user_id: str, changes: UserChanges) -> User:
        """Applies all changes or none. A new password ends all logins of the user, and so does being disabled."""
        await self._database.read(_require_account(user_id))  # before much work is done
        hashed = None if changes.password is UNSET else await self._passwords.hash(changes.password)
        return _user(await self._database.write(_update_account(user_id, changes, hashed), erase=hashed is not None))

    async def check_removable(self, user_id: str) -> None:
        """Raises what `remove` would."""
        await self._database.read(_check_removable(user_id))

    async def remove(self, user_id: str) -> None:
        """Deletes a user and everything that belongs to the user, for good. The caller has ended the user's runs."""
        await self._database.write(_delete_account(user_id), erase=True)

    async def log_in(self, login: Login) -> tuple[Principal, str]:
        """The user, and the secret of a new cookie."""
        by_password = login.name is not None and login.password is not None
        if by_password == (login.token is not None):
            raise UsageError("Log in with a name and a password, or with a token.")
        secret = new_secret(PREFIXES["cookie"])
        if login.token is not None:
            principal = await self._log_in_with_token(login.token, secret)
        else:
            principal = await self._log_in_with_password(login.name or "", login.password or "", secret)
        return principal, secret

    async def log_out(self, secret: str) -> None:
        if has_prefix_of(secret, "cookie"):
            await self._database.write(db.consume_credential(hash_of(secret), "cookie", self._clock()))

    async def principal(self, secret: str, by: Literal["token", "cookie"]) -> Principal | None:
        """The user of a secret; None: there is none, or it has expired."""
        if by == "token" and self._local_token is not None and is_equal(secret, self._local_token):
            local = await self._database.read(db.account(LOCAL_USER))
            return Principal(local.id, local.name, local.role, by) if local and not local.disabled else None
        if not has_prefix_of(secret, by):
            return None
        now = self._clock()
        owner = await self._database.read(db.credential_owner(hash_of(secret), by, now))
        if owner is None:
            return None
        if owner.used_at is None or owner.used_at + TOUCH_SECONDS <= now:
            self._touch(owner.credential_id, now, now + COOKIE_SECONDS if by == "cookie" else None)
        return Principal(owner.user_id, owner.name, owner.role, by)

    async def create_login_token(self, user_id: str = LOCAL_USER) -> str:
        """A token for one login, which expires soon."""
        secret, now = new_secret(PREFIXES["login"]), self._clock()
        row = _credential(user_id, "login", "login", now, now + LOGIN_SECONDS)
        await self._database.write(_issue_credential(row, secret))
        return secret

    async def tokens(self, user_id: str) -> tuple[TokenHead, ...]:
        """The API tokens of a user, the newest first."""
        rows = await self._database.read(db.credentials(user_id, "token", self._clock()))
        return tuple(_head(row) for row in rows)

    async def issue(self, user_id: str, new: NewToken) -> IssuedToken:
        name = new.name.strip()
        if not 1 <= len(name) <= 100:
            raise UsageError(
                "A token's name has 1 to 100 characters. Choose another one.", code="token_name_length", max=100
            )
        secret, now = new_secret(PREFIXES["token"]), self._clock()
        expires_at = None if new.expires_in_days is None else now + new.expires_in_days * DAY
        row = _credential(user_id, "token", name, now, expires_at)
        await self._database.write(_issue_credential(row, secret))
        head = _head(row)
        return IssuedToken(head.id, head.name, head.created_at, head.used_at, head.expires_at, token=secret)

    async def revoke(self, user_id: str, token_id: str) -> None:
        if not await self._database.write(db.revoke_credential(user_id, token_id, "token")):
            raise Unknown("There is no such token.", code="token_not_found")

    async def _log_in_with_password(self, name: str, password: str, secret: str) -> Principal:
        """Reads once and verifies once for every name, so that the time does not tell whether the user exists."""
        key = name_key(name) if len(name) <= 4 * MAX_NAME_LENGTH else ""
        row = await self._database.read(db.account_by_name(key))
        hashed = None if row is None else row.password
        if not await self._passwords.verify(password, hashed) or row is None or hashed is None:
            raise NotLoggedIn(WRONG_PASSWORD, code="wrong_password")
        rehashed = None
        if self._passwords.needs_rehash(hashed):
            with suppress(LimitReached):  # at the next login, then
                rehashed = await self._passwords.hash(password)
        cookie = self._cookie(row.id)
        return await self._database.write(_finish_password_login(cookie, secret, verified=hashed, rehashed=rehashed))

    async def _log_in_with_token(self, token: str, secret: str) -> Principal:
        now = self._clock()
        # A read first, so that wrong guesses cause no write.
        owner = (
            await self._database.read(db.credential_owner(hash_of(token), "login", now))
            if has_prefix_of(token, "login")
            else None
        )
        if owner is None:
            raise NotLoggedIn(WRONG_TOKEN, code="login_link_expired")
        return await self._database.write(_finish_token_login(hash_of(token), self._cookie(owner.user_id), secret))

    def _cookie(self, user_id: str) -> db.CredentialRow:
        now = self._clock()
        return replace(_credential(user_id, "cookie", "page", now, now + COOKIE_SECONDS), used_at=now)

    def _touch(self, credential_id: str, now: float, expires_at: float | None) -> None:
        """Runs in the background: the request neither waits for it nor fails with it."""
        if credential_id not in self._touch_tasks:
            task = asyncio.create_task(self._store_touch(credential_id, now, expires_at))
            self._touch_tasks[credential_id] = task
            task.add_done_callback(lambda _: self._touch_tasks.pop(credential_id, None))

    async def _store_touch(self, credential_id: str, now: float, expires_at: float | None) -> None:
        try:
            await self._database.write(db.touch_credential(credential_id, now, expires_at))
        except FootnoteError as error:
            log.warning("The time of the last use of a token could not be stored: %s", error.message)


@script
def _require_account(user_id: str) -> Steps[db.AccountRow]:
    row = yield from db.account(user_id)
    if row is None:
        raise Unknown("There is no such user.", code="user_not_found")
    return row


@script
def _require_enabled(user_id: str) -> Steps[db.AccountRow]:
    row = yield from _require_account(user_id)
    if row.disabled:
        raise Conflict(f"The user {row.name} is disabled. Enable them first.", code="user_disabled", name=row.name)
    return row


@script
def _update_account(user_id: str, changes: UserChanges, hashed: str | None) -> Steps[db.AccountRow]:
    yield lock("user", user_id)
    row = yield from _require_account(user_id)
    role = row.role if changes.role is UNSET else changes.role
    disabled = row.disabled if changes.disabled is UNSET else changes.disabled
    if user_id == LOCAL_USER and role != row.role:
        raise NotAllowed(
            "The user local is the person at the machine itself, and stays an admin.", code="local_user_stays_admin"
        )
    if role != "admin" or disabled:
        yield from _check_other_admin(row)
    yield from db.set_role(user_id, role)
    yield from db.set_disabled(user_id, disabled=disabled)
    if hashed is not None:
        yield from db.set_password(user_id, hashed)
    if hashed is not None or disabled:
        yield from db.revoke_logins(user_id)
    return (yield from _require_account(user_id))


@script
def _check_removable(user_id: str) -> Steps[None]:
    row = yield from _require_account(user_id)
    if user_id == LOCAL_USER:
        raise NotAllowed(
            "The user local is the person at the machine itself, and cannot be removed.", code="local_user_stays"
        )
    yield from _check_other_admin(row)


@script
def _delete_account(user_id: str) -> Steps[None]:
    yield lock("user", user_id)
    yield from _check_removable(user_id)
    yield from db.delete_account(user_id)


@script
def _check_other_admin(row: db.AccountRow) -> Steps[None]:
    """Raises an error if there would be no admin left."""
    if row.role == "admin" and not row.disabled and not (yield from db.has_another_admin(row.id)):
        raise Conflict(
            f"{row.name} is the only admin. Make somebody else an admin first.", code="last_admin", name=row.name
        )


@script
def _finish_password_login(
    cookie: db.CredentialRow, secret: str, *, verified: str, rehashed: str | None
) -> Steps[Principal]:
    """Only if the password is still the one that was verified: it may have been changed meanwhile."""
    yield lock("user", cookie.user_id)
    row = yield from db.account(cookie.user_id)
    if row is None or row.disabled or row.password != verified:
        raise NotLoggedIn(WRONG_PASSWORD, code="wrong_password")
    if rehashed is not None:
        yield from db.set_password(row.id, rehashed)
    yield from db.add_credential(cookie, hash_of(secret))
    return Principal(row.id, row.name, row.role, "cookie")


@script
def _finish_token_login(token_hash: str, cookie: db.CredentialRow, secret: str) -> Steps[Principal]:
    yield lock("user", cookie.user_id)
    user_id = yield from db.consume_credential(token_hash, "login", cookie.created_at)
    row = None if user_id is None else (yield from db.account(user_id))
    if row is None or row.disabled or row.id != cookie.user_id:
        raise NotLoggedIn(WRONG_TOKEN, code="login_link_expired")
    yield from db.add_credential(cookie, hash_of(secret))
    return Principal(row.id, row.name, row.role, "cookie")


@script
def _issue_credential(row: db.CredentialRow, secret: str) -> Steps[None]:
    yield lock("user", row.user_id)
    yield from _require_enabled(row.user_id)
    if row.kind == "token" and len((yield from db.credentials(row.user_id, "token", row.created_at))) >= MAX_TOKENS:
        raise LimitReached(
            f"A user has at most {MAX_TOKENS} tokens. Remove one that is no longer needed.",
            code="too_many_tokens",
            max=MAX_TOKENS,
        )
    yield from db.add_credential(row, hash_of(secret))


def _credential(
    user_id: str, kind: db.CredentialKind, name: str, now: float, expires_at: float | None
) -> db.CredentialRow:
    return db.CredentialRow(new_id(kind), user_id, kind, name, now, None, expires_at)


def _user(row: db.AccountRow) -> User:
    return User(row.id, row.name, row.role, row.disabled, row.created_at)


def _head(row: db.CredentialRow) -> TokenHead:
    return TokenHead(
        row.id,
        row.name,
        format_time(row.created_at),
        None if row.used_at is None else format_time(row.used_at),
        None if row.expires_at is None else format_time(row.expires_at),
    )


# Names ------------------------------------------------------------------------------------------------------


MAX_NAME_LENGTH = 64
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of invisible characters, with which a name would look like another one."""


def normalize_name(name: str) -> str:
    """The name as it is stored and shown. Raises `UsageError` if it is invalid."""
    if len(name) > 4 * MAX_NAME_LENGTH:  # before work is spent on it
        raise _invalid_name()
    shown = unicodedata.normalize("NFKC", name).strip()
    if not 1 <= len(shown) <= MAX_NAME_LENGTH or any(unicodedata.category(char) in _INVISIBLE for char in shown):
        raise _invalid_name()
    return " ".join(shown.split())


def name_key(name: str) -> str:
    """A key that is equal for names that differ only in case, width or spaces."""
    return " ".join(_fold(_fold(name)).split())


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _invalid_name() -> UsageError:
    return UsageError(
        f"A user's name has 1 to {MAX_NAME_LENGTH} characters that can be seen. Choose another one.",
        code="user_name_length",
        max=MAX_NAME_LENGTH,
    )
