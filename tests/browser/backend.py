"""The services behind the page: the server, a scripted model, a search provider and a small web."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footnote.protocol.accounts import Login
from server.harness import ApiClient, ServerHarness, open_server
from server.session_files import SessionFiles
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
class PageBackend:
    server: ServerHarness
    upstream: Upstream
    web: Web
    search: SearchServer
    cookie: str

    @property
    def user(self) -> ApiClient:
        return self.server.local

    @property
    def origin(self) -> str:
        return self.server.url

    def script(self, *script: Scripted) -> None:
        self.upstream.script(*script)

    async def create_session(self, **fields: Any) -> SessionFiles:
        return SessionFiles(self.user, await self.user.create_session(**fields))

    async def login_address(self) -> str:
        """The login URL that `footnote serve` prints."""
        return f"/login?token={await self.server.app.accounts.create_login_token()}"


@asynccontextmanager
async def open_backend(
    home: Path, upstream: Upstream, hits: Sequence[str] = ("/en/Oxygen",), **settings: str
) -> AsyncIterator[PageBackend]:
    """`hits`: the pages of the small web that a search finds."""
    async with (
        open_web(hits) as (web, search, known),
        open_server(home, upstream, **{**known, **settings}) as server,
    ):
        accounts = server.app.accounts
        _, cookie = await accounts.log_in(Login(token=await accounts.create_login_token()))
        yield PageBackend(server, upstream, web, search, cookie)


@asynccontextmanager
async def open_web(hits: Sequence[str]) -> AsyncIterator[tuple[Web, SearchServer, dict[str, str]]]:
    """A small web, a search provider that finds these pages, and the settings of a server that uses them."""
    async with Web() as web:
        found = [Hit(path.rpartition("/")[2].replace("_", " "), web.url(path), f"About {path}.") for path in hits]
        async with SearchServer("duckduckgo", found) as search:
            yield (
                web,
                search,
                {
                    "FOOTNOTE_CITATIONS_REPAIR": "off",  # a request more, of which the scripts know nothing
                    "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
                    "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
                    "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": "60",
                    "FOOTNOTE_CITATIONS_MODEL": "off",  # of which the scripts know nothing
                },
            )


def oxygen_script(*last: Step, before: Callable[[str], Sequence[Step]] = lambda _: ()) -> tuple[Scripted, ...]:
    """A whole turn: thinking, a search, a report, and an answer with one correct and one wrong footnote.

    `before(place)` returns steps to insert before the thinking, search, report or text; `last` replaces the answer.
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
