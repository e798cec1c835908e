"""The benchmarks run on a fresh machine: what they are compared with is pinned, and all of them can be made quick."""

import re
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


@pytest.mark.slow
@pytest.mark.parametrize("bench", NAMED.split())
def test_every_benchmark_can_be_made_quick(bench: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / f"{bench}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, "--quick" in done.stdout) == (0, True), done.stderr
