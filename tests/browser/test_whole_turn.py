"""The promise of the product, from a question to the passage that the agent read."""

from playwright.async_api import expect

from browser.backend import NAMED, QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat
from documents.samples import png
from server.images import picture
from upstream import reply, say, stop
from web import PageReply


async def test_a_footnote_opens_the_passage_that_was_read(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)

    await expect(chat.log).to_contain_text("The name oxygen was coined in 1777 by Antoine Lavoisier")
    card = chat.log.get_by_role("button", name="name of oxygen")
    await expect(card).to_contain_text("2 results")
    await expect(chat.footnote(1, "supported")).to_be_visible()
    await expect(chat.footnote(1, "not supported")).to_be_visible()

    await chat.footnote(1, "supported").hover()
    quote = chat.page.get_by_role("tooltip")
    await expect(quote).to_contain_text("Antoine Lavoisier")

    await chat.footnote(1, "supported").click()
    passage = chat.drawer.locator("mark")
    await expect(passage.first).to_be_in_viewport()
    # A link inside the passage splits the mark.
    assert "coined in 1777 by Antoine Lavoisier" in "".join(await passage.all_inner_texts())
    await expect(chat.drawer).to_contain_text("The highlighted passage says so.")


async def test_a_search_card_opens_to_its_sources_with_links_that_tell_nothing(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)
    await chat.log.get_by_role("button", name="name of oxygen").click()
    original = chat.log.get_by_role("list", name="Sources found").get_by_role("link").first
    await expect(original).to_have_attribute("href", backend.web.url("/en/Oxygen"))
    await expect(original).to_have_attribute("target", "_blank")
    rel = set(str(await original.get_attribute("rel")).split())
    assert {"noopener", "noreferrer"} <= rel


async def test_the_title_of_a_source_leads_to_the_page_and_a_button_to_what_was_read(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(*oxygen_script())
    profile = await new_profile()
    address = backend.web.url("/en/Oxygen")
    profile.expected_problems.append(backend.web.url("/"))  # the link is followed
    chat = await Chat.open(profile)
    await chat.ask_and_wait(QUESTION)
    await chat.log.get_by_role("button", name="name of oxygen").click()
    await chat.open_sources()
    for place in (chat.drawer, chat.log.get_by_role("list", name="Sources found")):
        title = place.get_by_role("link", name="Oxygen").first
        assert {"noopener", "noreferrer"} <= set(str(await title.get_attribute("rel")).split())
        async with chat.page.context.expect_page() as opening:
            await title.click()
        page = await opening.value
        await expect(page).to_have_url(address)
        await page.close()
    await chat.log.get_by_role("list", name="Sources found").get_by_role("button", name="Open the text").first.click()
    await expect(chat.drawer.locator("mark").first).to_be_visible()
    await expect(chat.drawer.get_by_role("heading", level=2).get_by_role("link")).to_have_attribute("href", address)
    await chat.drawer.get_by_role("button", name="All sources").click()
    await chat.drawer.get_by_role("button", name="Open the text").first.click()
    await expect(chat.drawer.locator("mark").first).to_be_visible()


async def test_the_icon_that_a_page_names_is_shown_and_comes_through_the_server(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    head = '<title>Oxygen</title><link rel="icon" href="/static/icon.png">'
    article = f"<!doctype html><html><head>{head}</head><body><article><p>{NAMED[:-5]}.</p></article></body></html>"
    backend.web.put(
        "/en/Oxygen", PageReply(headers={"Content-Type": "text/html; charset=utf-8"}, body=article.encode())
    )
    backend.web.put("/static/icon.png", picture(png(32, 32)))
    backend.script(*oxygen_script())
    # The profile fails the test by itself if the page requests anything from another server.
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)
    await chat.open_sources()
    icon = chat.drawer.locator(".ui-favicon img").first
    await expect(icon).to_have_js_property("naturalWidth", 32)
    await expect(icon).to_have_attribute("src", "/v2/favicons/127.0.0.1")
    assert len(backend.web.requests_for("/static/icon.png")) == 1


async def test_a_file_that_was_written_is_a_card_and_stands_in_the_workspace(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(*oxygen_script())
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)
    await chat.open_files()
    await expect(chat.drawer).to_contain_text("oxygen.md")
    await chat.log.get_by_role("list", name="Files from this answer").get_by_role("button").first.click()
    await expect(chat.viewer.get_by_role("heading", name="Oxygen", exact=True)).to_be_visible()


async def test_sources_of_several_questions_are_appended(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(*oxygen_script(), *oxygen_script())
    chat = await Chat.open(await new_profile())
    await chat.ask_and_wait(QUESTION)
    await chat.ask_and_wait("And once more?")
    await chat.open_sources()
    await expect(chat.drawer.get_by_text("name of oxygen")).to_have_count(2)


async def test_the_address_of_a_conversation_opens_it_again(backend: PageBackend, new_profile: NewProfile) -> None:
    backend.script(reply(say("Because of scattering."), stop()))
    profile = await new_profile()
    chat = await Chat.open(profile)
    await chat.ask_and_wait("Why is the sky blue?")
    assert "/s/" in chat.page.url
    again = await Chat.open(profile, chat.page.url.removeprefix(profile.origin))
    await expect(again.log).to_contain_text("Because of scattering.")
    await again.expect_same_as(chat)
