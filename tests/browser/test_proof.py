"""The verdicts on an answer: in its text, counted, and as a map."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from browser import axe
from browser.backend import PageBackend
from browser.conftest import NewProfile
from browser.page import Chat
from browser.proof import (
    ANSWER,
    CONTRADICTED,
    JUDGEMENTS,
    Judgement,
    answered_session,
    change_history,
    judge_answer,
)
from upstream import reply, say, stop

NO_SOURCE = re.compile("^no source$")


async def _open(backend: PageBackend, new_profile: NewProfile, **options: object) -> Chat:
    session_id = await answered_session(backend)
    profile = await new_profile(**options)
    await judge_answer(profile.context, backend, session_id)
    chat = await Chat.open(profile, f"/s/{session_id}")
    await expect(chat.log.get_by_role("mark")).to_have_count(6)
    return chat


def _statement(chat: Chat, words: str) -> Locator:
    return chat.log.locator(".md-statement").filter(has_text=words)


async def test_each_statement_that_is_not_supported_is_marked_in_the_text(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await _open(backend, new_profile)
    lines = {
        "recovered cobalt": ("partial", "dashed"),
        "forty": ("contradicted", "double"),
        "Hanoi": ("unsupported", "wavy"),
        "Of nickel": ("uncited", "dotted"),
        "study of 2021": ("unread", "solid"),
    }
    for words, (verdict, style) in lines.items():
        statement = _statement(chat, words)
        await expect(statement).to_have_attribute("data-verdict", verdict)
        await expect(statement).to_have_css("text-decoration-style", style)
        assert await statement.get_attribute("aria-description")
    supported = _statement(chat, "50 percent of the lithium")
    await expect(supported).to_have_css("text-decoration-line", "none")
    await expect(chat.log.get_by_text("Shall I look for more?")).to_be_visible()
    await expect(_statement(chat, "Shall I look for more?")).to_have_count(0)


async def test_the_card_of_a_footnote_says_why(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _open(backend, new_profile)
    card = chat.page.get_by_role("tooltip")
    await chat.footnote(1, "partly supported").hover()
    await expect(card).to_contain_text("Missing from the page: dealers have to label it")
    await expect(card).to_contain_text("Found by the model")
    await chat.footnote(1, "the page says otherwise").hover()
    await expect(card.locator("del")).to_have_text("forty")
    await expect(card.locator("strong").first).to_have_text("nine")
    await expect(card.locator("q strong")).to_have_text("nine")
    await chat.page.mouse.move(0, 0)
    await expect(card).to_have_count(0)
    await chat.button(NO_SOURCE).hover()
    await expect(card).to_contain_text("No page that was read here was found to say it.")
    await chat.page.mouse.move(0, 0)
    await expect(card).to_have_count(0)
    await chat.log.get_by_role("button", name="Footnote 7, page not read").hover()
    await expect(card).to_contain_text("was not read in this conversation")
    # The words themselves explain it too, to a pointer that rests on them.
    await chat.page.mouse.move(0, 0)
    await expect(card).to_have_count(0)
    await _statement(chat, "Hanoi").hover()
    await expect(card).to_contain_text("Not supported: the page does not say this")
    await expect(card).to_have_count(1)


async def test_the_card_of_a_statement_follows_the_pointer(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _open(backend, new_profile)
    card = chat.page.get_by_role("tooltip")
    await _statement(chat, "Hanoi").hover()
    await expect(card).to_contain_text("Not supported")
    beside = await card.bounding_box()
    # On the card itself the pointer closes nothing.
    await card.hover()
    await chat.page.wait_for_timeout(400)
    await expect(card).to_contain_text("Not supported")
    await _statement(chat, "forty").hover()
    await expect(card).to_contain_text("Contradicted")
    await expect(card).to_have_count(1)
    assert await card.bounding_box() != beside
    await chat.page.keyboard.press("Escape")
    await expect(card).to_have_count(0)
    await _statement(chat, "Of nickel").hover()
    await expect(card).to_contain_text("No source is given for this")
    await _statement(chat, "50 percent of the lithium").hover()
    await expect(card).to_have_count(0)
    await chat.page.wait_for_timeout(700)
    await expect(card).to_have_count(0)


async def test_a_statement_without_a_source_leads_to_the_source_that_says_it(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await _open(backend, new_profile)
    await chat.button("not cited · 1: source 1 says it").click()
    await expect(chat.drawer.locator("mark")).to_have_text(re.compile("For nickel"))
    await expect(chat.drawer).to_contain_text("The answer says: Of nickel, no less than 90 percent.")
    await expect(chat.drawer).to_contain_text("but the statement does not cite it")


async def test_a_contradiction_is_shown_word_for_word(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _open(backend, new_profile)
    await chat.footnote(1, "the page says otherwise").click()
    await expect(chat.drawer.locator(".sources-verdict del")).to_have_text(["forty"])
    mark = chat.drawer.locator("mark")
    await expect(mark).to_contain_text("European recyclers have delayed or shelved nine plants")
    await expect(mark.locator("strong")).to_have_text(["nine"])


async def test_the_counts_and_the_map_lead_to_each_statement(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _open(backend, new_profile)
    proof = chat.log.get_by_role("group", name="Checked statements")
    await expect(proof.locator(".proof-line")).to_have_text(
        "7 statements: 1 supported, 1 partly supported, 1 contradicted, 1 not supported, "
        "1 citing a page that wasn’t read, 2 without a source"
    )
    cells = proof.get_by_role("option")
    assert [await cell.get_attribute("data-verdict") for cell in await cells.all()] == [
        one.verdict for one in JUDGEMENTS
    ]
    await cells.nth(2).hover()
    await expect(proof.locator(".proof-card")).to_contain_text("Recyclers in Europe have shelved forty plants")
    await chat.page.mouse.move(0, 0)
    # One stop for the keyboard; the arrows go from statement to statement, Enter to its footnote.
    await proof.get_by_role("listbox").focus()
    await chat.page.keyboard.press("ArrowRight")
    await chat.page.keyboard.press("End")
    await expect(cells.last).to_have_attribute("aria-selected", "true")
    await chat.page.keyboard.press("ArrowLeft")
    await chat.page.keyboard.press("Enter")
    await expect(chat.button(NO_SOURCE)).to_be_focused()
    await chat.page.keyboard.press("Shift+Tab")
    await expect(chat.button("not cited · 1: source 1 says it")).to_be_focused()


LONG = "\n\n".join(f"Statement {number} says that there are {number} plants [1]." for number in range(400))


async def test_a_map_of_hundreds_of_statements_fits_and_leads_far(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    verdicts = ("supported", "partial", "contradicted", "unsupported")
    judged = [
        Judgement(f"Statement {number} says that there are {number} plants", verdicts[number % 4])
        for number in range(400)
    ]
    session_id = await answered_session(backend, LONG)
    profile = await new_profile(phone=True)
    await judge_answer(profile.context, backend, session_id, judged, LONG)
    chat = await Chat.open(profile, f"/s/{session_id}")
    cells = chat.log.get_by_role("option")
    await expect(cells).to_have_count(400)
    assert (await chat.log.get_by_role("listbox").bounding_box() or {})["height"] < 150
    assert await chat.log.evaluate("(log) => log.scrollWidth <= log.clientWidth")
    await cells.nth(10).click()
    await expect(_statement(chat, "Statement 10 says")).to_be_in_viewport()


@pytest.mark.parametrize("judged", [(CONTRADICTED,), ()], ids=["one", "none"])
async def test_one_statement_has_a_line_and_none_has_nothing(
    backend: PageBackend, new_profile: NewProfile, judged: tuple[Judgement, ...]
) -> None:
    session_id = await answered_session(backend)
    profile = await new_profile()
    await judge_answer(profile.context, backend, session_id, judged)
    chat = await Chat.open(profile, f"/s/{session_id}")
    await expect(chat.log.get_by_text("Shall I look for more?")).to_be_visible()
    lines = ["1 statement: 1 contradicted"] if judged else []
    await expect(chat.log.locator(".proof-line")).to_have_text(lines)


@pytest.mark.parametrize(
    ("locale", "line"),
    [
        ("vi", "7 nhận định: 1 có căn cứ, 1 có căn cứ một phần, 1 bị bác bỏ"),
        ("zh-CN", "7 条陈述：1 条有依据，1 条部分有依据，1 条与网页矛盾"),
    ],
)
async def test_the_proof_speaks_the_language_of_the_reader(
    backend: PageBackend, new_profile: NewProfile, locale: str, line: str
) -> None:
    chat = await _open(backend, new_profile, locale=locale)
    await expect(chat.log.locator(".proof-line")).to_contain_text(line)


@pytest.mark.parametrize(
    "form",
    [{}, {"color_scheme": "dark"}, {"phone": True}, {"phone": True, "color_scheme": "dark"}],
    ids=["desktop", "desktop-dark", "phone", "phone-dark"],
)
async def test_it_is_accessible(backend: PageBackend, new_profile: NewProfile, form: dict) -> None:
    chat = await _open(backend, new_profile, **form)
    assert await axe.accessibility_violations(chat.page) == []
    await chat.log.get_by_role("listbox").focus()
    await chat.page.keyboard.press("End")
    assert await axe.accessibility_violations(chat.page) == []
    await chat.footnote(1, "the page says otherwise").click()
    await expect(chat.drawer.locator("mark")).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []


ARABIC = "أُغلقت أربعون مصنعًا في أوروبا منذ 2024 [1]. والسعر ثابت."


async def test_marks_follow_text_from_right_to_left(backend: PageBackend, new_profile: NewProfile) -> None:
    session_id = await answered_session(backend, ARABIC)
    profile = await new_profile()
    judged = (
        Judgement("أُغلقت أربعون مصنعًا في أوروبا منذ 2024", "partial"),
        Judgement("والسعر ثابت.", "uncited", marker="", number=0),
    )
    await judge_answer(profile.context, backend, session_id, judged, ARABIC)
    chat = await Chat.open(profile, f"/s/{session_id}")
    first, chip = _statement(chat, "أُغلقت"), chat.log.locator(".chat-footnote").first
    await expect(first).to_have_css("direction", "rtl")
    said, mark = await first.bounding_box(), await chip.bounding_box()
    assert said
    assert mark
    assert mark["x"] < said["x"]
    await expect(chat.button(NO_SOURCE)).to_be_visible()


async def test_the_copied_answer_keeps_its_doubts_and_no_marks(backend: PageBackend, new_profile: NewProfile) -> None:
    chat = await _open(backend, new_profile)
    await chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await chat.button("Copy answer").click()
    copied = await chat.page.evaluate(
        """async () => {
          // The copy is written a moment after the click.
          for (;;) {
            const [item] = await navigator.clipboard.read();
            if (item?.types.includes("text/html")) return (await item.getType("text/html")).text();
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }"""
    )
    assert "[1~]" in copied
    assert "[1≠]" in copied
    assert "[1?]" in copied
    assert "[no source]" in copied
    assert "md-statement" not in copied
    assert ANSWER.startswith("## What recyclers")


async def test_what_does_not_hold_is_sent_to_the_model_to_correct(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    chat = await _open(backend, new_profile)
    backend.script(reply(say("Recyclers have shelved nine plants [1]."), stop()))
    await chat.button("Correct this").click()
    question = chat.log.locator(".chat-question").last
    await expect(question).to_contain_text("“Recyclers in Europe have shelved forty plants since early 2024”")
    await expect(question).to_contain_text("the page says otherwise: “European recyclers have delayed")
    await expect(question).to_contain_text("“Prices of black mass fell by 12 percent in 2023.”: it has no source")
    await expect(question).not_to_contain_text("dealers have to label")
    await chat.wait_for_answer()
    # Only the last answer can be corrected, and this one holds.
    await expect(chat.button("Correct this")).to_have_count(0)


async def test_an_answer_without_any_look_up_says_so_and_offers_one(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    backend.script(reply(say("Oxygen was named in 1777."), stop()))
    session_id = await backend.user.create_session(title="Oxygen")
    await backend.user.ask_for_events(session_id, "Who named oxygen?")
    profile = await new_profile()
    await change_history(profile.context, session_id, lambda history: history["turns"][0].update(unsourced=True))
    chat = await Chat.open(profile, f"/s/{session_id}")
    await expect(chat.log.get_by_text("Nothing was looked up for this answer.")).to_be_visible()
    assert await axe.accessibility_violations(chat.page) == []
    backend.script(reply(say("Lavoisier did."), stop()))
    await chat.button("Look it up").click()
    await expect(chat.log.locator(".chat-question").last).to_contain_text(
        "Look this up and answer with footnotes: Who named oxygen?"
    )
    await chat.wait_for_answer()


async def test_disagreements_of_sources_stand_side_by_side_and_open_their_passages(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session_id = await answered_session(backend)
    source = (await backend.user.request("GET", f"/v2/sessions/{session_id}/sources/1")).json
    page = source["snapshots"][0]["text"]

    def side(text: str, published: str | None = None) -> dict[str, object]:
        start = page.index(text)
        return {
            "text": text,
            "number": 1,
            "quote_start": start,
            "quote_end": start + len(text),
            "published": published,
        }

    def disagree(history: dict[str, Any]) -> None:
        [result] = [message for message in history["messages"] if message["role"] == "tool"]
        values = [side("50 percent", "2024-05-01"), side("90 percent")]
        result["artifact"]["disagreements"] = [{"about": "Recovered share", "values": values}]

    profile = await new_profile()
    await change_history(profile.context, session_id, disagree)
    chat = await Chat.open(profile, f"/s/{session_id}")
    await chat.log.get_by_role("button", name=re.compile("Search the web")).click()
    table = chat.log.get_by_role("table", name="Sources disagree")
    await expect(table.get_by_role("rowheader")).to_have_text(["Recovered share"])
    await expect(table).to_contain_text("May 1, 2024")
    assert await axe.accessibility_violations(chat.page) == []
    await table.get_by_role("button", name=re.compile("^90 percent")).click()
    await expect(chat.drawer.locator("mark")).to_have_text(["90 percent"])
