"""Screenshots of every main state of the page, for the documentation and for reviewing changes.

`make screenshots` writes them into docs/images/page; `make screenshots ARGS=answer` only those with that word in their
name.
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

from browser.backend import QUESTION, PageBackend, open_backend, oxygen_script
from browser.browser_profile import open_profile
from browser.chromium_process import launch_browser
from browser.page import Chat
from browser.proof import ANSWER as ANSWER_OF_ALL
from browser.proof import JUDGEMENTS, answered_session, judge_answer, judge_file
from browser.research_events import ScriptedResearch, found_source, plan_item, supported_citation
from browser.samples import FILES
from server.forms import upload_files
from server.session_files import SessionFiles
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

TEXT_TO_CHECK = """# Batteries: what recyclers have to reach

At least 50 percent of the lithium has to be recovered by the end of 2027 [1]. Recyclers in Europe have shelved forty \
plants since early 2024 (https://news.example/recyclers).

## References

1. Regulation (EU) 2023/1542, https://law.example/batteries
"""

RESEARCHED = (
    "What do sodium-ion and LFP home batteries cost per kilowatt-hour today?",
    "How long do they last: cycles, calendar ageing, warranty?",
    "How safe are they, and how do they behave in the cold?",
    "Which products can be bought in Europe in 2026?",
    "What do independent tests say about their efficiency?",
)

Picture: TypeAlias = Callable[[PageBackend, Chat], Awaitable[None]]


async def first_run(backend: PageBackend, chat: Chat) -> None:
    await expect(chat.composer).to_be_visible()


async def streaming(backend: PageBackend, chat: Chat) -> None:
    backend.script(*oxygen_script(say(ANSWER[:230]), stall()))
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text("begetter")


async def answer(backend: PageBackend, chat: Chat) -> None:
    backend.script(*oxygen_script(say(ANSWER)))
    await chat.ask_and_wait(QUESTION)


async def footnote(backend: PageBackend, chat: Chat) -> None:
    await answer(backend, chat)
    await chat.footnote(1, "supported").first.hover()
    await expect(chat.page.get_by_role("tooltip")).to_be_visible()


async def passage(backend: PageBackend, chat: Chat) -> None:
    await answer(backend, chat)
    await chat.footnote(1, "supported").first.click()
    await expect(chat.drawer.locator("mark").first).to_be_in_viewport()


async def proof(backend: PageBackend, chat: Chat) -> None:
    session_id = await answered_session(backend)
    await judge_answer(chat.page.context, backend, session_id)
    await chat.page.goto(f"{backend.origin}/s/{session_id}")
    await expect(chat.log.get_by_role("mark")).to_have_count(6)


async def contradiction(backend: PageBackend, chat: Chat) -> None:
    await proof(backend, chat)
    await chat.footnote(1, "the page says otherwise").click()
    await expect(chat.drawer.locator("mark").first).to_be_in_viewport()


async def report(backend: PageBackend, chat: Chat) -> None:
    session_id = await answered_session(backend, "The report is ready.")
    await SessionFiles(backend.user, session_id).write("/battery-report.md", ANSWER_OF_ALL)
    await judge_file(chat.page.context, backend, session_id, "/battery-report.md", {1: JUDGEMENTS})
    await chat.page.goto(f"{backend.origin}/s/{session_id}?file=/battery-report.md")
    await chat.viewer.get_by_role("button", name="Footnote 1, the page says otherwise").click()
    await expect(chat.viewer.locator(".files-beside mark").first).to_be_in_viewport()


async def check(backend: PageBackend, chat: Chat) -> None:
    await chat.page.goto(f"{backend.origin}/?panel=check")
    await chat.viewer.get_by_role("textbox").fill(TEXT_TO_CHECK)


async def research(backend: PageBackend, chat: Chat) -> None:
    scripted = ScriptedResearch(backend)
    await scripted.serve(chat.page.context)
    await chat.page.get_by_role("button", name="Research", exact=True).click()
    await chat.ask("How do sodium-ion batteries compare with lithium iron phosphate for home storage?")
    await scripted.wait_asked()
    cost, life, safety, market, tests = items = [
        plan_item(f"q{number}", question) for number, question in enumerate(RESEARCHED, 1)
    ]
    scripted.start(items)
    scripted.update(*(item | {"status": "running"} for item in (cost, life, safety, market)))
    for item in (cost, life, safety, market):
        scripted.search(item["id"], "sodium-ion battery")
    for item, number, domains in ((cost, 1, ("iea.org", "bnef.com", "irena.org")), (safety, 4, ("nrel.gov", "ul.com"))):
        found = [found_source(at, domain, domain) for at, domain in enumerate(domains, number)]
        scripted.find(item["id"], "sodium-ion battery", *found)
        said = " ".join(f"Statement {at} holds [{number}]." for at in range(len(domains) * 2))
        sentences = [f"Statement {at} holds" for at in range(len(domains) * 2)]
        scripted.say(said, [supported_citation(said, sentence, number) for sentence in sentences], item["id"])
    scripted.update(cost | {"status": "done"}, safety | {"status": "done"}, tests)
    scripted.read("q2", "nature.com", "catl.com", "pv-magazine.com")
    scripted.read("q4", "heise.de")
    scripted.steering.append("Leave out lead-acid batteries.")
    scripted.send_plan()
    scripted.spend(194, 0.17, 23)
    await expect(chat.log.locator("[data-reading]")).to_have_count(4)
    await expect(chat.log).to_contain_text("Leave out lead-acid")


async def sources(backend: PageBackend, chat: Chat) -> None:
    await answer(backend, chat)
    await chat.open_sources()


async def files(backend: PageBackend, chat: Chat) -> None:
    await _with_files(backend, chat)
    await chat.open_files()


def viewer(name: str) -> Picture:
    async def show(backend: PageBackend, chat: Chat) -> None:
        await files(backend, chat)
        await chat.open_file(name)
        await chat.page.wait_for_timeout(1500)

    return show


async def changes(backend: PageBackend, chat: Chat) -> None:
    await viewer("report.md")(backend, chat)
    await chat.viewer.get_by_role("tab", name="Changes").click()
    await expect(chat.viewer).to_contain_text("An old line.")


async def settings(backend: PageBackend, chat: Chat) -> None:
    await chat.open_settings()


async def found(backend: PageBackend, chat: Chat) -> None:
    backend.script(reply(say("Rayleigh scattering makes it so."), stop()))
    session = await backend.create_session()
    await backend.user.ask_for_events(session.session_id, "Why is the sky blue?")
    for title in ("Battery recycling in Vietnam", "越南的首都", "Báo cáo năng lượng mặt trời"):
        await backend.create_session(title=title)
    await chat.page.goto(f"{backend.origin}/s/{session.session_id}")
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("Rayleigh")
    await expect(chat.sidebar.get_by_role("link", name="Why is the sky blue?")).to_be_visible()


async def error(backend: PageBackend, chat: Chat) -> None:
    backend.script(status(401))
    await chat.ask_and_wait(QUESTION)


PICTURES: dict[str, Picture] = {
    "first-run": first_run,
    "streaming": streaming,
    "answer": answer,
    "footnote": footnote,
    "passage": passage,
    "proof": proof,
    "contradiction": contradiction,
    "report": report,
    "check": check,
    "research": research,
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


async def _with_files(backend: PageBackend, chat: Chat) -> None:
    session = await backend.create_session(title="Bridges and rivers")
    await upload_files(backend.user, session.session_id, *FILES.items())
    first = "# Report\n\nThe first line.\n\nAn old line.\n"
    await session.write("/report.md", first)
    await session.write("/report.md", first.replace("An old line", "A new line"), first)
    await chat.page.goto(f"{backend.origin}/s/{session.session_id}")


async def _take_screenshot(browser: Browser, name: str, form: str) -> int:
    """Takes a screenshot, and returns its size in bytes."""
    async with AsyncExitStack() as opened:
        home = opened.enter_context(tempfile.TemporaryDirectory())
        upstream = await opened.enter_async_context(Upstream())
        backend = await opened.enter_async_context(open_backend(Path(home), upstream, PAGES))
        new_profile = open_profile(browser, backend.origin, cookie=backend.cookie, **FORMS[form])
        profile = await opened.enter_async_context(new_profile)
        chat = await Chat.open(profile)
        await PICTURES[name](backend, chat)
        await chat.page.wait_for_timeout(400)
        session = await profile.context.new_cdp_session(chat.page)
        screenshot = await session.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
    content = base64.b64decode(screenshot["data"])
    (FOLDER / f"{name}-{form}.webp").write_bytes(content)
    return len(content)


async def main(name_filter: str) -> None:
    program = chromium.find()
    if program is None:
        raise SystemExit(chromium.ADVICE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        async with launch_browser(program, Path(folder)) as browser:
            for name in PICTURES:
                for form in FORMS:
                    if name_filter in f"{name}-{form}":
                        size = await _take_screenshot(browser, name, form)
                        sys.stdout.write(f"{name}-{form}: {size // 1000} kB\n")
                        if size > MAX_BYTES:
                            raise SystemExit("That is larger than a picture of the documentation may be.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
