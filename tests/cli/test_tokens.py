"""`footnote tokens`: shown once, listed and removed."""

import json
from pathlib import Path
from typing import Any

import pytest

import engines
from cli.process import environment, run_footnote
from footnote.accounts.accounts import Accounts
from footnote.db.engine import Database
from footnote.protocol.accounts import LOCAL_USER, Principal

PASSWORD = b"correct horse battery"


async def tokens(home: Path, *arguments: str) -> tuple[int, str, str]:
    return await run_footnote("tokens", *arguments, env=environment(home))


async def list_tokens(home: Path, *arguments: str) -> list[dict[str, Any]]:
    code, out, _ = await tokens(home, "list", "--json", *arguments)
    assert code == 0
    return json.loads(out)


async def owner(home: Path, token: str) -> Principal | None:
    async with Database.open(engines.database_url(home / ".footnote"), home / ".footnote") as database:
        accounts = Accounts(database)
        principal = await accounts.principal(token, "token")
        await accounts.close()
        return principal


async def test_the_token_stands_alone_on_stdout_and_proves_who_it_is(tmp_path: Path) -> None:
    code, out, err = await tokens(tmp_path, "add", "nightly")
    token = out.removesuffix("\n")
    assert code == 0
    assert token.startswith("fn_")
    assert "\n" not in token
    assert token not in err
    assert await owner(tmp_path, token) == Principal(LOCAL_USER, "local", "admin", "token")
    (head,) = await list_tokens(tmp_path)
    assert f"footnote tokens remove {head['id']}" in err
    assert (head["name"], head["expires_at"]) == ("nightly", None)
    assert token not in json.dumps(head)


@pytest.mark.slow
async def test_a_token_of_another_user_is_theirs(tmp_path: Path) -> None:
    await run_footnote("users", "add", "Ann", env=environment(tmp_path), stdin=PASSWORD)
    _, out, _ = await tokens(tmp_path, "add", "script", "--user", "ANN", "--days", "7")
    principal = await owner(tmp_path, out.strip())
    assert principal
    assert (principal.name, principal.role) == ("Ann", "user")
    assert await list_tokens(tmp_path) == []
    (head,) = await list_tokens(tmp_path, "--user", "Ann")
    code, table, err = await tokens(tmp_path, "list", "--user", "Ann")
    assert (code, err) == (0, "")
    added, used, ends = (head[name][:10] for name in ("created_at", "used_at", "expires_at"))
    assert table.splitlines() == [
        "NAME    ADDED       USED        ENDS        ID",
        f"script  {added}  {used}  {ends}  {head['id']}",
    ]


async def test_a_removed_token_proves_nothing(tmp_path: Path) -> None:
    _, out, _ = await tokens(tmp_path, "add", "nightly")
    (head,) = await list_tokens(tmp_path)
    assert await tokens(tmp_path, "remove", head["id"]) == (0, "", "Removed. The token no longer works.\n")
    assert await owner(tmp_path, out.strip()) is None
    assert await tokens(tmp_path, "remove", head["id"]) == (2, "", "footnote: There is no such token.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", " "), "footnote: A token's name has 1 to 100 characters. Choose another one.\n"),
        (("add", "x", "--days", "0"), "footnote: --days must be 1 to 3,650.\n"),
        (("add", "x", "--user", "Ann"), "footnote: There is no user of this name. `footnote users list` shows all"),
        (("list", "--user", "Ann"), "footnote: There is no user of this name. `footnote users list` shows all"),
    ],
)
async def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = await tokens(tmp_path, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)
