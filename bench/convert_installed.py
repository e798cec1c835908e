"""The installed size after `make setup`, with fonts and converters, without development tools."""

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import venvs
from report import Table

MAX_MB = 250
LOCK = venvs.ROOT / "requirements.lock"
FONTS = venvs.ROOT / "fonts"
LARGEST = 8


def create_environment() -> Path:
    """An environment as the Makefile creates it, created again when the lock file changes."""
    home = venvs.HOME / "setup"
    stamp = home / "made-from"
    wanted = f"{sys.version} without byte code {hashlib.sha256(LOCK.read_bytes()).hexdigest()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing what is locked …", file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        # Older versions of Python install it into every environment. Nothing here needs it, and the Makefile removes
        # it.
        subprocess.run([*pip, "uninstall", "--yes", "setuptools"], check=True, capture_output=True)
        install = [*pip, "install", "--no-compile", "--no-deps"]
        for arguments in (("--require-hashes", "--requirement", str(LOCK)), ("--no-build-isolation", str(FONTS))):
            done = subprocess.run([*install, *arguments], capture_output=True, text=True, check=False)
            if done.returncode:
                raise venvs.Unavailable(venvs.cause(done.stderr, "pip failed"))
        stamp.write_text(wanted)
    return home


def megabytes(folder: Path) -> float:
    """The size of the folder, without the targets of links."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def table() -> Table:
    columns = ("installed", "MB", "bar", "")
    title = "What `make setup` installs"
    try:
        home = create_environment()
    except venvs.Unavailable as reason:
        return Table(title, columns, [(".venv", "-", "", f"not measured: {reason}")])
    whole = megabytes(home)
    packages = next(home.glob("lib/python*/site-packages"))
    sizes = sorted(((megabytes(path), path.name) for path in packages.iterdir() if path.is_dir()), reverse=True)
    rows = [(".venv", f"{whole:.0f}", f"≤ {MAX_MB}", "pass" if whole <= MAX_MB else "FAIL")]
    rows += [(f"of it {name}", f"{size:.0f}", "", "") for size, name in sizes[:LARGEST]]
    return Table(title, columns, rows)
