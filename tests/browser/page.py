"""Page object of the web page: elements are found by their accessible names, as users find them."""

import asyncio
import difflib
import re
from typing import Self

from playwright.async_api import FilePayload, Locator, Page, expect

from browser.browser_profile import TIMEOUT_SECONDS, BrowserProfile
from browser.waiting import wait_until

# Attributes that may differ between two loads of the same conversation.
AS_SHOWN = r"""(log) => {
  const copy = log.cloneNode(true);
  // A line that counts seconds.
  for (const waiting of copy.querySelectorAll(".chat-waiting")) waiting.replaceWith("Working…");
  // Bars that show how the time goes by.
  for (const bars of copy.querySelectorAll(".chat-budget, .chat-budget-line")) bars.remove();
  // What was said to screen readers last.
  for (const said of copy.querySelectorAll(".ui-hidden[role=status]")) said.textContent = "";
  for (const element of copy.querySelectorAll("*")) {
    for (const name of ["id", "for", "style", "popovertarget"]) element.removeAttribute(name);
    // An attribute that was set later stands behind the others, which means nothing.
    const attributes = [...element.attributes].sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const { name } of attributes) element.removeAttribute(name);
    for (const { name, value } of attributes)
      if (!/^aria-(activedescendant|labelledby|controls|describedby|owns|details)$/.test(name))
        element.setAttribute(name, value);
  }
  return copy.innerHTML.replace(/>\s*</g, ">\n<");
}"""


def difference(expected: str, actual: str) -> str:
    return "\n".join(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "wanted", "seen", lineterm=""))


