"""One Chromium for all tests of the page. It can connect only to this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from browser import fonts

SECONDS = 120
ARGUMENTS = (
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@asynccontextmanager
async def launch_browser(program: str, folder: Path) -> AsyncIterator[Browser]:
    """`folder`: where the cache of the fonts is stored."""
    variables: dict[str, str | float | bool] = {
        "FONTCONFIG_FILE": str(fonts.configuration(folder)),
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
    }
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, headless=True, args=list(ARGUMENTS), env=variables, timeout=SECONDS * 1000
        )
        try:
            yield browser
        finally:
            async with asyncio.timeout(SECONDS):
                await browser.close()
