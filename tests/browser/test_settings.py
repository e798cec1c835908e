"""Settings: tokens, users, imported bundles, and the hint on how to add a model."""

import re

from playwright.async_api import Browser, Locator, expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.browser_profile import open_profile
from browser.conftest import NewProfile
from browser.page import Chat

# The scrolling of a dialog higher than the window: its body scrolls, the dialog does not.
SCROLLS = "(dialog) => dialog.scrollHeight > dialog.clientHeight"
PASSWORD = "a long password"


async def _section(chat: Chat, name: str) -> Locator:
    await chat.open_settings()
    return chat.viewer.get_by_role("region", name=name)


async def test_a_new_token_is_in_sight_and_under_the_keyboard(backend: PageBackend, new_profile: NewProfile) -> None:
    profile = await new_profile()
    await profile.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat = await Chat.open(profile)
    tokens = await _section(chat, "API tokens")
    for number in range(3):
        await expect(tokens.get_by_role("textbox")).to_have_value(
            ""
        )  # the field is cleared shortly after the token is shown
        await tokens.get_by_role("textbox").fill(f"script {number}")
        await tokens.get_by_role("button", name="Create token").click()
        await expect(tokens).to_contain_text(f"Your token “script {number}”")
        assert not await chat.viewer.evaluate(SCROLLS)
        copy = tokens.get_by_role("button", name="Copy", exact=True)
        await expect(copy).to_be_focused()
        await expect(copy).to_be_in_viewport(ratio=1)
    token = tokens.locator(".settings-issued code")
    await expect(token).to_be_in_viewport(ratio=1)
    await chat.page.keyboard.press("Enter")
    await expect(tokens.get_by_role("button", name="Copied")).to_be_visible()
    assert await chat.page.evaluate("() => navigator.clipboard.readText()") == await token.inner_text()


async def test_an_admin_adds_changes_and_removes_users_in_the_page(
    browser: Browser, backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await Chat.open(await new_profile())
    users = await _section(chat, "Users")
    row = users.get_by_role("listitem").filter(has_text="ada")
    await expect(users.get_by_role("listitem")).to_have_count(1)
    await users.get_by_role("textbox", name="Name").fill("ada")
    await users.get_by_label("Password (8+ characters)").fill(PASSWORD)
    await users.get_by_role("button", name="Add user").click()
    await expect(row).to_contain_text("user")
    await users.get_by_role("textbox", name="Name").fill("Ada")
    await users.get_by_label("Password (8+ characters)").fill(PASSWORD)
    await users.get_by_role("button", name="Add user").click()
    await expect(users.get_by_role("alert")).to_contain_text(re.compile(r"There is (already )?a user Ada"))

    async with open_profile(browser, backend.origin) as profile:
        theirs = await Chat.open(profile)
        await theirs.log_in("ada", PASSWORD)
        models = await _section(theirs, "Models")
        await expect(models).to_contain_text("Current model")
        await expect(models).not_to_contain_text(re.compile("start it again|API_KEY"))
        await expect(theirs.viewer.get_by_role("region", name="Users")).to_have_count(0)

        actions = row.get_by_role("button", name="Actions for ada")
        await chat.choose(actions, "Set password")
        field = users.get_by_label("New password for ada")
        await expect(field).to_be_focused()
        await field.fill("another password")
        await field.press("Enter")
        await expect(users.get_by_role("status")).to_contain_text("Password set for ada.")
        await theirs.page.reload()
        await theirs.log_in("ada", "another password")
        await expect(theirs.composer).to_be_visible()

        await chat.choose(actions, "Make admin")
        await expect(row).to_contain_text("admin")
        await chat.choose(actions, "Make regular user")
        await expect(row).not_to_contain_text("admin")
        await chat.choose(actions, "Disable")
        await expect(row).to_contain_text("disabled")
        await chat.choose(actions, "Remove")
        await row.get_by_role("button", name="Cancel").click()
        await chat.choose(actions, "Remove")
        await row.get_by_role("button", name="Remove", exact=True).click()
        await expect(row).to_have_count(0)
    assert [one["name"] for one in (await backend.user.request("GET", "/v2/users")).json["users"]] == ["local"]


async def test_an_imported_bundle_says_what_was_verified(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(*oxygen_script())
    session = await backend.create_session()
    await backend.user.ask_for_events(session.session_id, QUESTION)
    bundle = (await backend.user.request("GET", f"/v2/sessions/{session.session_id}/export")).body
    chat = await Chat.open(await new_profile())
    data = await _section(chat, "Data and server")
    async with chat.page.expect_file_chooser() as choosing:
        await data.get_by_role("button", name="Choose file").click()
    file = {"name": "research.zip", "mimeType": "application/zip", "buffer": bundle}
    await (await choosing.value).set_files([file])
    notice = chat.page.locator(".app-toast")
    await expect(notice).to_contain_text(f"Imported and verified: “{QUESTION}”.")
    await expect(notice).to_contain_text(re.compile(r"\d+ hashes and \d+ quotes verified\. \d+ verdicts rechecked"))
    await expect(chat.page).to_have_url(re.compile("/s/"))
    # The file is read asynchronously.
    await chat.page.clock.install()
    await chat.page.clock.fast_forward(60_000)
    await expect(notice).to_be_visible()
    await notice.get_by_role("button").click()
    await expect(notice).to_have_count(0)
