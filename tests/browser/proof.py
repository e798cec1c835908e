"""An answer with statements of every verdict, however the server would judge them today."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import BrowserContext, Route

from browser.backend import SEARCH, PageBackend
from cli.small_web import article
from upstream import call, reply, say, stop

LITHIUM = "Recycling processes shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027."
COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
NICKEL = "For nickel, the level of recovered materials shall be no less than 90 percent."
PLANTS = "European recyclers have delayed or shelved nine plants since early 2024, citing low metal prices."
VERDICTS = ("supported", "partial", "contradicted", "unsupported", "uncited", "unread")
QUESTION = "What does the battery law ask of recyclers?"


@dataclass(frozen=True)
class Judgement:
    """One citation. `differences` are pairs: words of the statement, and the words of the quotation against them."""

    sentence: str
    verdict: str
    quote: str | None = None
    marker: str = "[1]"
    number: int = 1
    by: str = "text"
    missing: str | None = None
    suggestion: int | None = None
    differences: tuple[tuple[str, str], ...] = ()


CONTRADICTED = Judgement(
    "Recyclers in Europe have shelved **forty** plants since early 2024",
    "contradicted",
    PLANTS,
    differences=(("forty", "nine"),),
)
JUDGEMENTS = (
    Judgement("At least 50 percent of the lithium has to be recovered by the end of 2027", "supported", LITHIUM),
    Judgement(
        "New car batteries need 16 percent recovered cobalt from August 2031, and dealers have to label it",
        "partial",
        COBALT,
        by="model",
        missing="dealers have to label it",
    ),
    CONTRADICTED,
    Judgement("The law was written in Hanoi in 1999", "unsupported"),
    Judgement("Of nickel, no less than 90 percent.", "uncited", NICKEL, marker="", number=0, suggestion=1),
    Judgement("Prices of black mass fell by 12 percent in 2023.", "uncited", marker="", number=0),
    Judgement("A study of 2021 gives other figures", "unread", marker="[7]", number=7),
)
ANSWER = """## What recyclers have to reach

At least 50 percent of the lithium has to be recovered by the end of 2027 [1]. New car batteries need 16 percent \
recovered cobalt from August 2031, and dealers have to label it [1]. Recyclers in Europe have shelved **forty** plants \
since early 2024 [1].

- The law was written in Hanoi in 1999 [1].
- Of nickel, no less than 90 percent.
- Prices of black mass fell by 12 percent in 2023.

A study of 2021 gives other figures [7]. Shall I look for more?"""


async def answered_session(backend: PageBackend, text: str = ANSWER, title: str = "Battery recycling") -> str:
    """A session whose answer is this text, after a search that found one page."""
    backend.web.put("/en/Oxygen", article("Regulation on batteries", LITHIUM, COBALT, NICKEL, PLANTS))
    backend.script(
        reply(call("web_search", SEARCH, id="call_search"), stop("toolUse")),
        reply(say(f"{LITHIUM} [1]"), stop()),
        reply(say(text), stop()),
    )
    session_id = await backend.user.create_session(title=title)
    await backend.user.ask_for_events(session_id, QUESTION)
    return session_id


async def citations_of(
    backend: PageBackend, session_id: str, text: str, judgements: Sequence[Judgement]
) -> list[dict[str, Any]]:
    source = (await backend.user.request("GET", f"/v2/sessions/{session_id}/sources/1")).json
    return [_citation(text, source["snapshots"][0], one) for one in judgements]


def _citation(text: str, snapshot: dict[str, Any], one: Judgement) -> dict[str, Any]:
    start = text.index(one.sentence)
    quote_start = snapshot["text"].index(one.quote) if one.quote else None
    place = None if quote_start is None or one.quote is None else quote_start + len(one.quote)
    return {
        "marker": one.marker,
        "number": one.number,
        "start": start,
        "end": start + len(one.sentence),
        "verdict": one.verdict,
        "quote": one.quote,
        "quote_start": quote_start,
        "quote_end": place,
        "snapshot_id": snapshot["id"] if one.quote else None,
        "passage": None,
        "by": one.by,
        "missing": one.missing,
        "suggestion": one.suggestion,
        "differences": [
            _difference(text, start, snapshot["text"], quote_start or 0, *pair) for pair in one.differences
        ],
    }


def _difference(text: str, start: int, page: str, quote_start: int, said: str, read: str) -> dict[str, int]:
    at, instead = text.index(said, start), page.index(read, quote_start)
    return {"start": at, "end": at + len(said), "quote_start": instead, "quote_end": instead + len(read)}


async def change_history(context: BrowserContext, session_id: str, change: Callable[[dict[str, Any]], None]) -> None:
    """The history of the session comes as `change` leaves it."""

    async def answer(route: Route) -> None:
        response = await route.fetch()
        history = await response.json()
        change(history)
        await route.fulfill(response=response, body=json.dumps(history))

    await context.route(f"**/v2/sessions/{session_id}/history*", answer)


async def judge_answer(
    context: BrowserContext,
    backend: PageBackend,
    session_id: str,
    judgements: Sequence[Judgement] = JUDGEMENTS,
    text: str = ANSWER,
) -> None:
    """The history of the session comes with these verdicts on its last answer."""
    citations = await citations_of(backend, session_id, text, judgements)

    def judge(history: dict[str, Any]) -> None:
        said = [message["content"] for message in history["messages"] if message["role"] == "assistant"]
        last = next(block for content in said for block in content if block["type"] == "text" and block["text"] == text)
        last["citations"] = citations

    await change_history(context, session_id, judge)


async def judge_file(
    context: BrowserContext, backend: PageBackend, session_id: str, path: str, versions: dict[int, Sequence[Judgement]]
) -> None:
    """The versions of a file have these verdicts."""
    texts = {number: await _content(backend, session_id, path, number) for number in versions}
    citations = {
        number: await citations_of(backend, session_id, texts[number], judgements)
        for number, judgements in versions.items()
    }

    async def answer(route: Route) -> None:
        number = int(parse_qs(urlsplit(route.request.url).query)["version"][0])
        found = citations[number]
        verdicts = list({(one["start"], one["end"]): one["verdict"] for one in found}.values())
        counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
        proof = {"file_path": path, "version": number, "counts": {"statements": len(verdicts), **counts}}
        await route.fulfill(json={**proof, "citations": found})

    await context.route(f"**/v2/sessions/{session_id}/files/citations*", answer)


async def _content(backend: PageBackend, session_id: str, path: str, version: int) -> str:
    address = f"/v2/sessions/{session_id}/files/content?file_path={path}&version={version}"
    return (await backend.user.request("GET", address)).json["content"]
