"""Users: added, listed and changed, and what is refused."""

import asyncio
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.users import PASSWORD, add_user, log_in
from footnote.accounts.accounts import Accounts, name_key, normalize_name
from footnote.protocol.accounts import LOCAL_USER, Login, NewUser, User, UserChanges
from footnote.protocol.errors import Conflict, NotAllowed, NotLoggedIn, Unknown, UsageError

LOCAL = User(LOCAL_USER, "local", "admin", disabled=False, created_at="1970-01-01T00:00:00Z")


async def test_a_new_home_has_the_local_user_alone(accounts: Accounts) -> None:
    assert await accounts.users() == (LOCAL,)


async def test_a_user_is_found_by_id_and_by_name_in_whatever_case_and_width(accounts: Accounts) -> None:
    ann = await add_user(accounts, "  Ánn ")
    assert ann == User(ann.id, "Ánn", "user", disabled=False, created_at="2027-01-15T08:00:00Z")
    assert await accounts.user(ann.id) == ann
    for name in ("Ánn", "áNN", unicodedata.normalize("NFD", "Ánn"), " Ánn", "Áｎｎ"):
        assert await accounts.user_by_name(name) == ann
    assert await accounts.users() == (LOCAL, ann)


@pytest.mark.parametrize("spelling", ["ann lee", "ANN LEE", "ａｎｎ\u3000lee", "Ann  Lee\u00a0", "\tAnn Lee\n"])
async def test_a_name_is_taken_in_all_its_spellings(accounts: Accounts, spelling: str) -> None:
    await add_user(accounts, "Ann Lee")
    with pytest.raises(Conflict):
        await add_user(accounts, spelling)


async def test_nobody_else_is_called_local(accounts: Accounts) -> None:
    with pytest.raises(Conflict):
        await add_user(accounts, "LOCAL")


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\x00b", "a\nb", "a\u200bb", "a\u202eb", "\ud800", "a" * 10_000])
async def test_a_name_that_cannot_be_seen_or_is_too_long_is_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(UsageError, match="name has 1 to 64"):
        await add_user(accounts, name)


@pytest.mark.parametrize("name", ["Nguyễn Văn A", "王小明", "Ωmega", "o'Brien", "ann@example.org", "x" * 64])
async def test_names_of_all_languages_are_welcome(accounts: Accounts, name: str) -> None:
    assert (await add_user(accounts, name)).name == name


@given(st.text(max_size=40))
def test_a_kept_name_stays_what_it_is_and_so_does_what_it_is_compared_by(name: str) -> None:
    try:
        shown = normalize_name(name)
    except UsageError:
        return
    assert normalize_name(shown) == shown
    assert name_key(shown) == name_key(name) == name_key(name_key(shown))


@pytest.mark.parametrize("password", ["", "1234567", "e\u0301" * 4, "x" * 1025])
async def test_a_password_of_the_wrong_length_is_refused(accounts: Accounts, password: str) -> None:
    with pytest.raises(UsageError, match="password has 8 to 1,024"):
        await accounts.add(NewUser("ann", password))
    ann = await add_user(accounts)
    with pytest.raises(UsageError, match="password has 8 to 1,024"):
        await accounts.change(ann.id, UserChanges(password=password))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.text(st.characters(), min_size=8, max_size=1024).filter(lambda one: len(unicodedata.normalize("NFKC", one)) >= 8)
)
async def test_any_text_can_be_a_password_however_it_is_composed(accounts: Accounts, password: str) -> None:
    user = await add_user(accounts, f"user {len(await accounts.users())}")
    await accounts.change(user.id, UserChanges(password=password))
    for form in ("NFC", "NFD", "NFKC"):
        typed = unicodedata.normalize(form, password)
        if len(typed) <= 1024:
            assert await log_in(accounts, user.name, typed)
    with pytest.raises(NotLoggedIn):
        await log_in(accounts, user.name, password[:-1] + "\x01\x02")


