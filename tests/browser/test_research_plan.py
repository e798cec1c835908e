"""A research run in the page: asked for, made clear, planned, changed while it runs, and the same after a reload."""

import re
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from browser.axe import accessibility_violations
from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.research_events import ScriptedResearch, found_source, plan_item, supported_citation

QUESTION = "How do sodium-ion batteries compare with lithium iron phosphate?"
COST, LIFE, SAFETY, MARKET = (
    "What do they cost per kilowatt-hour?",
    "How long do they last?",
    "How safe are they in the cold?",
    "Which products can be bought?",
)
ITEMS = [plan_item(f"q{number}", text) for number, text in enumerate((COST, LIFE, SAFETY, MARKET), 1)]
FOUND = "Cells cost 59 dollars per kilowatt-hour [1]. They come from two makers [1]."
ANSWER = "Sodium-ion cells cost 59 dollars per kilowatt-hour [1]. The rest is in the report."


@pytest_asyncio.fixture(loop_scope="session")
async def research(backend: PageBackend) -> ScriptedResearch:
    return ScriptedResearch(backend)


async def _open(research: ScriptedResearch, new_profile: NewProfile, **options: Any) -> Chat:
    profile = await new_profile(**options)
    await research.serve(profile.context)
    return await Chat.open(profile)


def _mode(chat: Chat) -> Locator:
    return chat.page.get_by_role("button", name="Research", exact=True)


async def _ask(chat: Chat, question: str = QUESTION) -> None:
    await _mode(chat).click()
    await chat.ask(question)


async def _begin(chat: Chat, research: ScriptedResearch) -> None:
    """The first item runs, the others are pending."""
    await _ask(chat)
    await research.wait_asked()
    research.start(ITEMS)
    research.update(ITEMS[0] | {"status": "running"})
    research.search("q1", "battery prices")
    await expect(_row(chat, COST)).to_contain_text("In progress")


def _plan(chat: Chat) -> Locator:
    return chat.log.get_by_role("list", name="Research plan")


def _row(chat: Chat, question: str) -> Locator:
    return _plan(chat).get_by_role("listitem").filter(has_text=question)


def _end(research: ScriptedResearch) -> None:
    research.find("q1", "battery prices", found_source(1, "iea.example", "Batteries"))
    sentences = ("Cells cost 59 dollars per kilowatt-hour", "They come from two makers")
    research.say(FOUND, [supported_citation(FOUND, sentence, 1) for sentence in sentences], "q1")
    research.update(*(item | {"status": "done"} for item in research.items))
    research.write(1, 2, "Prices")
    research.write_file("/report.md")
    research.say(ANSWER, [supported_citation(ANSWER, "Sodium-ion cells cost 59 dollars per kilowatt-hour", 1)])
    research.spend(321, 0.21, 31)
    research.end()


# Asking


