"""Suites written for one server, run through a balancer on two."""

from functools import partial
from pathlib import Path

import pytest

import runs.test_following
import runs.test_transcripts
import runs.transcripts
import server.test_access_matrix
from replicas.second_replica import open_two_replicas
from replicas.shared_services import SharedServices
from runs.transcripts import TRANSCRIPTS
from upstream import Upstream

pytestmark = [pytest.mark.slow]


@pytest.fixture(autouse=True)
def _two_of_each(monkeypatch: pytest.MonkeyPatch, shared_services: SharedServices) -> None:
    """The server that these modules open, behind a balancer of two."""
    for module in (server.test_access_matrix, runs.transcripts, runs.test_following):
        monkeypatch.setattr(module, "open_server", partial(open_two_replicas, shared_services))


async def test_each_route_answers_each_of_them_as_it_should_on_either_replica(tmp_path: Path, upstream: Upstream):
    await server.test_access_matrix.test_each_route_answers_each_of_them_as_it_should(tmp_path, upstream)


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_turn_goes_over_the_wire_as_it_was_recorded_whoever_carries_it_on(name: str, tmp_path: Path):
    await runs.test_transcripts.test_a_turn_goes_over_the_wire_as_it_was_recorded(name, tmp_path)
