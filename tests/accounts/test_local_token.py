"""The local token: configured, or generated once and stored in a file that only its owner can read."""

import logging
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from footnote.accounts.credentials import local_token
from footnote.protocol.errors import ConfigError

GIVEN = "0123456789abcdef"
PROGRAM = """
import sys
from pathlib import Path
from footnote.accounts.credentials import local_token
sys.stdin.readline()
print(local_token(Path(sys.argv[1]), {}))
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_variable_wins_and_nothing_is_written(tmp_path: Path) -> None:
    assert local_token(tmp_path, {"FOOTNOTE_TOKEN": f" {GIVEN}\n"}) == GIVEN
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("token", ["sixteen letters and spaces", "mật-khẩu-mật-khẩu", "x" * 513])
def test_a_token_that_cannot_be_sent_is_refused_without_being_told(tmp_path: Path, token: str) -> None:
    with pytest.raises(ConfigError, match=r"^FOOTNOTE_TOKEN must have at most 512 characters") as refused:
        local_token(tmp_path, {"FOOTNOTE_TOKEN": token})
    assert token not in refused.value.message
    (tmp_path / "token").write_text(token)
    with pytest.raises(ConfigError, match="token must have at most 512 characters"):
        local_token(tmp_path, {})


def test_a_short_one_is_taken_with_a_warning_that_does_not_tell_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert local_token(tmp_path, {"FOOTNOTE_TOKEN": "t0k3n"}) == "t0k3n"
    assert "FOOTNOTE_TOKEN is short enough to be guessed." in caplog.text
    assert "t0k3n" not in caplog.text


def test_it_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    before = os.umask(0)
    try:
        token = local_token(home, {"FOOTNOTE_TOKEN": " "})
    finally:
        os.umask(before)
    assert token.startswith("fn_local_")
    assert len(token) > 50
    assert [file.name for file in home.iterdir()] == ["token"]
    assert (mode(home), mode(home / "token")) == (0o700, 0o600)
    assert local_token(home, {}) == token


def test_one_that_others_could_read_is_repaired_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token = local_token(tmp_path, {})
    assert caplog.records == []
    (tmp_path / "token").chmod(0o644)
    assert local_token(tmp_path, {}) == token
    assert mode(tmp_path / "token") == 0o600
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert token not in caplog.text


def test_an_empty_one_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    (tmp_path / "token").chmod(0o644)
    token = local_token(tmp_path, {})
    assert local_token(tmp_path, {}) == token
    assert mode(tmp_path / "token") == 0o600


def test_one_that_a_person_wrote_is_taken(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{GIVEN}\r\n")
    assert local_token(tmp_path, {}) == GIVEN


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(ConfigError, match=r"token cannot be used \(.+\)\. Give yourself access to it"):
        local_token(tmp_path, {})


def test_of_many_that_ask_at_once_all_get_the_same(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def ask(home: Path) -> str:
        together.wait()
        return local_token(home, {})

    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            home = tmp_path / str(number)
            home.mkdir()
            (home / "token").touch()
            assert len({*pool.map(ask, [home] * 8), local_token(home, {})}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("empty", [False, True])
def test_processes_that_begin_at_once_end_with_the_same(tmp_path: Path, empty: bool) -> None:
    if empty:
        (tmp_path / "token").touch()
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = {process.communicate(timeout=30)[0] for process in processes}
    assert outputs == {(tmp_path / "token").read_text()}
