"""What the other tests rely on: nothing that a visit may not show goes unseen."""

import pytest
from playwright.async_api import Browser

from browser.stage import Stage
from browser.visitor import open_visitor
from browser.waiting import wait_until


@pytest.mark.parametrize(
    ("deed", "problem"),
    [
        ("() => { new Image().src = 'https://example.com/beacon' }", "CSP: img-src"),
        ("() => { fetch('http://127.0.0.1:9/beacon').catch(() => 0) }", "CSP: connect-src"),
        ("() => { location = 'https://example.com/away' }", "request to elsewhere: https://example.com/away"),
        ("() => { setTimeout(() => { throw new Error('lost') }) }", "error: Error: lost"),
        ("() => { console.error('odd') }", "console: odd"),
        ("() => { setTimeout(() => alert('hello')) }", "dialog: hello"),
    ],
)
async def test_what_may_not_happen_fails_the_test(browser: Browser, stage: Stage, deed: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        await _visit_until(browser, stage, deed, problem)


async def test_a_visit_without_such_things_passes(browser: Browser, stage: Stage) -> None:
    async with open_visitor(browser, stage.origin, cookie=stage.cookie) as visitor:
        page = await visitor.open_tab("/")
        await page.evaluate("() => { console.log('fine') }")
        await page.wait_for_timeout(300)


async def _visit_until(browser: Browser, stage: Stage, deed: str, problem: str) -> None:
    async with open_visitor(browser, stage.origin, cookie=stage.cookie) as visitor:

        async def noted() -> str:
            return "\n".join(visitor.problems)

        await (await visitor.open_tab("/")).evaluate(deed)
        await wait_until(noted, lambda problems: problem in problems)
