"""On a phone: one panel at a time, nothing cut off, every target large enough for a thumb."""

import re

from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import reply, say, stop

TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"
TOO_SMALL = """() => [...document.querySelectorAll("button, a, input, textarea, [role=button], summary")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("[inert]"))
  .filter((one) => !one.matches("p a, li a, [type=checkbox], [type=radio]"))
  .filter((one) => getComputedStyle(one).display !== "inline")
  .map((one) => [one, one.getBoundingClientRect(), parseFloat(getComputedStyle(one, "::after").width) || 0])
  .map(([one, { width, height }, reach]) => [one, { width: Math.max(width, reach), height }])
  .filter(([one, { width, height }]) => width > 1 && height > 1 && (width < 23.5 || height < 23.5))
  .map(([one]) => one.outerHTML.slice(0, 160))"""


async def test_a_whole_turn_on_a_phone(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile(phone=True))
    await expect(chat.composer).to_be_in_viewport()
    await expect(chat.sidebar).to_have_count(0)
    assert await chat.page.evaluate(TOO_WIDE) <= 0
    await chat.ask_and_wait(QUESTION)
    assert await chat.page.evaluate(TOO_WIDE) <= 0
    assert await chat.page.evaluate(TOO_SMALL) == []
    await chat.footnote(1, "supported").tap()
    await expect(chat.drawer.locator("mark").first).to_be_in_viewport()
    assert await chat.page.evaluate(TOO_WIDE) <= 0
    box = await chat.drawer.bounding_box()
    assert box is not None
    assert box["width"] >= 380
    await chat.drawer.get_by_role("button", name="Close panel").tap()
    await expect(chat.drawer).to_have_count(0)


async def test_the_list_of_conversations_is_a_sheet_that_goes_when_one_is_chosen(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="The other one")
    chat = await Chat.open(await new_profile(phone=True))
    await chat.page.get_by_role("button", name="Conversations", exact=True).tap()
    await expect(chat.sidebar).to_be_visible()
    await chat.sidebar.get_by_role("link", name="The other one").tap()
    await expect(chat.sidebar).to_have_count(0)
    await expect(chat.page).to_have_url(re.compile(session.session_id))
    await chat.page.get_by_role("button", name="Conversations", exact=True).tap()
    await expect(chat.sidebar).to_be_visible()
    await chat.page.touchscreen.tap(380, 500)
    await expect(chat.sidebar).to_have_count(0)


async def test_a_wide_table_and_long_code_scroll_in_their_own_box(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    wide = "| " + " | ".join(f"column {number}" for number in range(12)) + " |\n|" + "---|" * 12
    row = "\n| " + " | ".join("a long cell of words" for _ in range(12)) + " |\n\n"
    code = f"```python\nprint('{'x' * 300}')\n```\n\n"
    word = f"{'w' * 200} https://example.com/{'a' * 200}"
    backend.script(reply(say(wide + row + code + word), stop()))
    chat = await Chat.open(await new_profile(phone=True))
    await chat.ask_and_wait("Show me something wide")
    assert await chat.page.evaluate(TOO_WIDE) <= 0
