"""Pictures of the page in every main state, for the documentation and for the eye of whoever changed it.

`make screenshots` writes them into docs/images/page; `make screenshots ARGS=answer` those with that word in their name.
"""

import asyncio
import base64
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import chromium
from playwright.async_api import Browser, expect

from browser.chromium_process import launch_browser
from browser.page import Chat
from browser.samples import FILES
from browser.stage import QUESTION, Stage, open_stage, oxygen_script
from browser.visitor import open_visitor
from server.forms import upload_files
from shape.tree import ROOT
from upstream import Upstream, reply, say, stall, status, stop

FOLDER = ROOT / "docs" / "images" / "page"
MAX_BYTES = 150_000
FORMS = {"desk": {}, "desk-dark": {"color_scheme": "dark"}, "phone": {"phone": True}}
PAGES = ("/en/Oxygen", "/en/Normans", "/en/Huguenot", "/en/Pharmacy")
ANSWER = """The name **oxygen** was coined in 1777 by Antoine Lavoisier [1], from the Greek for *acid* and *begetter*.

| who | when | what |
|---|---|---|
| Scheele | 1773 | produced it first |
| Priestley | 1774 | published first |
| Lavoisier | 1777 | named it [1] |

It was invented in Hanoi in 1999 [1]. The whole story is in the report."""

Picture: TypeAlias = Callable[[Stage, Chat], Awaitable[None]]


async def first_run(stage: Stage, chat: Chat) -> None:
    await expect(chat.composer).to_be_visible()


async def streaming(stage: Stage, chat: Chat) -> None:
    stage.script(*oxygen_script(say(ANSWER[:230]), stall()))
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text("begetter")


async def answer(stage: Stage, chat: Chat) -> None:
    stage.script(*oxygen_script(say(ANSWER)))
    await chat.ask_and_wait(QUESTION)


async def footnote(stage: Stage, chat: Chat) -> None:
    await answer(stage, chat)
    await chat.footnote(1, "supported").first.hover()
    await expect(chat.page.get_by_role("tooltip")).to_be_visible()


async def passage(stage: Stage, chat: Chat) -> None:
    await answer(stage, chat)
    await chat.footnote(1, "supported").first.click()
    await expect(chat.drawer.locator("mark").first).to_be_in_viewport()


async def sources(stage: Stage, chat: Chat) -> None:
    await answer(stage, chat)
    await chat.open_sources()


async def files(stage: Stage, chat: Chat) -> None:
    await _with_files(stage, chat)
    await chat.open_files()


def viewer(name: str) -> Picture:
    async def show(stage: Stage, chat: Chat) -> None:
        await files(stage, chat)
        await chat.open_file(name)
        await chat.page.wait_for_timeout(1500)

    return show


async def changes(stage: Stage, chat: Chat) -> None:
    await viewer("report.md")(stage, chat)
    await chat.viewer.get_by_role("tab", name="Changes").click()
    await expect(chat.viewer).to_contain_text("An old line.")


async def settings(stage: Stage, chat: Chat) -> None:
    await chat.open_settings()


async def found(stage: Stage, chat: Chat) -> None:
    stage.script(reply(say("Rayleigh scattering makes it so."), stop()))
    desk = await stage.create_session()
    await stage.user.ask_for_events(desk.session_id, "Why is the sky blue?")
    for title in ("Battery recycling in Vietnam", "越南的首都", "Báo cáo năng lượng mặt trời"):
        await stage.create_session(title=title)
    await chat.page.goto(f"{stage.origin}/s/{desk.session_id}")
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("Rayleigh")
    await expect(chat.sidebar.get_by_role("link", name="Why is the sky blue?")).to_be_visible()


async def error(stage: Stage, chat: Chat) -> None:
    stage.script(status(401))
    await chat.ask_and_wait(QUESTION)


PICTURES: dict[str, Picture] = {
    "first-run": first_run,
    "streaming": streaming,
    "answer": answer,
    "footnote": footnote,
    "passage": passage,
    "sources": sources,
    "files": files,
    "viewer-markdown": viewer("notes.md"),
    "viewer-pdf": viewer("bridges.pdf"),
    "viewer-workbook": viewer("budget.xlsx"),
    "changes": changes,
    "settings": settings,
    "found": found,
    "error": error,
}


async def _with_files(stage: Stage, chat: Chat) -> None:
    desk = await stage.create_session(title="Bridges and rivers")
    await upload_files(stage.user, desk.session_id, *FILES.items())
    first = "# Report\n\nThe first line.\n\nAn old line.\n"
    await desk.write("/report.md", first)
    await desk.write("/report.md", first.replace("An old line", "A new line"), first)
    await chat.page.goto(f"{stage.origin}/s/{desk.session_id}")


async def _take_screenshot(browser: Browser, name: str, form: str) -> int:
    """The size of the picture."""
    async with AsyncExitStack() as opened:
        home = opened.enter_context(tempfile.TemporaryDirectory())
        upstream = await opened.enter_async_context(Upstream())
        stage = await opened.enter_async_context(open_stage(Path(home), upstream, PAGES))
        visit = open_visitor(browser, stage.origin, cookie=stage.cookie, **FORMS[form])
        visitor = await opened.enter_async_context(visit)
        chat = await Chat.open(visitor)
        await PICTURES[name](stage, chat)
        await chat.page.wait_for_timeout(400)
        session = await visitor.context.new_cdp_session(chat.page)
        taken = await session.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
    content = base64.b64decode(taken["data"])
    (FOLDER / f"{name}-{form}.webp").write_bytes(content)
    return len(content)


async def main(wanted: str) -> None:
    program = chromium.find()
    if program is None:
        raise SystemExit(chromium.ADVICE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        async with launch_browser(program, Path(folder)) as browser:
            for name in PICTURES:
                for form in FORMS:
                    if wanted in f"{name}-{form}":
                        size = await _take_screenshot(browser, name, form)
                        sys.stdout.write(f"{name}-{form}: {size // 1000} kB\n")
                        if size > MAX_BYTES:
                            raise SystemExit("That is larger than a picture of the documentation may be.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
