"""An environment for each peer, and one with only Footnote's core, under `.venv-bench/`; created once and kept."""

import hashlib
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
HOME = ROOT / ".venv-bench"


class Unavailable(Exception):
    """The environment could not be created, in most cases because no package index can be reached."""


def cause(stderr: str, otherwise: str) -> str:
    """The line of a failed program's output that names the cause: pip and npm end with advice."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    named = (line for line in lines if re.match(r"ERROR: (?!Could not find a version)|npm error (?!code )", line))
    return next(named, lines[-1] if lines else otherwise)


class Environment(NamedTuple):
    python: Path
    site_packages: Path

    def megabytes(self) -> float:
        """The installed size as shipped, without byte code that Python adds later."""
        files = (path for path in self.site_packages.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6


def peer(key: str) -> Environment:
    """Installs exactly the lock file, so that new releases change no figure. With hashes, pip refuses a lock file that
    lacks a package that another one needs."""
    lock = BENCH / "peers" / f"requirements-{key}.lock"
    return _environment(key, ["--require-hashes", "-r", str(lock)], lock.read_bytes())


def core() -> Environment:
    """Footnote as `pip install .` installs it, without extras, in the locked versions; created again when the sources
    change."""
    lock = ROOT / "requirements.lock"
    sources = sorted(path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc")
    content = b"".join(path.read_bytes() for path in (ROOT / "pyproject.toml", lock, *sources))
    HOME.mkdir(exist_ok=True)
    # With hashes, pip would require one of this folder too.
    constraints = HOME / "footnote.constraints"
    constraints.write_text("\n".join(re.findall(r"^[^\s#][^\\\n]*", lock.read_text(), re.MULTILINE)) + "\n")
    return _environment("footnote", ["--constraint", str(constraints), str(ROOT)], content)


def _environment(name: str, arguments: list[str], content: bytes) -> Environment:
    home = HOME / name
    stamp = home / "made-from"
    wanted = f"{sys.version} {hashlib.sha256(content).hexdigest()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making an environment for {name} …", file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        # Without pip in it, the environment contains only what the package installed.
        venv.create(home, with_pip=False)
        command = [sys.executable, "-m", "pip", "--python", str(home), "install", "--quiet", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(cause(done.stderr, "pip failed"))
        stamp.write_text(wanted)
    return Environment(home / "bin" / "python", next(home.glob("lib/python*/site-packages")))


if __name__ == "__main__":
    for key in sys.argv[1:]:
        environment = core() if key == "footnote" else peer(key)
        print(f"{key}: {environment.megabytes():.1f} MB")
