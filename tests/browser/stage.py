"""What stands behind the page in a test: the server, a scripted model, a provider of search and a small web."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footnote.protocol.accounts import Login
from server.desk import Desk
from server.house import House, Person, open_house
from upstream import Upstream, call, reply, say, stop, think
from upstream.server import Scripted
from upstream.steps import Step
from web import Web
from web.providers import Hit, SearchServer

QUESTION = "Who coined the name oxygen in 1777?"
NAMED = "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."
WRONG = "It was invented in Hanoi in 1999 [1]."
REPORT = (
    "# Oxygen\n\nThe name was coined in **1777** by Antoine Lavoisier [1].\n\n| sign | number |\n|---|---|\n| O | 8 |\n"
)
SEARCH = {"query": "name of oxygen", "prompt": "who coined it"}


@dataclass
class Stage:
    house: House
    upstream: Upstream
    web: Web
    search: SearchServer
    cookie: str

    @property
    def user(self) -> Person:
        return self.house.local

    @property
    def origin(self) -> str:
        return self.house.url

    def script(self, *script: Scripted) -> None:
        self.upstream.script(*script)

    async def create_session(self, **fields: Any) -> Desk:
        return Desk(self.user, await self.user.create_session(**fields))

    async def login_address(self) -> str:
        """As `footnote serve` prints it."""
        return f"/login?token={await self.house.app.accounts.create_login_token()}"


@asynccontextmanager
async def open_stage(
    home: Path, upstream: Upstream, hits: Sequence[str] = ("/en/Oxygen",), **settings: str
) -> AsyncIterator[Stage]:
    """`hits`: the pages of the small web that a search finds."""
    async with Web() as web:
        found = [Hit(path.rpartition("/")[2].replace("_", " "), web.url(path), f"About {path}.") for path in hits]
        async with SearchServer("duckduckgo", found) as search:
            known = {
                "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
                "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": "60",
                **settings,
            }
            async with open_house(home, upstream, **known) as house:
                accounts = house.app.accounts
                _, cookie = await accounts.log_in(Login(token=await accounts.create_login_token()))
                yield Stage(house, upstream, web, search, cookie)


def oxygen_script(*last: Step, before: Callable[[str], Sequence[Step]] = lambda _: ()) -> tuple[Scripted, ...]:
    """A whole turn: thinking, a search, a report and an answer with one true and one false footnote.

    `before(place)` are steps that come before thinking, search, report and text; `last` takes the place of the answer.
    """
    answer = last or (say("The name oxygen ", "was coined in 1777 ", "by Antoine Lavoisier [1]. "), say(WRONG))
    return (
        reply(
            *before("thinking"),
            think("The user asks about a name. ", "I should look it up."),
            *before("search"),
            say("I will look it up."),
            call("web_search", SEARCH, id="call_search"),
            stop("toolUse"),
        ),
        reply(say(NAMED), stop()),
        reply(
            *before("report"),
            call("write_file", {"file_path": "/oxygen.md", "content": REPORT}, id="call_write"),
            stop("toolUse"),
        ),
        reply(*before("text"), *answer, stop()),
    )
