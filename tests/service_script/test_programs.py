"""Which service programs are found, and the message where there are none."""

from pathlib import Path

import pytest
import service_programs
from service_programs import MissingProgram


def _program(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


def test_those_of_the_machine_come_first_and_the_newest_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    usual = (str(tmp_path / "*" / "bin"),)
    in_the_wheel = service_programs.find_postgres(usual)
    assert in_the_wheel.parent.name.startswith("pginstall")
    old = _program(tmp_path / "9" / "bin", "postgres", "initdb")
    assert service_programs.find_postgres(usual) == old
    new = _program(tmp_path / "15" / "bin", "postgres", "initdb")
    assert service_programs.find_postgres(usual) == new
    _program(tmp_path / "16" / "bin", "psql")
    assert service_programs.find_postgres(usual) == new, "a client alone is no server"
    on_path = _program(tmp_path / "path", "postgres", "initdb", "redis-server", "weed")
    assert service_programs.find_postgres(usual) == on_path
    assert (service_programs.find_redis(), service_programs.find_weed()) == (on_path / "redis-server", on_path / "weed")
    _program(on_path, "valkey-server")
    assert service_programs.find_redis() == on_path / "valkey-server"


def test_a_program_that_is_nowhere_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgram, match=r"PostgreSQL was not found\. Install it \(on Debian: apt-get install"):
        service_programs.find_postgres((), "no_such_package")
    with pytest.raises(MissingProgram, match=r"Redis was not found\. Install it or Valkey"):
        service_programs.find_redis("no_such_package")
