"""What the browser stores: drafts, theme, language, the width of the panel."""

import re

from playwright.async_api import expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import reply, say, stop


async def test_a_draft_is_kept_over_a_reload_and_for_each_conversation(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("Hello."), stop()))
    profile = await new_profile()
    chat = await Chat.open(profile)
    await chat.ask_and_wait("Hello?")
    await chat.composer.fill("half of a second question")
    await chat.page.reload()
    await expect(chat.composer).to_have_value("half of a second question")
    await chat.new_conversation()
    await expect(chat.composer).to_have_value("")
    await chat.composer.fill("another beginning")
    await chat.sidebar.get_by_role("link", name="Hello?").click()
    await expect(chat.composer).to_have_value("half of a second question")
    await chat.new_conversation()
    await expect(chat.composer).to_have_value("another beginning")


async def test_the_theme_is_kept_and_follows_the_system_until_one_is_chosen(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    profile = await new_profile(color_scheme="dark")
    chat = await Chat.open(profile)
    assert await _is_dark(chat)
    await chat.open_settings()
    await chat.set("Light")
    assert not await _is_dark(chat)
    await chat.page.reload()
    await expect(chat.composer).to_be_visible()
    assert not await _is_dark(chat)


async def test_the_language_is_kept_and_at_once_another_one(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await Chat.open(await new_profile())
    await chat.open_settings()
    await chat.set("Tiếng Việt")
    await expect(chat.page.locator("html")).to_have_attribute("lang", "vi")
    await chat.page.reload()
    await expect(chat.page.locator("html")).to_have_attribute("lang", "vi")
    await expect(chat.page.get_by_role("link", name="Cuộc trò chuyện mới")).to_be_visible()


async def test_the_panel_is_resized_by_keyboard_and_mouse_within_its_bounds_and_stays_so(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session = await backend.create_session(title="Nothing yet")
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.open_files()
    edge = chat.page.get_by_role("separator", name="Panel width")
    await edge.focus()
    await edge.press("End")
    await expect(edge).to_have_attribute("aria-valuenow", "600")
    assert await _width(chat) == 600
    await edge.press("ArrowLeft")
    assert await _width(chat) == 600
    await edge.press("Home")
    assert await _width(chat) == 320
    await edge.press("ArrowRight")
    assert await _width(chat) == 320
    box = await edge.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await chat.page.mouse.move(x, y)
    await chat.page.mouse.down()
    await chat.page.mouse.move(x - 60, y, steps=4)
    await chat.page.mouse.move(x - 130, y, steps=4)
    await chat.page.mouse.up()
    assert abs(await _width(chat) - 450) <= 2
    width = await _width(chat)
    await chat.page.mouse.move(x, y, steps=3)
    assert await _width(chat) == width
    await chat.page.reload()
    await expect(chat.drawer).to_be_visible()
    assert await _width(chat) == width


async def test_the_list_of_conversations_can_be_put_away_and_stays_so(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    await expect(chat.sidebar).to_be_visible()
    await chat.page.get_by_role("button", name="Conversations", exact=True).click()
    await expect(chat.sidebar).to_have_count(0)
    await chat.page.reload()
    await expect(chat.composer).to_be_visible()
    await expect(chat.sidebar).to_have_count(0)


async def _width(chat: Chat) -> float:
    box = await chat.drawer.bounding_box()
    assert box is not None
    return round(box["width"])


async def _is_dark(chat: Chat) -> bool:
    await expect(chat.page.locator("body")).to_be_visible()
    colour = await chat.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    rgb = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return sum(rgb) < 3 * 128
