"""Forty pages on six hosts of loopback, and a search engine that finds them.

async with ResearchWeb() as web:
    web.settings                # environment variables that point a server to it
    web.read_at                 # when each page was requested, by its URL
    web.reads                   # how many pages were requested
    web.read_twice              # the pages that were requested again

A search for the keyword of a theme finds its first pages, the one that says otherwise, and a dead or an irrelevant one;
with the word "sources" it finds the second source of each fact. Of each five results, four are read by a search, and
the last one only by `read_page`: one fact of every theme stands there and on no page that a search reads.
"""

import json
import socket
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from research.barrage import PLANS_SENTENCE, THEMES, Theme, Trap
from web import PageReply, PageRequest, Web, hanging_reply
from web.providers import Hit, SearchServer
from web.replies import HTML

PAGES = 40
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
OTHERWISE = "127.0.0.6"
"""The host of the pages that say otherwise."""
REFUSING = "127.0.0.4"
HANGING = "127.0.0.5"
RESULTS = 5
READ_BY_SEARCH = 4
_PUBLISHED = "2024-03-17T10:00:00Z"
_TOWNS = (
    *("Aldmere", "Brankley", "Corvington", "Dunholt", "Eastwick", "Farleigh", "Grenby", "Hollin"),
    *("Inverly", "Jarrow", "Kelsby", "Lanford", "Merrow", "Norbury", "Oakham", "Penrose"),
)


class ResearchWeb:
    """`hangs`: whether the host that never answers is among the results, which costs a search its whole deadline."""

    def __init__(self, *, hangs: bool = True) -> None:
        self.read_at: dict[str, list[float]] = {}
        self.hosts = {address: Web({}, address=address) for address in (*HOSTS, OTHERWISE)}
        self.search = SearchServer("searxng", self._hits)
        self._hanging = Web({}, address=HANGING)
        self._refusing = socket.socket()
        self._hangs = hangs
        self._replies: list[PageReply] = []
        self._first: dict[str, list[Hit]] = {}
        self._second: dict[str, list[Hit]] = {}
        self._irrelevant: list[Hit] = []

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for web in (*self.hosts.values(), self._hanging):
                await stack.enter_async_context(web)
            await stack.enter_async_context(self.search)
            stack.callback(self._refusing.close)
            self._refusing.bind((REFUSING, 0))  # bound and not listening: nobody else gets the port
            self._irrelevant = [self._add_irrelevant(at, town) for at, town in enumerate(_TOWNS)]
            for at, theme in enumerate(THEMES):
                self._add_theme(at, theme)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    @property
    def refused_host(self) -> str:
        return f"{REFUSING}:{self._refusing.getsockname()[1]}"

    @property
    def hanging_host(self) -> str:
        return self._hanging.host

    @property
    def settings(self) -> dict[str, str]:
        """The search engine is the only provider, and these are the only hosts whose pages may be read."""
        prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
        hosts = [*(web.host for web in self.hosts.values()), self.refused_host, self.hanging_host]
        return {
            f"{prefix}DEFAULT_PROVIDER": "searxng",
            f"{prefix}PROVIDERS_SEARXNG_BASE_URL": self.search.url,
            f"{prefix}ALLOW_PRIVATE_HOSTS": json.dumps(hosts),
            f"{prefix}MAX_RESULTS": str(RESULTS),
            f"{prefix}CRAWL_COUNT": str(READ_BY_SEARCH),
        }

    @property
    def reads(self) -> int:
        return sum(map(len, self.read_at.values()))

    @property
    def read_twice(self) -> list[str]:
        return [url for url, times in self.read_at.items() if len(times) > 1]

    def _hits(self, query: str) -> Sequence[Hit]:
        words = query.casefold()
        theme = next((one for one in THEMES if one.keyword in words), None)
        if theme is None:
            return self._irrelevant[:RESULTS]
        return (self._second if "sources" in words else self._first)[theme.keyword]

    def _add_theme(self, at: int, theme: Theme) -> None:
        """The pages of a theme: two that together have its first three facts, a second source of each, and two with
        the fourth fact, which stand last in their results."""
        irrelevant = self._irrelevant[at * 4 : at * 4 + 4]
        if not theme.facts:
            self._first[theme.keyword] = [self._add("plans", "The council", (PLANS_SENTENCE,), HOSTS[0]), *irrelevant]
            self._second[theme.keyword] = irrelevant
            return
        one, two, three, four = (fact.sentence for fact in theme.facts)
        pages = {
            name: self._add(f"{theme.keyword}-{name}", title, sentences, HOSTS[(at + shift) % len(HOSTS)])
            for name, title, shift, sentences in (
                ("overview", "An overview", 0, (one, two)),
                ("figures", "Facts and figures", 1, (three,)),
                ("details", "More details", 2, (four,)),
                ("report", "The yearly report", 2, (one, three)),
                ("portrait", "A portrait", 1, (two,)),
                ("letter", "A letter from the coast", 0, (four,)),
            )
        }
        dead = self._dead(at)
        self._first[theme.keyword] = [
            pages["overview"],
            *([self._add_trap(theme.trap)] if theme.trap else []),
            pages["figures"],
            dead or irrelevant[0],
            pages["details"],
        ]
        self._second[theme.keyword] = [pages["report"], pages["portrait"], *irrelevant[1:3], pages["letter"]]

    def _dead(self, at: int) -> Hit | None:
        """The first theme meets the host that refuses connections, the second one the host that never answers."""
        if at == 0:
            return Hit("The archive of the harbour", f"http://{self.refused_host}/archive")
        if at == 1 and self._hangs:
            return Hit("Turbines of the coast", self._put(self._hanging, "/turbines", hanging_reply()))
        return None

    def _add_trap(self, trap: Trap) -> Hit:
        return self._add(trap.kind, "What was said of it", (trap.sentence,), OTHERWISE, trap.published)

    def _add_irrelevant(self, at: int, town: str) -> Hit:
        text = (
            f"The market of {town} is held every {at % 6 + 2} weeks. It has {at * 7 + 30} stalls with flowers.",
            f"The bakers of {town} meet in the old hall.",
        )
        return self._add(f"market-{town.lower()}", f"The market of {town}", text, HOSTS[at % len(HOSTS)])

    def _add(self, name: str, title: str, sentences: Sequence[str], host: str, published: str = _PUBLISHED) -> Hit:
        web = self.hosts[host]
        reply = _page(title, sentences, published)
        self._replies.append(reply)
        return Hit(title, self._put(web, f"/{name}", reply), f"{title}, on one page.", published[:10])

    def _put(self, web: Web, path: str, reply: PageReply) -> str:
        url = web.url(path)

        def answer(_: PageRequest) -> PageReply:
            self.read_at.setdefault(url, []).append(time.monotonic())
            return reply

        return web.put(path, answer)

    @property
    def texts(self) -> list[str]:
        """All pages that can be read, as HTML."""
        return [reply.body.decode() for reply in self._replies]

    @property
    def pages(self) -> int:
        """The number of all pages, with those of the two dead hosts."""
        return len(self.texts) + 2


def _page(title: str, sentences: Sequence[str], published: str) -> PageReply:
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    body = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta property="article:published_time" content="{published}"></head>
<body><nav><a href="/">Home</a></nav><article><h1>{title}</h1>{paragraphs}
<p>This page was written by a visitor who likes the sea and takes long walks.</p></article></body></html>"""
    return PageReply(headers={"Content-Type": HTML}, body=body.encode())
