"""Builds for the benchmark: the reference pages, and the page of the product from its sources."""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import venvs

sys.path.append(str(venvs.ROOT / "scripts"))

import node

SOURCES = venvs.BENCH / "page"
HOME = venvs.HOME / "page"
_IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([^"']+\.js)["']""")


class Sizes(NamedTuple):
    """Compressed kilobytes: of scripts and styles at first paint, and of the largest script that is loaded later."""

    script: float
    style: float
    largest_later: float
    largest_name: str


def peers() -> Path:
    """The folder of the installed references, installed again when their lock file changes."""
    lock = SOURCES / "package-lock.json"
    stamp, wanted = HOME / "made-from", hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing the references …", file=sys.stderr, flush=True)
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / name, HOME)
        command = node.command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(HOME))
        done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
        if done.returncode:
            raise venvs.Unavailable(venvs.cause(done.stderr, "npm failed"))
        stamp.write_text(wanted)
    return HOME


def build_references() -> Path:
    """A page for each reference."""
    return _build("compared", "--config", str(SOURCES / "vite.config.js"))


def page() -> Path:
    return _build("built")


def _build(name: str, *arguments: str) -> Path:
    out = peers() / name
    done = node.run(
        "vite", "build", *arguments, "--outDir", str(out), "--emptyOutDir", "--logLevel", "error", capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    return out


def sizes(built: Path) -> Sizes:
    """The scripts that `index.html` loads, with their static imports; dynamic imports count as later."""
    index = (built / "index.html").read_text()
    first = {_file(built, name) for name in re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', index)}
    scripts = {path for path in first if path.suffix == ".js"}
    waiting = list(scripts)
    while waiting:
        script = waiting.pop()
        found = {script.parent / name for name in _IMPORTED.findall(script.read_text())} - scripts
        scripts |= found
        waiting += found
    later = {_kilobytes(path): path.name for path in built.rglob("*.js") if path not in scripts}
    largest = max(later, default=0.0)
    styles = sum(_kilobytes(path) for path in first if path.suffix == ".css")
    return Sizes(sum(map(_kilobytes, scripts)), styles, largest, later.get(largest, ""))


def _file(built: Path, address: str) -> Path:
    return built / address.removeprefix("/static/").removeprefix("./")


def _kilobytes(path: Path) -> float:
    return len(gzip.compress(path.read_bytes(), 9)) / 1e3


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """The URL under which the folder is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
