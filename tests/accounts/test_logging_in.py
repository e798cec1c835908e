"""Logging in by password and by a token for one login, and the sessions that follow."""

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import engines
from accounts.conftest import LOCAL_TOKEN
from accounts.users import NOW, PASSWORD, CountingHasher, SettableClock, add_user, log_in
from footnote.accounts.accounts import COOKIE_SECONDS, DAY, LOGIN_SECONDS, MAX_TOKENS, Accounts
from footnote.accounts.credentials import MAX_WAITING, THREADS, Passwords
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFull
from footnote.db.script import Script, Steps, script, sql
from footnote.protocol.accounts import LOCAL_USER, Login, NewToken, Principal, TokenHead, UserChanges
from footnote.protocol.errors import Conflict, LimitReached, NotLoggedIn, Unknown, UsageError

LOCAL = Principal(LOCAL_USER, "local", "admin", "token")


async def refusal(accounts: Accounts, **login: str) -> str:
    with pytest.raises(NotLoggedIn) as refused:
        await accounts.log_in(Login(**login))
    return refused.value.message


async def test_a_name_and_its_password_open_the_page(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    principal, secret = await accounts.log_in(Login(name="ANN", password=PASSWORD))
    assert principal == Principal(ann.id, "Ann", "user", "cookie")
    assert await accounts.principal(secret, "cookie") == principal
    assert await accounts.principal(secret, "token") is None


async def test_nobody_learns_from_a_refusal_which_names_there_are(accounts: Accounts, hasher: CountingHasher) -> None:
    ann, bob = await add_user(accounts), await add_user(accounts, "Bob")
    await accounts.change(bob.id, UserChanges(disabled=True))
    hash_count = hasher.hashed
    refusals = {
        await refusal(accounts, name="Ann", password="wrong password"),
        await refusal(accounts, name="nobody", password="wrong password"),
        await refusal(accounts, name="local", password="wrong password"),
        await refusal(accounts, name="Bob", password="wrong password"),
        await refusal(accounts, name="Bob", password=PASSWORD),
        await refusal(accounts, name="Ann", password=PASSWORD + "x" * 2000),
        await refusal(accounts, name="x" * 100_000, password=PASSWORD),
        await refusal(accounts, name="", password=""),
    }
    assert len(refusals) == 1
    assert len(hasher.verified) == 8, "each of them cost one verification"
    assert {hash_.split("$")[3] for hash_ in hasher.verified} == {"m=8,t=1,p=1"}, "and the same one"
    assert hasher.hashed == hash_count + 1, "the hash of nobody was made once"
    assert await accounts.tokens(ann.id) == ()


async def test_a_login_is_by_password_or_by_token_and_not_by_half(accounts: Accounts) -> None:
    for login in (
        Login(),
        Login(name="Ann"),
        Login(password=PASSWORD),
        Login(name="Ann", password=PASSWORD, token="fnl_x"),
    ):
        with pytest.raises(UsageError, match="a name and a password, or with a token"):
            await accounts.log_in(login)


async def test_a_hash_of_other_settings_is_made_anew_at_the_next_login(
    database: Database, accounts: Accounts, clock: SettableClock
) -> None:
    await add_user(accounts)
    hasher = CountingHasher(time_cost=2)
    later = Accounts(database, clock=clock, passwords=Passwords(hasher))
    assert await log_in(later)
    assert await log_in(later)
    assert [hash_.split("$")[3] for hash_ in hasher.verified] == ["m=8,t=1,p=1", "m=8,t=2,p=1"]
    assert hasher.hashed == 2, "for Ann once, and for nobody once"
    await later.close()


async def test_a_password_changed_while_it_is_verified_opens_nothing(
    database: Database, accounts: Accounts, clock: SettableClock
) -> None:
    ann = await add_user(accounts)
    hasher = GatedHasher()
    slow = Accounts(database, clock=clock, passwords=Passwords(hasher))
    login = asyncio.create_task(log_in(slow))
    await asyncio.to_thread(hasher.reached.wait)
    await accounts.change(ann.id, UserChanges(password="another password"))
    hasher.opened.set()
    with pytest.raises(NotLoggedIn):
        await login
    await slow.close()


async def test_when_dozens_wait_the_next_is_told_to_come_back(
    database: Database, accounts: Accounts, clock: SettableClock
) -> None:
    await add_user(accounts)
    hasher = GatedHasher()
    busy = Accounts(database, clock=clock, passwords=Passwords(hasher))
    logins = [asyncio.create_task(log_in(busy)) for _ in range(THREADS + MAX_WAITING + 1)]
    done, _ = await asyncio.wait(logins, return_when=asyncio.FIRST_COMPLETED)
    (refused,) = done
    error = refused.exception()
    assert isinstance(error, LimitReached)
    assert error.retry_after
    logins.remove(refused)
    for gone in logins[10:]:  # a cancelled login releases its place in the queue
        gone.cancel()
    hasher.opened.set()
    results = await asyncio.gather(*logins, return_exceptions=True)
    assert [isinstance(result, str) for result in results[:10]] == [True] * 10
    assert await log_in(busy)
    await busy.close()


async def test_a_login_token_is_good_once_and_for_a_quarter_of_an_hour(
    accounts: Accounts, clock: SettableClock
) -> None:
    token = await accounts.create_login_token()
    principal, cookie = await accounts.log_in(Login(token=token))
    assert principal == Principal(LOCAL_USER, "local", "admin", "cookie")
    assert await accounts.principal(cookie, "cookie") == principal
    used = await refusal(accounts, token=token)
    late_token = await accounts.create_login_token()
    clock.time += LOGIN_SECONDS
    assert await refusal(accounts, token=late_token) == used == await refusal(accounts, token="fnl_guess")
    assert await accounts.principal(late_token, "token") is None


async def test_of_fifty_logins_with_one_token_at_once_one_succeeds(tmp_path: Path, accounts: Accounts) -> None:
    """Through two connections to the same file, as two server processes would."""
    token = await accounts.create_login_token()
    async with Database.open(engines.database_url(tmp_path), tmp_path) as other:
        processes = (accounts, Accounts(other, clock=lambda: NOW))
        logins = (processes[number % 2].log_in(Login(token=token)) for number in range(50))
        results = await asyncio.gather(*logins, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["NotLoggedIn"] * 49 + ["tuple"]


async def test_a_login_token_of_a_user_who_was_disabled_since_opens_nothing(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    token = await accounts.create_login_token(ann.id)
    await accounts.change(ann.id, UserChanges(disabled=True))
    await refusal(accounts, token=token)
    with pytest.raises(Conflict, match="disabled"):
        await accounts.create_login_token(ann.id)
    await accounts.change(ann.id, UserChanges(disabled=False))
    await refusal(accounts, token=token)


async def test_a_visit_ends_thirty_days_after_it_was_last_used(accounts: Accounts, clock: SettableClock) -> None:
    await add_user(accounts)
    used, unused = await log_in(accounts), await log_in(accounts)
    for _ in range(4):
        clock.time += COOKIE_SECONDS - DAY
        assert await accounts.principal(used, "cookie")
        await wait_for_touches(accounts)
    assert await accounts.principal(unused, "cookie") is None
    clock.time += COOKIE_SECONDS
    assert await accounts.principal(used, "cookie") is None


async def test_logging_out_ends_this_visit_and_no_other(accounts: Accounts) -> None:
    await add_user(accounts)
    one, other = await log_in(accounts), await log_in(accounts)
    await accounts.log_out(one)
    await accounts.log_out(one)
    await accounts.log_out("anything")
    assert await accounts.principal(one, "cookie") is None
    assert await accounts.principal(other, "cookie")


async def test_a_new_password_ends_all_visits_and_leaves_tokens(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    await add_user(accounts, "Bob")
    cookie, of_bob = await log_in(accounts), await log_in(accounts, "Bob")
    token = (await accounts.issue(ann.id, NewToken("script"))).token
    await accounts.change(ann.id, UserChanges(password="another password"))
    assert await accounts.principal(cookie, "cookie") is None
    assert await accounts.principal(token, "token")
    assert await accounts.principal(of_bob, "cookie")
    await refusal(accounts, name="Ann", password=PASSWORD)
    assert await log_in(accounts, password="another password")


async def test_a_disabled_user_can_prove_nothing_and_tokens_come_back(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    cookie = await log_in(accounts)
    login = await accounts.create_login_token(ann.id)
    token = (await accounts.issue(ann.id, NewToken("script"))).token
    await accounts.change(ann.id, UserChanges(disabled=True))
    assert await accounts.principal(cookie, "cookie") is None
    assert await accounts.principal(token, "token") is None
    await refusal(accounts, token=login)
    await refusal(accounts, name="Ann", password=PASSWORD)
    with pytest.raises(Conflict, match="disabled"):
        await accounts.issue(ann.id, NewToken("another"))
    await accounts.change(ann.id, UserChanges(disabled=False))
    assert await accounts.principal(cookie, "cookie") is None
    assert await accounts.principal(token, "token") == Principal(ann.id, "Ann", "user", "token")


async def test_the_token_of_the_machine_is_the_local_user_until_that_is_disabled(accounts: Accounts) -> None:
    assert await accounts.principal(LOCAL_TOKEN, "token") == LOCAL
    for wrong in (LOCAL_TOKEN[:-1], LOCAL_TOKEN + "x", "", "\ud800", "x" * 100_000):
        assert await accounts.principal(wrong, "token") is None
    assert await accounts.principal(LOCAL_TOKEN, "cookie") is None
    await add_user(accounts, role="admin")
    await accounts.change(LOCAL_USER, UserChanges(disabled=True))
    assert await accounts.principal(LOCAL_TOKEN, "token") is None


async def test_without_a_token_of_the_machine_nothing_is_taken_for_it(database: Database) -> None:
    accounts = Accounts(database)
    for wrong in ("", "None", LOCAL_TOKEN):
        assert await accounts.principal(wrong, "token") is None


async def test_a_token_is_shown_once_listed_and_revoked(accounts: Accounts, clock: SettableClock) -> None:
    ann, bob = await add_user(accounts), await add_user(accounts, "Bob")
    issued = await accounts.issue(ann.id, NewToken(" nightly ", expires_in_days=7))
    head = TokenHead(issued.id, "nightly", "2027-01-15T08:00:00Z", None, "2027-01-22T08:00:00Z")
    assert issued.token.startswith("fn_")
    assert await accounts.tokens(ann.id) == (head,)
    assert await accounts.tokens(bob.id) == ()
    with pytest.raises(Unknown):
        await accounts.revoke(bob.id, issued.id)
    assert await accounts.principal(issued.token, "token")
    await accounts.revoke(ann.id, issued.id)
    assert await accounts.principal(issued.token, "token") is None
    assert await accounts.tokens(ann.id) == ()


async def test_a_token_ends_on_its_day(accounts: Accounts, clock: SettableClock) -> None:
    token = (await accounts.issue(LOCAL_USER, NewToken("week", expires_in_days=7))).token
    clock.time += 7 * DAY - 1
    assert await accounts.principal(token, "token")
    clock.time += 1
    assert await accounts.principal(token, "token") is None
    assert await accounts.tokens(LOCAL_USER) == ()


async def test_a_user_has_no_more_tokens_than_anybody_needs(accounts: Accounts) -> None:
    results = await asyncio.gather(
        *(accounts.issue(LOCAL_USER, NewToken("many")) for _ in range(MAX_TOKENS + 5)), return_exceptions=True
    )
    assert [type(one).__name__ for one in results].count("LimitReached") == 5


async def test_what_was_last_used_is_noted_once_a_minute(accounts: Accounts, clock: SettableClock) -> None:
    token = (await accounts.issue(LOCAL_USER, NewToken("script"))).token
    used_at: list[str | None] = []
    for seconds in (0, 59, 1, 30):
        clock.time += seconds
        assert await accounts.principal(token, "token")
        await wait_for_touches(accounts)
        used_at.append((await accounts.tokens(LOCAL_USER))[0].used_at)
    assert used_at == ["2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z", "2027-01-15T08:01:00Z", "2027-01-15T08:01:00Z"]


async def test_a_full_disk_lets_nobody_wait_outside(
    database: Database, clock: SettableClock, caplog: pytest.LogCaptureFixture
) -> None:
    accounts = Accounts(FullDatabase(database), clock=clock)
    token = (await Accounts(database, clock=clock).issue(LOCAL_USER, NewToken("script"))).token
    assert await accounts.principal(token, "token") == LOCAL
    await wait_for_touches(accounts)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert token not in caplog.text


async def test_only_hashes_are_kept(tmp_path: Path, accounts: Accounts, database: Database) -> None:
    ann = await add_user(accounts)
    issued = await accounts.issue(ann.id, NewToken("script"))
    secrets = [PASSWORD, LOCAL_TOKEN, issued.token, await log_in(accounts), await accounts.create_login_token()]
    assert await accounts.principal(issued.token, "token")
    await wait_for_touches(accounts)
    await refusal(accounts, name="Ann", password="a wrong password")
    await database.close()
    stored = engines.contents(tmp_path)
    assert b"$argon2id$" in stored
    planted = [*secrets, "a wrong password", *(secret.partition("_")[2] for secret in secrets[2:])]
    assert [one for one in planted if one.encode() in stored] == []


async def test_expired_credentials_do_not_pile_up(accounts: Accounts, database: Database, clock: SettableClock) -> None:
    for _ in range(5):
        await accounts.create_login_token()
        clock.time += LOGIN_SECONDS
    assert await database.read(_count()) == 1


@script
def _count() -> Steps[int]:
    rows = yield sql("SELECT count(*) FROM credential")
    return rows[0][0]


async def wait_for_touches(accounts: Accounts) -> None:
    """Waits for the writes that `Accounts` does in the background."""
    await asyncio.gather(*accounts._touch_tasks.values())


class GatedHasher(CountingHasher):
    """Blocks before it verifies a password, until the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.opened = threading.Event(), threading.Event()

    def verify(self, *arguments: Any) -> bool:
        self.reached.set()
        assert self.opened.wait(60)
        return super().verify(*arguments)


class FullDatabase(Database):
    """Reads as the real database does; every write fails for want of disk space."""

    def __init__(self, database: Database) -> None:
        self._real = database

    async def read(self, script: Script[Any]) -> Any:
        return await self._real.read(script)

    async def write(self, script: Script[Any], *, erase: bool = False) -> Any:
        raise DatabaseFull("footnote.db")
