"""An upgrade from an earlier version, one replica at a time and back again, with runs in progress.

OLDER=v1.2.0 make faults
"""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from replicas.cluster import Cluster, open_cluster
from replicas.load_generator import LoadGenerator
from replicas.scripted_work import ScriptedWork
from replicas.shared_services import SharedServices
from upstream import Upstream

ROOT = Path(__file__).parents[2]
MIGRATIONS = "src/footnote/db/migrations/sqlite"
OLDER = os.environ.get("OLDER", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OLDER, reason="`OLDER=revision make faults` upgrades from there"),
]


@pytest.fixture
def older(tmp_path: Path, work: ScriptedWork, shared_services: SharedServices) -> str:
    """PYTHONPATH of the earlier version."""
    folder = tmp_path / "older"
    folder.mkdir()
    packed = subprocess.run(["git", "archive", OLDER, "src"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, check=True, input=packed)
    steps = [len(list((root / MIGRATIONS).glob("*.sql"))) for root in (folder, ROOT)]
    if not shared_services.services and steps[0] != steps[1]:
        pytest.skip("an SQLite file of a newer format is opened by no earlier version")
    return f"{folder / 'src'}{os.pathsep}{work.settings['PYTHONPATH']}"


@pytest.fixture
async def outdated(
    tmp_path: Path, shared_services: SharedServices, upstream: Upstream, work: ScriptedWork, older: str
) -> AsyncIterator[Cluster]:
    settings = {**work.settings, "PYTHONPATH": older}
    async with open_cluster(tmp_path, shared_services, upstream, **settings) as cluster:
        yield cluster


async def _ask(load: LoadGenerator, name: str) -> None:
    for replica in load.cluster.replicas:
        for number in range(3):
            run = await load.ask(f"{name}-{load.cluster.replicas.index(replica)}-{number}", replica, followers=2)
            assert run


async def test_versions_run_side_by_side_and_carry_on_what_the_other_began(
    outdated: Cluster, work: ScriptedWork, older: str
) -> None:
    load = LoadGenerator(outdated, work)
    ours = work.settings["PYTHONPATH"]
    first, second = outdated.replicas
    await _ask(load, "old")
    assert await first.stop() == 0
    await first.start(PYTHONPATH=ours)
    await outdated.ready()
    await _ask(load, "both")
    await second.kill()
    await second.start(PYTHONPATH=older)
    await outdated.ready()
    await _ask(load, "again")
    await first.kill()
    await first.start(PYTHONPATH=older)
    await outdated.ready()
    await _ask(load, "back")
    for replica in outdated.replicas:
        assert await replica.stop() == 0
        await replica.start(PYTHONPATH=ours)
        await replica.ready()
    await _ask(load, "new")
    await load.wait_for_all()
    await load.check()
    assert load.refused == 0
    assert all("Traceback" not in replica.stderr for replica in outdated.replicas)
