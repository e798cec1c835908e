"""`footnote users`: added, listed, disabled and removed, with and without a terminal."""

import argparse
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import engines
from cli.process import FOREGROUND_PROGRAM, FootnoteProcess, environment, run_footnote
from footnote.accounts.accounts import Accounts
from footnote.app import App
from footnote.cli import CommandParser
from footnote.cli import tokens as cli_tokens
from footnote.cli import users as cli_users
from footnote.db.engine import Database
from footnote.protocol.accounts import Login, NewToken, NewUser
from footnote.protocol.errors import NotLoggedIn

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
PASSWORD = "correct horse battery"


async def users(home: Path, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    return await run_footnote("users", *arguments, env=environment(home), stdin=stdin.encode())


async def list_users(home: Path) -> list[dict[str, Any]]:
    code, out, _ = await users(home, "list", "--json")
    assert code == 0
    return json.loads(out)


async def can_log_in(home: Path, name: str, password: str = PASSWORD) -> bool:
    async with Database.open(engines.database_url(home / ".footnote"), home / ".footnote") as database:
        accounts = Accounts(database)
        try:
            await accounts.log_in(Login(name=name, password=password))
        except NotLoggedIn:
            return False
        finally:
            await accounts.close()
        return True


@pytest.mark.slow
async def test_a_user_is_added_with_a_password_from_stdin(tmp_path: Path) -> None:
    assert await users(tmp_path, "add", " Ann ", stdin=f"{PASSWORD}\r\nmore\n") == (0, "", "Added the user Ann.\n")
    assert await users(tmp_path, "add", "王", "--admin", stdin="mật khẩu dài") == (0, "", "Added the admin 王.\n")
    assert await can_log_in(tmp_path, "ann")
    assert await can_log_in(tmp_path, "王", "mật khẩu dài")
    shown = [(user["name"], user["role"], user["disabled"]) for user in await list_users(tmp_path)]
    assert shown == [("local", "admin", False), ("Ann", "user", False), ("王", "admin", False)]


async def test_the_list_is_a_table_for_people(tmp_path: Path) -> None:
    await users(tmp_path, "add", "王小明", stdin=PASSWORD)
    await users(tmp_path, "disable", "王小明")
    ids = [user["id"] for user in await list_users(tmp_path)]
    added = (await list_users(tmp_path))[1]["created_at"][:10]
    code, out, err = await users(tmp_path, "list")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "NAME    ROLE   STATE     ADDED       ID",
        "local   admin  enabled   -           local",
        f"王小明  user   disabled  {added}  {ids[1]}",
    ]


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("add", "Ann"), "short\n", "footnote: A password has 8 to 1,024 characters. Choose another one.\n"),
        (("add", "Ann"), "", "footnote: A password has 8 to 1,024 characters. Choose another one.\n"),
        (("add", "a\u200bb"), PASSWORD, "footnote: A user's name has 1 to 64 characters that can be seen."),
        (("add", "Local"), PASSWORD, "footnote: There is a user Local already. Choose another name.\n"),
        (("disable", "local"), "", "footnote: local is the only admin. Make somebody else an admin first.\n"),
        (("remove", "local", "--yes"), "", "footnote: The user local is the person at the machine itself, and cannot"),
        (("remove", "Ann", "--yes"), "", "footnote: There is no user of this name. `footnote users list` shows all"),
        (("password", "Ann"), PASSWORD, "footnote: There is no user of this name."),
    ],
)
async def test_what_cannot_be_done_is_said_and_changes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], stdin: str, message: str
) -> None:
    code, out, err = await users(tmp_path, *arguments, stdin=stdin)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert [user["id"] for user in await list_users(tmp_path)] == ["local"]


async def test_a_password_that_is_no_text_is_refused(tmp_path: Path) -> None:
    code, out, err = await run_footnote("users", "add", "Ann", env=environment(tmp_path), stdin=b"\xff" * 10)
    assert (code, out, err) == (2, "", "footnote: The password on stdin is not UTF-8 text.\n")


def adding_ann(home: Path) -> FootnoteProcess:
    return FootnoteProcess("users", "add", "Ann", env=environment(home), stdin="terminal", stderr="terminal")


async def type_passwords(process: FootnoteProcess, first: str, second: str) -> None:
    await process.err.wait_for_text("New password: ")
    process.err.type(f"{first}\n")
    await process.err.wait_for_text("Repeat it: ")
    process.err.type(f"{second}\n")


async def test_a_password_is_typed_twice_and_not_shown(tmp_path: Path) -> None:
    async with adding_ann(tmp_path) as process:
        await type_passwords(process, PASSWORD, PASSWORD)
        assert await process.exit_code() == 0
        assert "horse" not in process.err.text
        assert process.err.text.endswith("Added the user Ann.\n")
    assert await can_log_in(tmp_path, "Ann")


async def test_two_different_passwords_are_none(tmp_path: Path) -> None:
    async with adding_ann(tmp_path) as process:
        await type_passwords(process, PASSWORD, f"{PASSWORD}!")
        assert await process.exit_code() == 2
        assert "footnote: The passwords differ." in process.err.text
    assert len(await list_users(tmp_path)) == 1


