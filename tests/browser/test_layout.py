"""Layout: nothing is cut, squeezed or pushed aside, at common widths."""

import re

from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat
from browser.samples import FILES
from server.forms import upload_files
from upstream import call, reply, say, stop

ARABIC = "ما هي إعادة تدوير البطاريات؟"
BOX = "(element) => { const { left, right, width } = element.getBoundingClientRect(); return [left, right, width]; }"
TEXT_LEFT = """(element) => {
  const range = document.createRange();
  // Of the letters: the box around them may begin further to the left.
  range.selectNodeContents(document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode());
  const { left } = element.getBoundingClientRect();
  return Math.round(Math.max(left, range.getBoundingClientRect().left));
}"""
# Chromium hides its scrollbars in these tests; on most desktops they take room.
WIDE_SCROLLBARS = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("::-webkit-scrollbar { inline-size: 15px; block-size: 15px; }");
  document.adoptedStyleSheets.push(sheet);
}"""
PAGE_SCROLLS = "() => document.documentElement.scrollHeight > innerHeight || document.body.scrollHeight > innerHeight"


async def test_a_pdf_in_the_viewer_makes_the_page_itself_no_longer(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Bridges")
    await upload_files(backend.user, session.session_id, ("bridges.pdf", FILES["bridges.pdf"]))
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    await chat.open_file("bridges.pdf")
    # pdf.js measures text on an invisible canvas when it draws a page.
    await expect(chat.viewer).to_contain_text("Chazelet")
    await expect(chat.page.locator("body > canvas")).not_to_have_count(0)
    assert not await chat.page.evaluate(PAGE_SCROLLS)


async def test_the_reason_of_a_failed_call_is_told_in_whole(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(
        reply(call("read_file", {"limit": "many"}, id="call_read"), stop("toolUse")),
        reply(say("It did not work."), stop()),
    )
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Read it")
    problem = chat.log.locator(".chat-tool-problem")
    await expect(problem).to_contain_text("file_path")
    await expect(problem).not_to_contain_text(re.compile(r":\s*$"))
    assert await problem.evaluate("(line) => line.scrollWidth <= line.clientWidth")


async def test_the_panel_lies_over_the_conversation_where_there_is_no_room_beside_it(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile(viewport={"width": 768, "height": 1024}))
    await chat.ask_and_wait(QUESTION)
    before = await chat.log.evaluate(BOX)
    await chat.footnote(1, "supported").first.click()
    await expect(chat.drawer).to_be_visible()
    sidebar_gone = await chat.log.evaluate(BOX)
    assert sidebar_gone[2] >= before[2] >= 400
    await chat.page.mouse.click(20, 500)
    await expect(chat.drawer).to_have_count(0)
    await chat.page.set_viewport_size({"width": 1000, "height": 800})
    await chat.footnote(1, "supported").first.click()
    panel_box, log = await chat.drawer.evaluate(BOX), await chat.log.evaluate(BOX)
    assert log[1] <= panel_box[0] + 1, "from here on it stands beside it"


async def test_what_is_welcomed_with_and_the_question_field_have_the_same_middle(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile(viewport={"width": 1366, "height": 420}))
    await expect(chat.composer).to_be_visible()
    welcome = chat.page.locator(".welcome")
    assert await welcome.evaluate("(room) => room.scrollHeight > room.clientHeight")
    await chat.page.evaluate(WIDE_SCROLLBARS)
    await expect(welcome).to_have_js_property("clientWidth", await welcome.evaluate("(room) => room.offsetWidth") - 30)
    inner = await chat.page.locator(".welcome-inner").evaluate(BOX)
    field = await chat.page.locator(".app-composer").evaluate(BOX)
    assert abs((inner[0] + inner[1]) - (field[0] + field[1])) <= 1


async def test_titles_of_every_direction_begin_at_the_same_side(backend: PageBackend, new_profile: NewProfile) -> None:
    sessions = [await backend.create_session(title=title) for title in ("Battery recycling", ARABIC, f"{ARABIC} " * 5)]
    chat = await Chat.open(await new_profile(), f"/s/{sessions[0].session_id}")
    heading = chat.page.locator(".app-title")
    await expect(heading).to_contain_text("Battery recycling")
    names = chat.sidebar.locator(".sessions-name")
    await expect(names).to_have_count(3)
    assert len({await name.evaluate(TEXT_LEFT) for name in await names.all()}) == 1
    expected = await heading.evaluate(TEXT_LEFT)
    for session in sessions[1:]:
        await chat.page.goto(f"{backend.origin}/s/{session.session_id}")
        await expect(heading).to_contain_text(ARABIC)
        assert await heading.evaluate(TEXT_LEFT) == expected
    # A truncated title keeps its beginning, which in Arabic is its right end.
    cut = await heading.locator("span").evaluate("(title) => [title.scrollWidth > title.clientWidth, title.scrollLeft]")
    assert cut == [True, 0]


WIDE = "\n".join(
    (
        "| Operator | " + " | ".join(f"Plant {number}" for number in range(1, 11)) + " | Remark |",
        "|---" * 12 + "|",
        *(
            f"| A rather long operator name GmbH {row} | "
            + "18.5 MJ/kg | " * 10
            + "needs sorted input from the recyclers |"
            for row in range(1, 6)
        ),
    )
)
LINES = """(cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""


async def test_a_wide_table_is_scrolled_and_not_squeezed(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say(f"{WIDE}\n\n| a | b |\n|---|---|\n| 1 | short words only |\n"), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("A table")
    table, small = chat.log.locator(".md-table").first, chat.log.locator(".md-table").nth(1)
    first = table.locator("tbody tr").first.locator("td").first
    assert await first.evaluate(LINES) <= 3
    assert await table.locator("tbody tr").first.locator("td").nth(1).evaluate(LINES) == 1, "a number is not broken"
    scroll = table.locator(".md-scroll")
    assert await scroll.evaluate("(box) => box.scrollWidth > box.clientWidth")
    await expect(table).to_have_attribute("data-more", "true")
    left = (await first.evaluate(BOX))[0]
    await scroll.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    await expect(table).not_to_have_attribute("data-more", "true")
    assert (await first.evaluate(BOX))[0] == left, "the name of the row stays in sight"
    line = await first.evaluate("(cell) => getComputedStyle(cell, '::after').borderInlineEndWidth")
    assert line == "1px", "with a line of its own: that of a collapsed border would be scrolled away"
    assert await small.locator(".md-scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    await expect(small).not_to_have_attribute("data-wide", "true")
