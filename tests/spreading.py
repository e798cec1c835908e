"""How `pytest -n` spreads tests over processes: by files, the slowest folders first.

The tests of one file stay together, so that what they share is opened once. Two files never meet: every process has its
own folders, servers and ports that it found free.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
FIRST = ("replicas", "bus", "browser", "runs", "backup")
"""Begun last, one file of these would keep everybody waiting."""


class ByFile(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0]

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        doubled = sorted(name for name, count in Counter(collection).items() if count > 1)
        assert doubled == [], "of tests with the same id only one would run"
        super().add_node_collection(node, collection)


@pytest.hookimpl
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: whoever waits for a lease, a browser or a server leaves one idle."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + 1


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    config.option.loadscopereorder = False  # it knows how many tests a file has, and not how long they take
    return ByFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    folder = item.path.relative_to(HERE).parts[0]
    return FIRST.index(folder) if folder in FIRST else len(FIRST)
