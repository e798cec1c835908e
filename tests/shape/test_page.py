"""The committed page is what its sources build."""

import subprocess
import sys
import zipfile
from pathlib import Path

import node
import pytest

from shape.tree import PACKAGE, ROOT

BUILT = PACKAGE / "server" / "static"


@pytest.mark.slow
def test_the_committed_page_is_what_its_sources_build(tmp_path: Path) -> None:
    if not node.PROGRAMS.exists():
        pytest.skip("web/node_modules is not installed; `make check` and `make page` do that")
    fresh = tmp_path / "static"
    done = node.run("vite", "build", "--outDir", str(fresh), "--emptyOutDir", "--logLevel", "warn", capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    committed, built = _files(BUILT), _files(fresh)
    differing = sorted(name for name in committed | built if committed.get(name) != built.get(name))
    assert differing == [], "the sources in web/ build another page: run `make page` and commit what it writes"


def test_a_wheel_brings_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    place = "footnote/server/static/"
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix(place) for name in archive.namelist() if name.startswith(place)}
    assert packed == set(_files(BUILT))


def test_the_types_of_the_page_are_those_of_the_server() -> None:
    script = ROOT / "scripts" / "generate_types.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make types`: {done.stdout}{done.stderr}"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
