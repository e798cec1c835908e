"""The tests of the test harness: problems that no page may cause are noticed."""

import pytest
from playwright.async_api import Browser

from browser.backend import PageBackend
from browser.browser_profile import open_profile
from browser.waiting import wait_until


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("() => { new Image().src = 'https://example.com/beacon' }", "CSP: img-src"),
        ("() => { fetch('http://127.0.0.1:9/beacon').catch(() => 0) }", "CSP: connect-src"),
        ("() => { location = 'https://example.com/away' }", "request to elsewhere: https://example.com/away"),
        ("() => { setTimeout(() => { throw new Error('lost') }) }", "error: Error: lost"),
        ("() => { console.error('odd') }", "console: odd"),
        ("() => { setTimeout(() => alert('hello')) }", "dialog: hello"),
    ],
)
async def test_what_may_not_happen_fails_the_test(
    browser: Browser, backend: PageBackend, script: str, problem: str
) -> None:
    with pytest.raises(AssertionError, match=problem):
        await _visit_until(browser, backend, script, problem)


async def test_a_visit_without_such_things_passes(browser: Browser, backend: PageBackend) -> None:
    async with open_profile(browser, backend.origin, cookie=backend.cookie) as profile:
        page = await profile.open_tab("/")
        await page.evaluate("() => { console.log('fine') }")
        await page.wait_for_timeout(300)


async def _visit_until(browser: Browser, backend: PageBackend, script: str, problem: str) -> None:
    async with open_profile(browser, backend.origin, cookie=backend.cookie) as profile:

        async def noted() -> str:
            return "\n".join(profile.problems)

        await (await profile.open_tab("/")).evaluate(script)
        await wait_until(noted, lambda problems: problem in problems)
