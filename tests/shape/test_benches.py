"""The benchmarks run on a fresh machine: their peers are pinned, and each has a quick mode."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shape.test_lock import pins
from shape.tree import ROOT

PEERS = sorted((ROOT / "bench" / "peers").glob("requirements-*.txt"))
(NAMED,) = re.findall(r"^BENCH := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("peer", PEERS, ids=lambda path: path.stem)
def test_a_peer_is_pinned_with_all_below_it(peer: Path) -> None:
    lock = peer.with_suffix(".lock")
    pinned = pins(lock)
    wanted = [Requirement(line) for line in peer.read_text(encoding="utf-8").splitlines()]
    assert {one.name: one.specifier.contains(pinned[canonicalize_name(one.name)]) for one in wanted} == {
        one.name: True for one in wanted
    }
    text = lock.read_text(encoding="utf-8")
    assert text.count("--hash=sha256:") >= len(pinned)
    assert "://" not in text


def test_what_trafilatura_takes_from_lxml_is_pinned_beside_it() -> None:
    """`lxml.html.clean` is a package of its own, which lxml names only in an extra."""
    assert "lxml-html-clean" in pins(ROOT / "bench" / "peers" / "requirements-trafilatura.lock")


@pytest.mark.slow
@pytest.mark.parametrize("bench", NAMED.split())
def test_every_benchmark_can_be_made_quick(bench: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / f"{bench}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, "--quick" in done.stdout) == (0, True), done.stderr


@pytest.mark.slow
def test_where_a_peer_cannot_be_made_that_is_one_line_and_the_rest_is_measured(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "bench", tmp_path / "bench")
    split = tmp_path / "pages" / "test"
    (split / "ground-truth").mkdir(parents=True)
    (split / "html").mkdir()
    (tmp_path / "pages" / "evaluate.py").write_text(
        "def get_page_type(told): return told['kind']\ndef word_f1(text, wanted): return 1, 1, float(wanted in text)\n"
    )
    truth = {"kind": "article", "ground_truth": {"main_content": "A sentence about a bridge."}}
    (split / "ground-truth" / "1.json").write_text(json.dumps(truth))
    (split / "html" / "1.html.gz").write_bytes(gzip.compress(b"<p>A sentence about a bridge.</p>"))
    script = "import pathlib, search; print(search.on_all_kinds_of_pages(pathlib.Path('../pages')))"
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / "bench",
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0].startswith("trafilatura is left out, and what is compared with it: ERROR: ")
    assert [cell.strip() for cell in lines[-1].split("|")][1:5] == ["all", "1", "1.000", "-"]


@pytest.mark.slow
def test_the_rows_that_are_backed_up_have_the_columns_of_their_tables() -> None:
    script = (
        "import backup, random\n"
        "for name, row in backup.session_rows(random.Random(1), 1):\n"
        "    assert len(row) == len(backup.TABLES[name].backup_columns), name\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT / "bench")
    assert (done.returncode, done.stderr) == (0, "")
