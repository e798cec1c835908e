"""axe-core finds nothing, in any main state, light or dark, on a desktop or a phone."""

import pytest
from playwright.async_api import expect

from browser import axe
from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.breakpoints import Breakpoints
from browser.conftest import NewProfile
from browser.page import Chat
from browser.samples import FILES
from server.forms import upload_files
from upstream import reply, say, status, stop

RICH = """# A heading

Text with `code`, **bold**, [a link](https://example.com) and a footnote [1].

| what | how much |
|---|---|
| one | 2 |

- [x] done
- [ ] to do

> A quotation.

```python
print("hello")
```

$$e = mc^2$$
"""

in_every_form = pytest.mark.parametrize(
    "form",
    [{}, {"color_scheme": "dark"}, {"phone": True}, {"phone": True, "color_scheme": "dark"}],
    ids=["desktop", "desktop-dark", "phone", "phone-dark"],
)


@in_every_form
async def test_a_new_conversation(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    chat = await Chat.open(await new_profile(**form))
    await expect(chat.composer).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


@in_every_form
async def test_a_turn_in_progress(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    breakpoints = Breakpoints("text")
    backend.script(*oxygen_script(before=breakpoints.before))
    chat = await Chat.open(await new_profile(**form))
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text("oxygen.md")
    assert await axe.accessibility_violations(chat.page) == []
    breakpoints.release()
    await chat.wait_for_answer()


@in_every_form
async def test_an_answer_with_its_sources_and_a_passage(
    backend: PageBackend, new_profile: NewProfile, form: dict
) -> None:
    backend.script(*oxygen_script(), reply(say(RICH), stop()))
    chat = await Chat.open(await new_profile(**form))
    await chat.ask_and_wait(QUESTION)
    await chat.ask_and_wait("Something richer")
    assert await axe.accessibility_violations(chat.page) == []
    await chat.open_sources()
    assert await axe.accessibility_violations(chat.page) == []
    await chat.close_drawer()
    await chat.footnote(1, "supported").first.click()
    await expect(chat.drawer.locator("mark").first).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


@in_every_form
async def test_an_error_and_a_broken_off_answer(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    backend.script(status(401))
    chat = await Chat.open(await new_profile(**form))
    await chat.ask_and_wait("Why?")
    assert await axe.accessibility_violations(chat.page) == []


@pytest.mark.parametrize("form", [{}, {"phone": True, "color_scheme": "dark"}], ids=["desktop", "phone-dark"])
async def test_files_and_the_viewer(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    session = await backend.create_session(title="Files")
    await upload_files(backend.user, session.session_id, *FILES.items())
    profile = await new_profile(**form)
    # Chromium logs the scripts that the frame's policy blocked.
    profile.expected_problems.append("Blocked script execution")
    chat = await Chat.open(profile, f"/s/{session.session_id}")
    await chat.open_files()
    assert await axe.accessibility_violations(chat.page) == []
    for name in FILES:
        await chat.open_file(name)
        await chat.page.wait_for_timeout(700)
        assert await axe.accessibility_violations(chat.page) == [], name
        await chat.page.keyboard.press("Escape")
        await expect(chat.viewer).to_have_count(0)


@in_every_form
async def test_settings_shortcuts_and_the_list_of_conversations(
    backend: PageBackend, new_profile: NewProfile, form: dict
) -> None:
    await backend.create_session(title="One")
    chat = await Chat.open(await new_profile(**form))
    await chat.open_settings()
    assert await axe.accessibility_violations(chat.page) == []
    await chat.page.keyboard.press("Escape")
    await expect(chat.viewer).to_have_count(0)
    await chat.press("?")
    await expect(chat.viewer).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []
    await chat.page.keyboard.press("Escape")
    await expect(chat.viewer).to_have_count(0)
    await chat.show_sidebar()
    assert await axe.accessibility_violations(chat.page) == []


@in_every_form
async def test_the_login_form(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    chat = await Chat.open(await new_profile(cookie=None, **form))
    await expect(chat.page.get_by_label("Password", exact=True)).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


async def test_a_screen_reader_is_told_of_the_answer_but_not_of_every_word(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("One ", "two ", "three."), stop()))
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait("Count")
    assert await chat.log.get_attribute("aria-live") == "off"
    await expect(chat.page.get_by_role("status").filter(has_text="Answer complete")).to_have_count(1)
    for heading in ("You", "Footnote"):
        await expect(chat.log.get_by_role("heading", name=heading, exact=True)).to_have_count(1)