class Chat:
    """One tab with the page, in English."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log = page.get_by_role("log")
        self.drawer = page.get_by_role("complementary", name="Sources and files")
        self.viewer = page.get_by_role("dialog")
        self.sidebar = page.get_by_role("navigation", name="Conversations")
        self.composer = page.get_by_role("form", name="Your question").get_by_role("textbox")
        self.send = page.get_by_role("button", name="Send", exact=True)
        self.stop = page.get_by_role("button", name=re.compile("^Stop"))
        self.failure = self.log.locator(".chat-failure")

    @classmethod
    async def open(cls, profile: BrowserProfile, path: str = "/") -> Self:
        return cls(await profile.open_tab(path))

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    async def choose(self, menu: Locator, item: str | re.Pattern[str]) -> None:
        """Opens a menu by its button, and clicks an item."""
        await menu.click()
        pattern = re.compile(f"^{re.escape(item)}") if isinstance(item, str) else item
        await self.page.get_by_role("menu").locator("[role^=menuitem]").filter(has_text=pattern).first.click()

    async def press(self, keys: str) -> None:
        """Presses keys while no field has the focus."""
        await self.page.evaluate("() => document.activeElement?.blur()")
        await self.page.keyboard.press(keys)

    # The conversation

    async def ask(self, question: str) -> None:
        await self.composer.fill(question)
        await self.send.click()

    async def ask_and_wait(self, question: str) -> None:
        """Asks, and waits for the end of the answer."""
        await self.ask(question)
        await expect(self.log.get_by_role("heading", name="You", exact=True).last).to_be_attached()
        await self.wait_for_answer()

    async def wait_for_answer(self, seconds: float = TIMEOUT_SECONDS) -> None:
        # The answer is awaited first: before it exists, there is no stop button either, and the next line would pass
        # too early.
        answer = self.log.locator(".chat-answer").last
        await expect(answer).to_be_attached()
        await expect(answer).not_to_have_attribute("aria-busy", "true", timeout=seconds * 1000)
        await expect(self.stop).to_have_count(0)
        await expect(self.send).to_be_visible()

    async def retry(self) -> None:
        await self.wait_for_settings()
        await self.choose(self.log.get_by_role("button", name="Answer again").last, re.compile("model"))

    async def edit(self, question: str, instead: str) -> None:
        await self.log.get_by_role("button", name="Edit question").last.click()
        field = self.log.get_by_role("textbox", name="Your question")
        await expect(field).to_have_value(question)
        await field.fill(instead)
        await self.log.get_by_role("button", name="Save and ask").click()

    def footnote(self, number: int, verdict: str) -> Locator:
        return self.log.get_by_role("button", name=f"Footnote {number}, {verdict}")

    async def conversation_text(self) -> str:
        """The HTML of the conversation, without attributes that differ between two loads."""
        await self.wait_for_settings()
        return await self.log.evaluate(AS_SHOWN)

    async def expect_conversation(self, expected: str) -> None:
        """Waits until the conversation equals `expected`, because the page loads its parts one after the other."""
        now = await wait_until(self.conversation_text, lambda now: now == expected)
        assert now == expected, difference(expected, now)

    async def expect_same_as(self, other: Self) -> None:
        here, there = await wait_until(
            lambda: asyncio.gather(self.conversation_text(), other.conversation_text()), lambda both: both[0] == both[1]
        )
        assert here == there, difference(there, here)

    async def wait_for_settings(self) -> None:
        """Models and limits are loaded after the page, and the menu of an answer offers each of the models."""
        await expect(self.button(re.compile("^Model: "))).to_be_visible()

    async def log_text(self) -> str:
        return await self.log.inner_text()

    # Files

    async def attach(self, *files: FilePayload | str) -> None:
        async with self.page.expect_file_chooser() as choosing:
            await self.button("Attach files").click()
        await (await choosing.value).set_files(list(files))

    def attachment(self, name: str | re.Pattern[str]) -> Locator:
        """The chip of a file that is attached to the next question."""
        form = self.page.get_by_role("form", name="Your question")
        return form.get_by_role("list", name="Attached files").get_by_role("listitem").filter(has_text=name)

    async def open_files(self) -> None:
        await self._open_drawer("Files")

    async def open_sources(self) -> None:
        await self._open_drawer("Sources")

    async def _open_drawer(self, name: str) -> None:
        await self.button(re.compile(rf"^{name}( \(?\d+\)?)?$")).first.click()
        await expect(self.drawer).to_be_visible()

    async def close_drawer(self) -> None:
        await self.drawer.get_by_role("button", name="Close panel").click()
        await expect(self.drawer).to_have_count(0)

    async def open_file(self, name: str) -> None:
        row = self.drawer.get_by_role("listitem").filter(has=self.page.get_by_text(name, exact=True))
        await row.get_by_role("button").first.click()
        await expect(self.viewer.get_by_role("heading", name=name)).to_be_visible()

    async def export(self, kind: str) -> None:
        await self.choose(self.viewer.get_by_role("button", name=re.compile("^Actions for")), f"Export as {kind}")

    async def show_version(self, number: int) -> None:
        await self.choose(self.viewer.get_by_role("button", name=re.compile("^Version ")), f"Version {number}")

    # Conversations and settings

    async def show_sidebar(self) -> None:
        await expect(self.composer).to_be_visible()
        if not await self.sidebar.is_visible():
            await self.button(re.compile("^Conversations$")).click()
        await expect(self.sidebar).to_be_visible()

    async def new_conversation(self) -> None:
        await self.page.get_by_role("link", name="New conversation").click()

    async def rename(self, title: str, instead: str) -> None:
        await self.choose(self.button(f"Actions for “{title}”"), "Rename")
        field = self.page.get_by_role("textbox", name="Conversation title")
        await field.fill(instead)
        await field.press("Enter")

    async def remove(self, title: str) -> None:
        await self.choose(self.button(f"Actions for “{title}”"), "Delete")
        await self.viewer.get_by_role("button", name="Delete").click()
        await expect(self.viewer).to_have_count(0)

    async def open_settings(self) -> None:
        await self.show_sidebar()
        await self.button("Settings").click()
        await expect(self.page.get_by_role("dialog", name="Settings")).to_be_visible()

    async def set(self, name: str) -> None:
        """Chooses a radio button of the settings by clicking its label."""
        await self.viewer.locator("label").filter(has=self.page.get_by_role("radio", name=name, exact=True)).click()

    async def log_in(self, name: str, password: str) -> None:
        await self.page.get_by_label("Name", exact=True).fill(name)
        await self.page.get_by_label("Password", exact=True).fill(password)
        await self.button("Sign in").click()
