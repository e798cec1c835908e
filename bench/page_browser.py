"""A Chromium, and the CPU time of its pages."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import venvs
from playwright.sync_api import Page, sync_playwright

sys.path.append(str(venvs.ROOT / "scripts"))

import chromium

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Tab:
    """A page, with the CPU time of its main thread."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def measure_ms(self, work: Callable[[], object]) -> float:
        """Milliseconds of CPU for some work."""
        before = self.so_far()
        work()
        return self.so_far() - before

    def so_far(self) -> float:
        """Milliseconds of CPU since the page was opened: scripts, styles, layout, painting."""
        found = self._session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in found if metric["name"] == "TaskDuration") * 1e3


@contextmanager
def browser() -> Iterator[Callable[..., Tab]]:
    """Opens tabs, each in a browser context of its own."""
    path = chromium.find()
    if path is None:
        raise venvs.Unavailable(f"there is no Chromium to measure it with. {chromium.ADVICE}")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))

        def opened(url: str, headers: dict[str, str] | None = None) -> Tab:
            page = running.new_context(extra_http_headers=headers or {}).new_page()
            page.set_default_timeout(600_000)
            # Enabled before the navigation, so that the whole loading is measured.
            tab = Tab(page)
            page.goto(url)
            return tab

        yield opened
        running.close()