async def test_ctrl_c_at_the_question_for_a_password_changes_nothing(tmp_path: Path) -> None:
    async with adding_ann(tmp_path) as process:
        await process.err.wait_for_text("New password: ")
        process.err.type("\x03")
        assert await process.exit_code() == 130
    assert len(await list_users(tmp_path)) == 1


@pytest.mark.parametrize(("answer", "stays"), [("y", False), ("YES", False), ("", True), ("no", True)])
async def test_removing_asks_somebody_who_can_answer(tmp_path: Path, answer: str, stays: bool) -> None:
    await users(tmp_path, "add", "Ann", stdin=PASSWORD)
    removing = FootnoteProcess("users", "remove", "ann", env=environment(tmp_path), stdin="terminal", stderr="terminal")
    async with removing as process:
        await process.err.wait_for_text("This cannot be undone. [y/N] ")
        process.err.type(f"{answer}\n")
        assert await process.exit_code() == 0
        message = "Nothing was removed.\n" if stays else "Removed Ann with all sessions, files and tokens.\n"
        assert process.err.text.endswith(message)
    assert (len(await list_users(tmp_path)) == 2) == stays


async def test_removing_without_anybody_to_ask_needs_to_be_meant(tmp_path: Path) -> None:
    await users(tmp_path, "add", "Ann", stdin=PASSWORD)
    code, out, err = await users(tmp_path, "remove", "Ann", stdin="y\n")
    assert (code, out) == (2, "")
    assert err == "footnote: This cannot be undone. Without a terminal to ask on, give --yes.\n"
    assert await users(tmp_path, "remove", "Ann", "--yes") == (
        0,
        "",
        "Removed Ann with all sessions, files and tokens.\n",
    )
    assert len(await list_users(tmp_path)) == 1


@pytest.mark.slow
async def test_a_running_server_sees_at_once_what_was_changed(tmp_path: Path) -> None:
    """Through a connection that was open before, as that of a server is."""
    await users(tmp_path, "add", "Ann", stdin=PASSWORD)
    async with Database.open(engines.database_url(tmp_path / ".footnote"), tmp_path / ".footnote") as database:
        accounts = Accounts(database)
        ann = await accounts.user_by_name("Ann")
        token = (await accounts.issue(ann.id, NewToken("script"))).token
        _, cookie = await accounts.log_in(Login(name="Ann", password=PASSWORD))
        assert await accounts.principal(token, "token")
        assert await users(tmp_path, "disable", "Ann") == (
            0,
            "",
            "Ann is disabled. Their sessions, files and tokens are kept.\n",
        )
        assert await accounts.principal(token, "token") is None
        assert await users(tmp_path, "enable", "Ann") == (0, "", "Ann is enabled.\n")
        assert await accounts.principal(token, "token")
        assert await accounts.principal(cookie, "cookie") is None
        changed = await users(tmp_path, "password", "Ann", stdin="another password\n")
        assert changed == (0, "", "Ann has a new password, and must log in again.\n")
        await accounts.close()
    assert await can_log_in(tmp_path, "Ann", "another password")
    assert not await can_log_in(tmp_path, "Ann")


@pytest.mark.slow
async def test_two_who_add_the_same_user_at_once_do_not_both_succeed(tmp_path: Path) -> None:
    adding = [users(tmp_path, "add", "Ann", stdin=PASSWORD) for _ in range(3)]
    assert sorted(code for code, _, _ in await asyncio.gather(*adding)) == [0, 2, 2]


async def test_without_the_extra_it_is_said_what_to_install(tmp_path: Path) -> None:
    without = f"import sys; sys.modules['argon2'] = None\n{FOREGROUND_PROGRAM}"
    run = run_footnote("users", "add", "Ann", env=environment(tmp_path), stdin=PASSWORD.encode(), program=without)
    message = 'footnote: Passwords need argon2. Install it with: pip install "footnote[server]"\n'
    assert await run == (2, "", message)
    _, out, _ = await run_footnote("tokens", "add", "script", env=environment(tmp_path), program=without)
    assert out.startswith("fn_")


@pytest.mark.parametrize("command", [cli_users, cli_tokens])
def test_the_page_names_every_action_with_its_options_and_no_other(command: Any) -> None:
    commands = CommandParser().add_subparsers()
    command.register(commands)
    ((name, parser),) = commands.choices.items()
    (actions,) = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    _, text = PAGE.split(f"\n## footnote {name}\n")
    text = text.partition("\n## ")[0]
    assert set(re.findall(rf"^\| `{name} ([a-z]+)", text, re.MULTILINE)) == set(actions)
    options = {option for action in actions.values() for option in action._option_string_actions if "--" in option}
    assert set(re.findall(r"--[a-z]+", text)) == options - {"--help", "--home", "--config"}


async def test_a_removed_user_leaves_no_file_in_the_storage(tmp_path: Path) -> None:
    home = tmp_path / ".footnote"
    async with App.open(home=home, environ={}) as app:
        ann = await app.accounts.add(NewUser("ann", PASSWORD))
        session = await app.sessions.create(ann.id, "researcher")
        await app.sessions.workspace(ann.id, session.id).write("/large.txt", "x" * 100_000, message_id=None)
    assert len([file for file in (home / "files").rglob("*") if file.is_file()]) == 1
    assert (await users(tmp_path, "remove", "ann", "--yes"))[0] == 0
    assert [file for file in (home / "files").rglob("*") if file.is_file()] == []
