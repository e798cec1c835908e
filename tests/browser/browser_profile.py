"""A browser profile that collects problems which no page may cause; a test with such problems fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, Response, expect

VIOLATIONS = """
addEventListener("securitypolicyviolation", (violation) => {
  console.error(`CSP: ${violation.effectiveDirective} ${violation.blockedURI} ${violation.sample}`);
});
"""
TIMEOUT_SECONDS = 30
"""Timeout of anything on the page; generous, because the machine may be busy."""
expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
# Console messages of the browser itself about error responses; the tests check responses separately.
NETWORK = ("Failed to load resource", "net::ERR_")


@dataclass
class BrowserProfile:
    """A browser profile: its tabs share cookies and storage. `expected_problems`: parts of problems that a test
    expects."""

    context: BrowserContext
    origin: str
    problems: list[str] = field(default_factory=list[str])
    expected_problems: list[str] = field(default_factory=list[str])

    async def open_tab(self, path: str = "/") -> Page:
        page = await self.context.new_page()
        await page.goto(self.origin + path)
        return page

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self._add_problem(f"error: {error.stack or error}"))
        page.on("console", self._on_console)
        page.on("dialog", self._dismiss_dialog)

    def on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:", "about:")):
            self._add_problem(f"request to elsewhere: {request.url}")

    def on_request_failed(self, request: Request) -> None:
        """A request that a policy blocked never left the browser, and the violation is reported separately."""
        problem = f"request to elsewhere: {request.url}"
        if request.failure in ("csp", "net::ERR_BLOCKED_BY_CSP") and problem in self.problems:
            self.problems.remove(problem)

    def on_response(self, response: Response) -> None:
        if response.status >= 500:
            self._add_problem(f"{response.status}: {response.url}")

    @property
    def unexpected_problems(self) -> list[str]:
        return [problem for problem in self.problems if not any(excuse in problem for excuse in self.expected_problems)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(words in message.text for words in NETWORK):
            self._add_problem(f"console: {message.text}")

    async def _dismiss_dialog(self, dialog: Dialog) -> None:
        await dialog.dismiss()
        self._add_problem(f"dialog: {dialog.message}")

    def _add_problem(self, problem: str) -> None:
        self.problems.append(problem)


@asynccontextmanager
async def open_profile(
    browser: Browser, origin: str, *, cookie: str | None = None, phone: bool = False, **options: Any
) -> AsyncIterator[BrowserProfile]:
    """`cookie`: the session cookie of a logged-in user. `options` go to the Playwright context, such as `locale`."""
    size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 800}
    hands = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if phone else {}
    settings = {"viewport": size, "locale": "en-US", "timezone_id": "Asia/Ho_Chi_Minh", **hands, **options}
    context = await browser.new_context(**settings)
    context.set_default_timeout(TIMEOUT_SECONDS * 1000)
    profile = BrowserProfile(context, origin)
    context.on("page", profile.watch)
    context.on("request", profile.on_request)
    context.on("requestfailed", profile.on_request_failed)
    context.on("response", profile.on_response)
    await context.add_init_script(VIOLATIONS)
    if cookie is not None:
        await context.add_cookies([{"name": "footnote_session", "value": cookie, "url": origin, "httpOnly": True}])
    try:
        yield profile
    finally:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            # Playwright raises the error of a route handler that the end of the context interrupts in the next test.
            for page in context.pages:
                await page.unroute_all(behavior="ignoreErrors")
            await context.unroute_all(behavior="ignoreErrors")
            await context.close()
    if profile.unexpected_problems:
        raise AssertionError("\n".join(("A visit showed what none may show:", *profile.unexpected_problems)))
