"""Everything can be done by keyboard."""

from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat

FOCUSED = """() => {
  const one = document.activeElement;
  return one.getAttribute("aria-label") || one.textContent.trim() || one.tagName;
}"""


async def test_a_whole_turn_by_keyboard_from_the_question_to_the_passage_and_back(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile())
    await expect(chat.composer).to_be_visible()
    keys = chat.page.keyboard
    await chat.press("/")
    await expect(chat.composer).to_be_focused()
    await keys.type(QUESTION)
    await keys.press("Enter")
    await chat.wait_for_answer()
    footnote = chat.footnote(1, "supported")
    await _tab_to(chat, "Footnote 1, supported", backwards=True)
    await expect(footnote).to_be_focused()
    await expect(chat.page.get_by_role("tooltip")).to_contain_text("Antoine Lavoisier")
    await keys.press("Escape")
    await keys.press("Enter")
    await expect(chat.drawer.locator("mark").first).to_be_in_viewport()
    await chat.drawer.get_by_role("button", name="Close panel").focus()
    await keys.press("Escape")
    await expect(chat.drawer).to_have_count(0)
    await expect(footnote).to_be_focused()


async def test_a_new_line_is_written_with_shift_and_nothing_is_sent_while_a_word_is_composed(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    await chat.composer.focus()
    keys = chat.page.keyboard
    await keys.type("one")
    await keys.press("Shift+Enter")
    await keys.type("two")
    await expect(chat.composer).to_have_value("one\ntwo")
    await chat.composer.evaluate(
        "(field) => field.dispatchEvent(new KeyboardEvent('keydown',"
        " { key: 'Enter', isComposing: true, keyCode: 229, bubbles: true, cancelable: true }))"
    )
    await expect(chat.composer).to_have_value("one\ntwo")
    assert backend.upstream.requests == []


async def test_the_shortcuts_do_what_their_list_says(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="A session")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await expect(chat.composer).to_be_visible()
    await chat.press("?")
    await expect(chat.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("dialog")).to_have_count(0)
    await chat.press("Control+Shift+E")
    await expect(chat.drawer).to_be_visible()
    await chat.press("Control+Shift+E")
    await expect(chat.drawer).to_have_count(0)
    await chat.press("Control+k")
    await expect(chat.page.get_by_role("searchbox")).to_be_focused()
    await chat.press("Control+b")
    await expect(chat.sidebar).to_have_count(0)
    await chat.press("Control+,")
    await expect(chat.page.get_by_role("dialog", name="Settings")).to_be_visible()
    await chat.page.keyboard.press("Escape")
    await expect(chat.page.get_by_role("dialog")).to_have_count(0)
    await chat.press("Control+Shift+O")
    await expect(chat.composer).to_be_focused()
    assert chat.page.url == f"{backend.origin}/"


async def test_menus_are_walked_with_the_arrow_keys(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="A session")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    opener = chat.button("More options for this conversation")
    await opener.focus()
    await chat.page.keyboard.press("Enter")
    items = chat.page.get_by_role("menuitem")
    await expect(items.nth(0)).to_be_focused()
    await chat.page.keyboard.press("ArrowDown")
    await expect(items.nth(1)).to_be_focused()
    await chat.page.keyboard.press("Escape")
    await expect(items).to_have_count(0)
    await expect(opener).to_be_focused()


async def test_the_first_stop_leads_to_the_question_field(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await expect(chat.composer).to_be_visible()
    skip = chat.page.get_by_role("link", name="Skip to the question field")
    assert await chat.page.locator("a, button, input, textarea").first.inner_text() == await skip.inner_text()
    await skip.focus()
    await expect(skip).to_be_in_viewport()
    await chat.page.keyboard.press("Enter")
    await chat.page.keyboard.press("Tab")
    await expect(chat.composer).to_be_focused()


async def _tab_to(chat: Chat, name: str, *, backwards: bool = False) -> None:
    for _ in range(60):
        if await chat.page.evaluate(FOCUSED) == name:
            return
        await chat.page.keyboard.press("Shift+Tab" if backwards else "Tab")
    raise AssertionError(f"the keyboard does not come to {name!r}")
