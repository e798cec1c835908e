"""Replicas with separate home folders share one token."""

import asyncio
from pathlib import Path

from footnote.app import App


async def _open_token(home: Path, url: str, **environ: str) -> str:
    """The token in the home folder after a start, which the replica accepts."""
    async with App.open(home=home, environ={"FOOTNOTE_DATABASE_URL": url, **environ}) as app:
        await app.share_token()
        token = environ.get("FOOTNOTE_TOKEN") or (home / "token").read_text().strip()
        principal = await app.accounts.principal(token, "token")
        assert principal is not None
        assert principal.role == "admin"
    return token


async def test_all_that_start_at_once_have_the_same(url: str, tmp_path: Path) -> None:
    tokens = await asyncio.gather(*(_open_token(tmp_path / str(number), url) for number in range(3)))
    assert len(set(tokens)) == 1
    assert (tmp_path / "1" / "token").stat().st_mode & 0o077 == 0


async def test_one_that_had_another_takes_it_over(url: str, tmp_path: Path) -> None:
    first = await _open_token(tmp_path / "first", url)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "token").write_text("fnl_of-the-time-when-it-was-alone\n")
    assert await _open_token(tmp_path / "second", url) == first


async def test_what_the_operator_has_chosen_stays(url: str, tmp_path: Path) -> None:
    first = await _open_token(tmp_path / "first", url)
    chosen = await _open_token(tmp_path / "second", url, FOOTNOTE_TOKEN="chosen-by-the-operator")
    assert chosen != first
    assert not (tmp_path / "second" / "token").exists()