async def test_the_mode_the_limits_and_the_template_go_with_the_question(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    chat = await _open(research, new_profile)
    await chat.composer.fill(QUESTION)
    await _mode(chat).click()
    await chat.button("Limits").click()
    await chat.choose(chat.button("Time: Standard"), "Up to 5 minutes")
    await chat.choose(chat.button("Cost: Standard"), "Up to $0.50")
    await chat.choose(chat.button("Report: Automatic"), "Comparison")
    # They are kept with the words.
    await chat.page.reload()
    await expect(chat.composer).to_have_value(QUESTION)
    await expect(_mode(chat)).to_have_attribute("aria-pressed", "true")
    await chat.button("Limits: 5 minutes, $0.50").click()
    await expect(chat.button("Report: Comparison")).to_be_visible()
    await chat.send.click()
    asked = await research.wait_asked()
    assert asked["mode"] == "research"
    assert asked["budget"] == {"seconds": 300, "usd": 0.5}
    assert asked["template"] == "comparison"
    # The next question is an ordinary one.
    await expect(_mode(chat)).to_have_attribute("aria-pressed", "false")
    await expect(chat.page.get_by_role("group", name="Limits")).to_have_count(0)


async def test_an_ordinary_question_may_have_limits_too(research: ScriptedResearch, new_profile: NewProfile) -> None:
    chat = await _open(research, new_profile)
    await chat.button("Limits").click()
    await chat.choose(chat.button("Pages: No limit"), "Up to 10 pages")
    await expect(chat.button(re.compile("^Report"))).to_have_count(0)
    await chat.ask(QUESTION)
    asked = await research.wait_asked()
    assert (asked["mode"], asked["budget"]) == ("answer", {"pages": 10})
    assert research.unclear == []


async def test_the_first_page_leads_to_research(research: ScriptedResearch, new_profile: NewProfile) -> None:
    chat = await _open(research, new_profile)
    await chat.button(re.compile("^Research a question")).click()
    await expect(_mode(chat)).to_have_attribute("aria-pressed", "true")
    await expect(chat.composer).to_be_focused()


# Making the question clear


async def test_what_is_meant_is_asked_and_the_answer_goes_under_the_question(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    research.clarification = {"question": "Which market?", "answers": ["Europe", "Worldwide"]}
    chat = await _open(research, new_profile)
    await _ask(chat)
    await expect(chat.page.get_by_role("textbox", name="Your answer")).to_be_focused()
    assert await accessibility_violations(chat.page) == []
    await chat.button("Europe").click()
    asked = await research.wait_asked()
    assert asked["content"] == f"{QUESTION}\n\nWhich market?\nEurope"
    assert research.unclear[0]["content"] == QUESTION


async def test_an_answer_may_be_written_or_left_out_or_the_question_changed(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    research.clarification = {"question": "Which market?", "answers": []}
    chat = await _open(research, new_profile)
    await _ask(chat)
    own = chat.page.get_by_role("textbox", name="Your answer")
    await chat.button("Edit the question").click()
    await expect(chat.composer).to_have_value(QUESTION)
    await expect(_mode(chat)).to_have_attribute("aria-pressed", "true")
    await chat.composer.press("Enter")
    await own.press("Escape")
    await expect(chat.composer).to_be_focused()
    await chat.composer.press("Enter")
    await own.fill("Vietnam")
    await own.press("Enter")
    asked = await research.wait_asked()
    assert asked["content"].endswith("Which market?\nVietnam")


async def test_a_clarification_that_fails_or_takes_long_keeps_nobody_waiting(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    research.clarification_status = 404
    chat = await _open(research, new_profile)
    await _ask(chat)
    asked = await research.wait_asked()
    assert asked["content"] == QUESTION

    research.clarified.clear()
    await chat.page.goto(chat.page.url.split("/s/")[0])
    await _ask(chat, "Another question")
    await expect(chat.page.get_by_text("Checking whether the question is clear")).to_be_visible()
    await chat.page.reload()
    await expect(chat.composer).to_have_value("Another question")
    await expect(_mode(chat)).to_have_attribute("aria-pressed", "true")
    await chat.send.click()
    await chat.button("Skip").click()
    asked = await research.wait_asked(2)
    assert asked["content"] == "Another question"
    research.clarified.set()


# The plan


async def test_the_plan_shows_what_goes_on_in_each_question(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    chat = await _open(research, new_profile)
    await _begin(chat, research)
    research.read("q1", "iea.example", "nature.example")
    research.spend(72, 0.08, 2)
    await expect(_row(chat, COST).locator("[data-reading]")).to_have_count(2)
    await expect(chat.log).to_contain_text("$0.08 / $1.00")
    await expect(chat.log).to_contain_text(re.compile(r"1:1\d / 15:00"))
    assert await accessibility_violations(chat.page) == []
    await _row(chat, COST).get_by_role("button").click()
    await expect(_row(chat, COST)).to_contain_text("battery prices")
    # What belongs to an item stands nowhere else.
    await expect(chat.log.locator(".chat-answer > .chat-tool")).to_have_count(0)
    _end(research)
    await chat.wait_for_answer()
    await expect(chat.log).to_contain_text(ANSWER.partition(" [1]")[0])
    fold = chat.log.get_by_role("button", name=re.compile("^Research"))
    await expect(fold).to_contain_text("4 questions · 2 statements · 1 source · 5 min 21 s · $0.21")
    # Who reads what was found for a question goes on reading. Who comes later sees the answer first.
    await expect(_row(chat, COST)).to_contain_text("They come from two makers")
    await chat.page.reload()
    await expect(fold).to_contain_text("4 questions")
    await expect(_plan(chat)).to_have_count(0)
    await fold.click()
    await expect(_row(chat, COST)).to_contain_text("2 statements · 1 source")
    await expect(chat.log.get_by_role("group", name="Statements")).to_contain_text("1 supported")
    assert await accessibility_violations(chat.page) == []


async def test_the_plan_is_changed_while_it_runs(research: ScriptedResearch, new_profile: NewProfile) -> None:
    chat = await _open(research, new_profile)
    await _begin(chat, research)
    await chat.button(f"Move down: {LIFE}").press("Enter")
    await expect(_plan(chat).locator(".chat-plan-question")).to_have_text([COST, SAFETY, LIFE, MARKET])
    await expect(chat.button(f"Move down: {LIFE}")).to_be_focused()
    await chat.button(f"Reword: {LIFE}").click()
    field = chat.page.get_by_role("textbox", name=f"Reword: {LIFE}")
    await field.fill("How many cycles do they last?")
    await field.press("Enter")
    await chat.button(f"Drop: {SAFETY}").click()
    await chat.button("Add a question").click()
    await chat.page.get_by_role("textbox", name="New question").fill("Who makes them?")
    await chat.page.keyboard.press("Enter")
    changed = [COST, SAFETY, "How many cycles do they last?", MARKET, "Who makes them?"]
    await expect(_plan(chat).locator(".chat-plan-question")).to_have_text(changed)
    await expect(_row(chat, SAFETY)).to_contain_text("Dropped")
    await expect(chat.button("Drop: Who makes them?")).to_be_visible()
    assert len(research.plans) == 4
    assert research.plans[0] == [{"id": item_id} for item_id in ("q1", "q3", "q2", "q4")]
    assert {"id": "q3", "status": "dropped"} in research.plans[2]
    assert {"question": "Who makes them?"} in research.plans[3]
    # Items that have begun cannot be changed.
    await expect(_row(chat, COST).get_by_role("button", name=re.compile("^(Drop|Move|Reword)"))).to_have_count(0)
    # What was dropped may come back.
    await chat.button(f"Add again: {SAFETY}").click()
    await expect(_row(chat, SAFETY)).to_contain_text("Waiting")
    assert {"id": "q3", "status": "pending"} in research.plans[4]
    research.update(*(item | {"status": "done"} for item in research.items))
    await expect(chat.button("Add a question")).to_have_count(0)


async def test_a_change_that_is_refused_is_said_and_taken_back(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    chat = await _open(research, new_profile)
    await _begin(chat, research)
    research.plan_refusal = {"type": "conflict", "message": "The report is being written.", "retryable": False}
    await chat.button(f"Drop: {MARKET}").click()
    await expect(chat.page.get_by_text("The report is being written.")).to_be_visible()
    await expect(_row(chat, MARKET)).to_contain_text("Waiting")


async def test_the_researchers_are_told_something_and_asked_to_finish(
    research: ScriptedResearch, new_profile: NewProfile
) -> None:
    chat = await _open(research, new_profile)
    await _begin(chat, research)
    await expect(chat.composer).to_have_attribute("placeholder", "Tell the researchers something…")
    await chat.composer.fill("Leave out lead-acid")
    await chat.composer.press("Enter")
    await expect(chat.log.get_by_role("list", name="You said")).to_contain_text("Leave out lead-acid")
    await expect(chat.composer).to_have_value("")
    assert research.said == ["Leave out lead-acid"]
    # A question for later waits for the end.
    await chat.composer.fill("And what about lead-acid?")
    await chat.button("Send when the answer is done").click()
    await expect(chat.page.get_by_text("Will be sent when the answer is done")).to_be_visible()
    await chat.button("Edit again").click()
    await chat.composer.fill("")
    await chat.button("Finish now").click()
    await expect(chat.button("Finishing…")).to_be_visible()
    await expect(_row(chat, MARKET)).to_contain_text("Dropped")
    assert (research.finished, research.asked[1:]) == (1, [])


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_every_phase_is_the_same_after_a_reload(
    research: ScriptedResearch, new_profile: NewProfile, *, phone: bool
) -> None:
    chat = await _open(
        research, new_profile, phone=phone, **({"viewport": {"width": 360, "height": 780}} if phone else {})
    )

    async def reload() -> None:
        before = await chat.conversation_text()
        await chat.page.reload()
        await chat.expect_conversation(before)
        assert not await chat.page.evaluate("document.documentElement.scrollWidth > innerWidth")

    await _ask(chat)
    await research.wait_asked()
    await chat.page.reload()
    await expect(chat.stop).to_be_visible()
    research.start(ITEMS)
    await expect(_row(chat, MARKET)).to_contain_text("Waiting")
    await reload()
    research.update(ITEMS[0] | {"status": "running"})
    research.search("q1", "battery prices")
    research.read("q1", "iea.example")
    await expect(_row(chat, COST).locator("[data-reading]")).to_have_count(1)
    await reload()
    await chat.button(f"Drop: {MARKET}").click()
    await chat.composer.fill("Only Europe")
    await chat.composer.press("Enter")
    await expect(chat.log).to_contain_text("Only Europe")
    await reload()
    research.find("q1", "battery prices", found_source(1, "iea.example", "Batteries"))
    research.update(*(item | {"status": "done"} for item in research.items[:3]))
    research.write(1, 3, "Prices")
    await expect(chat.log).to_contain_text("Writing the report · 1 of 3 sections · Prices")
    await reload()
    research.write_file("/report.md")
    research.say(ANSWER, [supported_citation(ANSWER, "Sodium-ion cells cost 59 dollars per kilowatt-hour", 1)])
    await expect(chat.log).to_contain_text("The rest is in the report.")
    await reload()
    research.end()
    await chat.wait_for_answer()
    await reload()


async def test_what_an_item_does_redraws_nothing_else(research: ScriptedResearch, new_profile: NewProfile) -> None:
    chat = await _open(research, new_profile)
    await _begin(chat, research)
    research.update(ITEMS[1] | {"status": "running"})
    await expect(_row(chat, LIFE)).to_contain_text("In progress")
    await chat.page.evaluate(
        """([first, other]) => {
          window.changes = [];
          const watch = (element, name) => new MutationObserver((seen) => seen.forEach(() => window.changes.push(name)))
            .observe(element, { subtree: true, childList: true, characterData: true, attributes: true });
          const rows = [...document.querySelectorAll(".chat-plan-item")];
          watch(rows.find((row) => row.textContent.includes(first)), "first");
          watch(rows.find((row) => row.textContent.includes(other)), "other");
          watch(document.querySelector(".chat-question, .chat-turn > :first-child"), "question");
        }""",
        [COST, LIFE],
    )
    for number in range(200):
        research.read("q1", f"site{number}.example")
    await expect(_row(chat, COST).locator(".chat-plan-more")).to_have_text("+194")
    changes = await chat.page.evaluate("window.changes")
    assert set(changes) == {"first"}
    assert len(changes) < 200
