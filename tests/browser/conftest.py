"""All tests here share one Chromium and one event loop, in which the server and everything behind it runs too."""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias

import chromium
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from browser.chromium_process import launch_browser
from browser.stage import Stage, open_stage
from browser.visitor import Visitor, open_visitor
from upstream import Upstream

# Read before the tests forget the variables of whoever runs them.
PROGRAM = chromium.find()
HERE = Path(__file__).parent
SECONDS = 300

Visit: TypeAlias = Callable[..., Awaitable[Visitor]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if PROGRAM is None:
        _leave_out(config, items)
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.slow)
            if isinstance(item, pytest.Function) and pytest_asyncio.is_async_test(item):
                item.obj = _within(SECONDS, item.obj)
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All that need a browser, in one line of the report instead of a hundred."""
    first, *others = [item for item in items if "browser" in getattr(item, "fixturenames", ())] or [None]
    if first is not None:
        first.add_marker(pytest.mark.skip(f"{len(others) + 1} tests of the page: no Chromium. {chromium.ADVICE}"))
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)


def _within(seconds: float, test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A page that hangs fails its test, and no other one."""

    @functools.wraps(test)
    async def limited(*arguments: Any, **named: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*arguments, **named)

    return limited


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    assert PROGRAM is not None, chromium.ADVICE
    async with launch_browser(PROGRAM, tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def upstream(browser: Browser) -> AsyncIterator[Upstream]:
    """The one of all tests, in the loop of these. It needs the browser, so that without one nothing is begun."""
    async with Upstream() as provider:
        yield provider
    assert provider.problems == []


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search finds is read, however busy the machine is."""
    monkeypatch.setattr("footnote.web_search.pipeline.CRAWL_TIMEOUT_SECONDS", 60.0)


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, upstream: Upstream) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path, upstream, ("/en/Oxygen", "/en/Normans")) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, stage: Stage) -> AsyncIterator[Visit]:
    """`await visit(phone=True)`: somebody who is logged in, with a profile of their own."""
    async with AsyncExitStack() as visits:

        async def come(**options: Any) -> Visitor:
            options.setdefault("cookie", stage.cookie)
            return await visits.enter_async_context(open_visitor(browser, stage.origin, **options))

        yield come
