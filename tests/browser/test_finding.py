"""Searching conversations: from the search field into the list, and to the matching words."""

from playwright.async_api import Route, expect

from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from upstream import reply, say, stop

FILLER = "\n\n".join(f"Paragraph {number} says nothing of it." for number in range(60))
ANSWER = f"{FILLER}\n\n## Who recovers it\n\nMost of the **Lithium** is lost [1]; see [a page](https://a.example/)."
MARKED = """() => [...(CSS.highlights.get("chat-found") ?? [])].map((range) => range.toString())"""
IN_SIGHT = """() => {
  const [range] = CSS.highlights.get("chat-found");
  const { top, bottom } = range.getBoundingClientRect();
  const room = document.querySelector(".chat-log").getBoundingClientRect();
  return room.top <= top && bottom <= room.bottom;
}"""


async def test_what_is_searched_for_is_reached_by_keyboard_and_marked_where_it_stands(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say(ANSWER), stop()), reply(say("A sky."), stop()))
    for question in ("What is lost?", "And the sky?"):
        session = await backend.create_session()
        await backend.user.ask_for_events(session.session_id, question)
    chat = await Chat.open(await new_profile())
    await chat.show_sidebar()
    field = chat.page.get_by_role("searchbox")
    await chat.press("Control+k")
    await expect(field).to_be_focused()
    await chat.page.keyboard.type("lithium")
    hit = chat.sidebar.get_by_role("link", name="What is lost?")
    await expect(hit).to_contain_text("Who recovers it Most of the Lithium is lost; see a page.")
    await expect(chat.sidebar.get_by_role("link", name="And the sky?")).to_have_count(0)

    await chat.page.keyboard.press("ArrowDown")
    await expect(hit).to_be_focused()
    await chat.page.keyboard.press("ArrowUp")
    await expect(field).to_be_focused()
    await chat.page.keyboard.press("ArrowDown")
    await chat.page.keyboard.press("Enter")
    await expect(chat.log).to_contain_text("Who recovers it")
    await chat.page.wait_for_function(f"() => ({MARKED})().length > 0")
    assert await chat.page.evaluate(MARKED) == ["Lithium"]
    assert await chat.page.evaluate(IN_SIGHT)

    await chat.press("Control+k")
    await expect(field).to_be_focused()
    await chat.page.keyboard.type("sky")
    await expect(field).to_have_value("sky")
    await expect(chat.sidebar.get_by_role("link", name="And the sky?")).to_be_visible()
    await chat.sidebar.get_by_role("link", name="And the sky?").click()
    await expect(chat.log).to_contain_text("A sky.")
    await chat.page.wait_for_function(f"() => ({MARKED})().join() === 'sky,sky' || ({MARKED})().join() === 'sky'")
    await chat.page.get_by_role("button", name="Clear search").click()
    await chat.page.wait_for_function(f"() => ({MARKED})().length === 0")


NOW = """() => {
  const [range] = CSS.highlights.get("chat-found-now") ?? [];
  return range ? `${range} at ${range.startOffset}` : null;
}"""


async def test_all_places_of_a_conversation_are_walked_through_and_not_only_the_first(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    answers = ("The LITHIUM cell was first.", *("Nothing." for _ in range(8)), "Năng lượng lithium, and lithium.")
    backend.script(*(reply(say(answer), stop()) for answer in answers))
    session = await backend.create_session(title="Cells")
    for number in range(len(answers)):
        await backend.user.ask_for_events(session.session_id, f"Question {number}?")
    chat = await Chat.open(await new_profile())
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("nang luong lithium")
    hit = chat.sidebar.get_by_role("link", name="Cells")
    await expect(hit).to_contain_text("LITHIUM")
    await hit.click()
    bar = chat.page.get_by_role("region", name="Search results in this conversation")
    at = bar.get_by_role("status")
    await expect(at).to_have_text("1 of 3")
    assert await chat.page.evaluate(MARKED) == ["LITHIUM", "Năng lượng lithium", "lithium"]
    assert await chat.page.evaluate(NOW) == "LITHIUM at 4"
    later, earlier = bar.get_by_role("button", name="Next result"), bar.get_by_role("button", name="Previous result")
    await later.click()
    await expect(at).to_have_text("2 of 3")
    assert await chat.page.evaluate(NOW) == "Năng lượng lithium at 0"
    await expect(chat.log.get_by_text("Năng lượng")).to_be_in_viewport()
    await later.click()
    await expect(at).to_have_text("3 of 3")
    await later.click()
    await expect(at).to_have_text("1 of 3")
    await expect(chat.log.get_by_text("The LITHIUM cell was first.")).to_be_in_viewport()
    await earlier.click()
    await expect(at).to_have_text("3 of 3")
    await chat.page.get_by_role("button", name="Clear search").click()
    await expect(bar).to_have_count(0)
    assert await chat.page.evaluate(NOW) is None


async def test_what_is_found_in_a_file_is_named_and_opened(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="Reports")
    await session.write("/reports/battery.md", "# Battery\n\nMost of the cobalt is recovered.\n")
    profile = await new_profile()

    async def in_file(route: Route) -> None:
        response = await route.fetch()
        (found,) = (await response.json())["sessions"]
        found |= {"path": "/reports/battery.md", "excerpt": "Most of the cobalt is recovered.", "message_id": None}
        await route.fulfill(response=response, json={"sessions": [found], "next_cursor": None})

    await profile.context.route("**/v2/sessions?query=reports*", in_file)
    chat = await Chat.open(profile)
    await chat.show_sidebar()
    await chat.page.get_by_role("searchbox").fill("reports")
    hit = chat.sidebar.get_by_role("link", name="Reports")
    await expect(hit).to_contain_text("battery.md")
    await hit.click()
    await expect(chat.viewer.get_by_role("heading", name="battery.md")).to_be_visible()
    await expect(chat.viewer).to_contain_text("Most of the cobalt is recovered.")
