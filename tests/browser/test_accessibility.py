"""axe-core finds nothing, in any main state, light or dark, on a desk or a phone."""

import pytest
from playwright.async_api import expect

from browser import axe
from browser.conftest import Visit
from browser.moments import Moments
from browser.page import Chat
from browser.samples import FILES
from browser.stage import QUESTION, Stage, oxygen_script
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
    ids=["desk", "desk-dark", "phone", "phone-dark"],
)


@in_every_form
async def test_a_new_conversation(stage: Stage, visit: Visit, form: dict) -> None:
    chat = await Chat.open(await visit(**form))
    await expect(chat.composer).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


@in_every_form
async def test_a_turn_in_progress(stage: Stage, visit: Visit, form: dict) -> None:
    moments = Moments("text")
    stage.script(*oxygen_script(before=moments.before))
    chat = await Chat.open(await visit(**form))
    await chat.ask(QUESTION)
    await expect(chat.log).to_contain_text("oxygen.md")
    assert await axe.accessibility_violations(chat.page) == []
    moments.release()
    await chat.wait_for_answer()


@in_every_form
async def test_an_answer_with_its_sources_and_a_passage(stage: Stage, visit: Visit, form: dict) -> None:
    stage.script(*oxygen_script(), reply(say(RICH), stop()))
    chat = await Chat.open(await visit(**form))
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
async def test_an_error_and_a_broken_off_answer(stage: Stage, visit: Visit, form: dict) -> None:
    stage.script(status(401))
    chat = await Chat.open(await visit(**form))
    await chat.ask_and_wait("Why?")
    assert await axe.accessibility_violations(chat.page) == []


@pytest.mark.parametrize("form", [{}, {"phone": True, "color_scheme": "dark"}], ids=["desk", "phone-dark"])
async def test_files_and_the_viewer(stage: Stage, visit: Visit, form: dict) -> None:
    desk = await stage.create_session(title="Files")
    await upload_files(stage.user, desk.session_id, *FILES.items())
    visitor = await visit(**form)
    # The browser says what it did not run.
    visitor.expected_problems.append("Blocked script execution")
    chat = await Chat.open(visitor, f"/s/{desk.session_id}")
    await chat.open_files()
    assert await axe.accessibility_violations(chat.page) == []
    for name in FILES:
        await chat.open_file(name)
        await chat.page.wait_for_timeout(700)
        assert await axe.accessibility_violations(chat.page) == [], name
        await chat.page.keyboard.press("Escape")
        await expect(chat.viewer).to_have_count(0)


@in_every_form
async def test_settings_shortcuts_and_the_list_of_conversations(stage: Stage, visit: Visit, form: dict) -> None:
    await stage.create_session(title="One")
    chat = await Chat.open(await visit(**form))
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
async def test_the_login_form(stage: Stage, visit: Visit, form: dict) -> None:
    chat = await Chat.open(await visit(cookie=None, **form))
    await expect(chat.page.get_by_label("Password", exact=True)).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


async def test_a_screen_reader_is_told_of_the_answer_but_not_of_every_word(stage: Stage, visit: Visit) -> None:
    stage.script(reply(say("One ", "two ", "three."), stop()))
    chat = await Chat.open(await visit())
    await chat.ask_and_wait("Count")
    assert await chat.log.get_attribute("aria-live") == "off"
    await expect(chat.page.get_by_role("status").filter(has_text="Answer complete")).to_have_count(1)
    for heading in ("You", "Footnote"):
        await expect(chat.log.get_by_role("heading", name=heading, exact=True)).to_have_count(1)
