"""An upgrade from an earlier version that people run, one replica at a time and back again, with runs in progress.

OLDER=v1.2.0 make faults
"""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from replicas.asking import LoadGenerator
from replicas.cluster import Cluster, open_cluster
from replicas.ground import SharedServices
from replicas.work import ScriptedWork
from upstream import Upstream

ROOT = Path(__file__).parents[2]
MIGRATIONS = "src/footnote/db/migrations/sqlite"
OLDER = os.environ.get("OLDER", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OLDER, reason="`OLDER=revision make faults` upgrades from there"),
]


@pytest.fixture
def older(tmp_path: Path, work: ScriptedWork, ground: SharedServices) -> str:
    """Where Python finds the earlier version, before ours."""
    folder = tmp_path / "older"
    folder.mkdir()
    packed = subprocess.run(["git", "archive", OLDER, "src"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, check=True, input=packed)
    steps = [len(list((root / MIGRATIONS).glob("*.sql"))) for root in (folder, ROOT)]
    if not ground.services and steps[0] != steps[1]:
        pytest.skip("an SQLite file of a newer format is opened by no earlier version")
    return f"{folder / 'src'}{os.pathsep}{work.settings['PYTHONPATH']}"


@pytest.fixture
async def outdated(
    tmp_path: Path, ground: SharedServices, upstream: Upstream, work: ScriptedWork, older: str
) -> AsyncIterator[Cluster]:
    settings = {**work.settings, "PYTHONPATH": older}
    async with open_cluster(tmp_path, ground, upstream, **settings) as cluster:
        yield cluster


async def _ask(crowd: LoadGenerator, name: str) -> None:
    for replica in crowd.cluster.replicas:
        for number in range(3):
            asked = await crowd.ask(f"{name}-{crowd.cluster.replicas.index(replica)}-{number}", replica, followers=2)
            assert asked


async def test_versions_run_side_by_side_and_carry_on_what_the_other_began(
    outdated: Cluster, work: ScriptedWork, older: str
) -> None:
    crowd = LoadGenerator(outdated, work)
    ours = work.settings["PYTHONPATH"]
    first, second = outdated.replicas
    await _ask(crowd, "old")
    assert await first.stop() == 0
    await first.start(PYTHONPATH=ours)
    await outdated.ready()
    await _ask(crowd, "both")
    await second.kill()
    await second.start(PYTHONPATH=older)
    await outdated.ready()
    await _ask(crowd, "again")
    await first.kill()
    await first.start(PYTHONPATH=older)
    await outdated.ready()
    await _ask(crowd, "back")
    for replica in outdated.replicas:
        assert await replica.stop() == 0
        await replica.start(PYTHONPATH=ours)
        await replica.ready()
    await _ask(crowd, "new")
    await crowd.wait_for_all()
    await crowd.check()
    assert crowd.refused == 0
    assert all("Traceback" not in replica.stderr for replica in outdated.replicas)