async def test_of_fifty_who_add_the_same_name_at_once_one_succeeds(accounts: Accounts) -> None:
    names = [("ann", "Ann", "ＡＮＮ", " aNN ")[number % 4] for number in range(50)]
    results = await asyncio.gather(*(add_user(accounts, name) for name in names), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 49 + ["User"]
    assert len(await accounts.users()) == 2


async def test_what_does_not_exist_is_unknown(accounts: Accounts) -> None:
    for call in (
        accounts.user("user_1"),
        accounts.user_by_name("ann"),
        accounts.user_by_name("x" * 100_000),
        accounts.change("user_1", UserChanges(disabled=True)),
        accounts.remove("user_1"),
        accounts.create_login_token("user_1"),
        accounts.revoke(LOCAL_USER, "token_1"),
    ):
        with pytest.raises(Unknown):
            await call


async def test_changes_are_made_together_and_told(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    changed = await accounts.change(ann.id, UserChanges(role="admin", disabled=True, password="another password"))
    assert changed == User(ann.id, "Ann", "admin", disabled=True, created_at=ann.created_at)
    assert await accounts.user(ann.id) == changed
    enabled = await accounts.change(ann.id, UserChanges(disabled=False))
    assert (await accounts.log_in(Login(name="ann", password="another password")))[0].role == "admin"
    assert await accounts.change(ann.id, UserChanges()) == enabled


async def test_the_last_enabled_admin_stays_one(accounts: Accounts) -> None:
    with pytest.raises(Conflict, match="only admin"):
        await accounts.change(LOCAL_USER, UserChanges(disabled=True))
    ann = await add_user(accounts, role="admin")
    await accounts.change(LOCAL_USER, UserChanges(disabled=True))
    bob = await add_user(accounts, "Bob", role="admin")
    await accounts.change(bob.id, UserChanges(disabled=True))
    for last in (
        accounts.change(ann.id, UserChanges(disabled=True)),
        accounts.change(ann.id, UserChanges(role="user")),
        accounts.remove(ann.id),
    ):
        with pytest.raises(Conflict, match="only admin"):
            await last
    await accounts.remove(bob.id)  # the former admin
    assert await accounts.user(ann.id) == ann


async def test_of_two_admins_who_disable_each_other_at_once_one_stays(accounts: Accounts) -> None:
    ann, bob = await add_user(accounts, role="admin"), await add_user(accounts, "Bob", role="admin")
    await accounts.change(LOCAL_USER, UserChanges(disabled=True))
    disabling = (accounts.change(one.id, UserChanges(disabled=True)) for one in (ann, bob))
    results = await asyncio.gather(*disabling, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "User"]
    assert [user.disabled for user in await accounts.users()].count(False) == 1


async def test_a_refused_change_changes_nothing(accounts: Accounts) -> None:
    with pytest.raises(NotAllowed):
        await accounts.change(LOCAL_USER, UserChanges(role="user", password="another password"))
    with pytest.raises(NotLoggedIn):
        await log_in(accounts, "local", "another password")


async def test_the_local_user_cannot_be_removed_or_demoted(accounts: Accounts) -> None:
    await add_user(accounts, role="admin")
    with pytest.raises(NotAllowed):
        await accounts.remove(LOCAL_USER)
    with pytest.raises(NotAllowed):
        await accounts.change(LOCAL_USER, UserChanges(role="user"))
    assert (await accounts.users())[0] == LOCAL


async def test_a_removed_user_is_gone_and_the_name_free(accounts: Accounts) -> None:
    ann = await add_user(accounts)
    cookie = await log_in(accounts)
    await accounts.remove(ann.id)
    assert await accounts.principal(cookie, "cookie") is None
    with pytest.raises(Unknown):
        await accounts.user(ann.id)
    with pytest.raises(NotLoggedIn):
        await accounts.log_in(Login(name="Ann", password=PASSWORD))
    assert (await add_user(accounts)).id != ann.id
