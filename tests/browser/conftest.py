"""All tests here share one Chromium and one event loop, which also runs the server and everything behind it."""

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

from browser.backend import PageBackend, open_backend
from browser.browser_profile import BrowserProfile, open_profile
from browser.chromium_process import launch_browser
from upstream import Upstream

# Read at import, before a fixture removes the variables of the user who runs the tests.
PROGRAM = chromium.find()
HERE = Path(__file__).parent
SECONDS = 300

NewProfile: TypeAlias = Callable[..., Awaitable[BrowserProfile]]


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
    """Replaces all tests that need a browser by one skipped test, so that the report has one line instead of a
    hundred."""
    first, *others = [item for item in items if "browser" in getattr(item, "fixturenames", ())] or [None]
    if first is not None:
        first.add_marker(pytest.mark.skip(f"{len(others) + 1} tests of the page: no Chromium. {chromium.ADVICE}"))
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)


def _within(seconds: float, test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Adds a timeout, so that a page that hangs fails only its own test."""

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
    """The scripted provider, in the event loop of these tests. It depends on the browser, so that nothing starts
    without one."""
    async with Upstream() as provider:
        yield provider
    assert provider.problems == []


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the crawler so much time that a busy machine still reads every page that a search finds."""
    monkeypatch.setattr("footnote.web_search.pipeline.CRAWL_TIMEOUT_SECONDS", 60.0)


@pytest_asyncio.fixture(loop_scope="session")
async def backend(tmp_path: Path, upstream: Upstream) -> AsyncIterator[PageBackend]:
    async with open_backend(tmp_path, upstream, ("/en/Oxygen", "/en/Normans")) as backend:
        yield backend


@pytest_asyncio.fixture(loop_scope="session")
async def new_profile(browser: Browser, backend: PageBackend) -> AsyncIterator[NewProfile]:
    """`await new_profile(phone=True)` opens a browser profile of its own with a logged-in user."""
    async with AsyncExitStack() as profiles:

        async def open_one(**options: Any) -> BrowserProfile:
            options.setdefault("cookie", backend.cookie)
            return await profiles.enter_async_context(open_profile(browser, backend.origin, **options))

        yield open_one
