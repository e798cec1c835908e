"""Footnotes: their position in the line, and the statement and passage that they show."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from browser.backend import QUESTION, PageBackend, oxygen_script
from browser.conftest import NewProfile
from browser.page import Chat
from browser.proof import JUDGEMENTS, PLANTS, Judgement, answered_session, judge_answer
from server.forms import upload_files
from upstream import call, reply, say, stop

CLAIM = "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."
ANSWER = "\n\n".join(
    (
        " ".join(f"{'so ' * number}{CLAIM}" for number in range(12)),
        (
            "- **Lavoisier named it** [1], and *others* [1]; (see `oxygen` [1]).\n"
            "- 氧气由拉瓦锡在一七七七年命名[1]。据说如此 [1]，"
        ),
        "Ba lần [1][1] [1], bốn lần [1, 1][1] [1][1]. An array a[1] stays as it is.",
        " ".join(
            f'{"so " * number}**It is so [1]**. He *said so [1]*, "as it is [1]" (5 [1]%).' for number in range(6)
        ),
    )
)
APART = r"""(chip) => {
  const texts = document.createTreeWalker(chip.closest(".md"), NodeFilter.SHOW_TEXT);
  const [before, after] = [[], []];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (chip.contains(node) || node.parentElement.closest(".chat-footnote") || !node.data) continue;
    const side = chip.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING ? before : after;
    side.push(node);
  }
  const mark = chip.querySelector(".chat-footnote-mark").getBoundingClientRect();
  const letterAt = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return [node.data[at], range.getClientRects()[0] ?? null];
  };
  const here = chip.getBoundingClientRect();
  const isBeside = (other) => other !== null && other.top < here.bottom && here.top < other.bottom;
  const isFirst = chip.parentElement.previousElementSibling?.querySelector(".chat-footnote") === null
    || !chip.parentElement.previousElementSibling;
  const last = before.at(-1);
  const [letter, place] = letterAt(last, last.length - 1);
  const problems = [];
  if (isFirst && /\s/.test(letter)) problems.push(`a space before it: ${last.data.slice(-20)}`);
  if (isFirst && !isBeside(place)) problems.push(`it begins a line after ${last.data.slice(-20)}`);
  // Letters lean out of their boxes, in italics above all: half a pixel is nothing that is seen.
  if (isFirst && place && mark.left < place.right - 0.5) problems.push(`it covers the end of ${last.data.slice(-20)}`);
  const next = after[0];
  const isLast = !chip.parentElement.nextElementSibling?.querySelector(".chat-footnote");
  if (isLast && next && /[.,;:)"%。，]/.test(next.data[0]) && !isBeside(letterAt(next, 0)[1]))
    problems.push(`${next.data.slice(0, 20)} begins a line`);
  return problems;
}"""


async def _separated_chips(chat: Chat) -> list[Any]:
    chips = await chat.log.locator(".chat-footnote").all()
    assert len(chips) > 20
    return [problem for chip in chips for problem in await chip.evaluate(APART)]


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_a_footnote_stays_with_its_word_and_its_punctuation_at_every_width(
    backend: PageBackend, new_profile: NewProfile, *, phone: bool
) -> None:
    backend.script(*oxygen_script(say(ANSWER)))
    chat = await Chat.open(await new_profile(phone=phone))
    await chat.ask_and_wait(QUESTION)
    await expect(chat.log).to_contain_text("An array a[1] stays as it is.")
    assert await _separated_chips(chat) == []
    for width in (390, 340) if phone else (1000, 941, 883, 797, 761):
        await chat.page.set_viewport_size({"width": width, "height": 800})
        assert await _separated_chips(chat) == [], f"at {width} px"
    shown = await chat.log.locator(".md").last.evaluate("(text) => text.scrollWidth <= text.clientWidth")
    assert shown, "a line is wider than the column"


OTHERWISE = "Recyclers in Europe have shelved **forty** plants since early 2024"


async def test_a_passage_that_says_something_else_is_told_and_marked_as_such(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session_id = await answered_session(backend)
    profile = await new_profile()
    judged = (JUDGEMENTS[0], Judgement(OTHERWISE, "unsupported", PLANTS))
    await judge_answer(profile.context, backend, session_id, judged)
    chat = await Chat.open(profile, f"/s/{session_id}")
    await chat.footnote(1, "not supported").click()
    note = chat.drawer.locator(".sources-verdict")
    await expect(note).to_contain_text("The closest passage, highlighted below, says something else.")
    await expect(note).not_to_contain_text("from the top")
    await expect(note.locator("strong")).to_have_text(["forty"])
    mark = chat.drawer.locator("mark")
    await expect(mark).to_contain_text("shelved nine plants")
    await expect(mark).to_have_css("border-bottom-style", "dashed")
    await expect(mark.locator("strong")).to_have_text(["nine"])
    # Supported statements keep the usual mark.
    await chat.footnote(1, "supported").first.click()
    await expect(mark).to_have_css("border-bottom-style", "none")
    await expect(mark.locator("strong")).to_have_count(0)


async def test_a_contradiction_whose_words_are_not_known_is_shown_as_a_whole(
    backend: PageBackend, new_profile: NewProfile
) -> None:
    session_id = await answered_session(backend)
    profile = await new_profile()
    await judge_answer(profile.context, backend, session_id, (Judgement(OTHERWISE, "contradicted", PLANTS),))
    chat = await Chat.open(profile, f"/s/{session_id}")
    await chat.footnote(1, "the page says otherwise").click()
    mark = chat.drawer.locator("mark")
    await expect(mark).to_have_css("border-bottom-style", "dashed")
    await expect(mark.locator("strong")).to_have_count(0)
    await expect(chat.drawer.locator(".sources-verdict :is(strong, del)")).to_have_count(0)


GUIDE = """# Guide

Run `make check` before **every** commit; see [the rules](https://a.example/rules).

```sh
make check
make page
```
"""
SAID = (
    "Run make check before every commit [1].\n\nThen this:\n\n```sh\nmake check\nmake page\n```\n\n"
    "All of `make check` runs before **every** commit [1]."
)


async def test_markdown_that_was_read_is_shown_as_words(backend: PageBackend, new_profile: NewProfile) -> None:
    session = await backend.create_session(title="Guide")
    await upload_files(backend.user, session.session_id, ("guide.md", GUIDE.encode()))
    backend.script(
        reply(call("read_page", {"url": "footnote://files/guide.md"}, id="call_read"), stop("toolUse")),
        reply(say(SAID), stop()),
    )
    chat = await Chat.open(await new_profile(), f"/s/{session.session_id}")
    await chat.ask_and_wait("What does it say?")
    await chat.log.locator(".chat-footnote").first.hover()
    card = chat.page.get_by_role("tooltip")
    await expect(card).to_contain_text("Run make check before every commit; see the rules.")
    await chat.log.locator(".chat-footnote").last.click()
    await expect(chat.drawer.locator(".sources-verdict blockquote")).not_to_contain_text(re.compile(r"[`*\\]"))
    text = chat.drawer.get_by_role("region", name="Text as it was read")
    await expect(text.locator("p").nth(1)).to_have_text("Run make check before every commit; see the rules.")
    await expect(text.locator("p code")).to_have_text("make check")
    await expect(text.locator("pre")).to_contain_text("make page")
    await expect(text.locator("mark").first).to_be_visible()
