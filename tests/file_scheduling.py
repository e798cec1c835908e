"""How `pytest -n` distributes tests over processes: by file, the slowest folders first.

The tests of one file stay in one process, so that shared fixtures are opened once. Files do not share anything: every
process has its own folders, servers and free ports.
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
"""A file of these that is started last would delay the end of the whole run."""


class FileScheduling(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0]

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        doubled = sorted(name for name, count in Counter(collection).items() if count > 1)
        assert doubled == [], "of tests with the same id only one would run"
        super().add_node_collection(node, collection)


@pytest.hookimpl
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, because a test that waits for a lease, a browser or a server leaves one
    idle."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + 1


@pytest.hookimpl
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling:
    config.option.loadscopereorder = (
        False  # that option orders files by their number of tests, which says nothing about their duration
    )
    return FileScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    folder = item.path.relative_to(HERE).parts[0]
    return FIRST.index(folder) if folder in FIRST else len(FIRST)
