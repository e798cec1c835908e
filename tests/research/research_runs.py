"""Research runs over HTTP: asked, followed to the end, and what there is of them then."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from research.barrage import QUESTION, TRAPS
from runs.fold import FoldedTurn, history_by_item
from runs.server_process import SECONDS, RunClient
from server.harness import LOCAL_TOKEN, ServerHarness

REPORT = "/report.md"
UNSETTLED = "\n## Not settled, not checked\n"
SOURCES = "\n## Sources\n"
_FOOTNOTE = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class ResearchResult:
    """A run that has ended. `proof`: the verdicts on its report."""

    view: dict[str, Any]
    folded: FoldedTurn
    history: dict[str, Any]
    report: str
    proof: dict[str, Any]

    @cached_property
    def sources(self) -> dict[int, str]:
        """The addresses of all sources, by their numbers."""
        artifacts = (message.get("artifact") for message in self.history["messages"])
        listed = (one for artifact in artifacts if artifact for one in artifact.get("sources", ()))
        return {one["number"]: one["url"] for one in listed}

    @property
    def plain_report(self) -> str:
        """The report with the paths of its sources in the place of their numbers, and the sources in their order."""
        plain = _FOOTNOTE.sub(lambda found: f"[{urlsplit(self.sources[int(found[1])]).path}]", self.report)
        text, heading, sources = plain.rpartition(SOURCES)
        return "\n".join((text, heading, *sorted(sources.split("\n"))))

    @property
    def unsettled(self) -> str:
        """The last section of the report, before its sources."""
        return self.report.partition(UNSETTLED)[2].partition(SOURCES)[0]

    @property
    def answer(self) -> str:
        texts = [block["text"] for block in self.folded.blocks_by_item[None] if block["type"] == "text"]
        return texts[-1]

    @property
    def items(self) -> list[dict[str, Any]]:
        return self.folded.plans[-1]

    def statements(self, verdict: str) -> list[str]:
        """The statements of the report with this verdict."""
        found = (one for one in self.proof["citations"] if one["verdict"] == verdict)
        return [self.report[one["start"] : one["end"]] for one in found]

    def hidden_traps(self) -> list[str]:
        """The wrong values that the report states as if nothing spoke against them."""
        supported = " ".join(self.statements("supported"))
        return [
            trap.value
            for trap in TRAPS
            if trap.value in supported and not (trap.value in self.unsettled and trap.fact.value in self.unsettled)
        ]


@asynccontextmanager
async def run_client(server: ServerHarness) -> AsyncIterator[RunClient]:
    """A client of a server in this process."""
    headers = {"authorization": f"Bearer {LOCAL_TOKEN}"}
    timeout = aiohttp.ClientTimeout(SECONDS * 2)
    async with aiohttp.ClientSession(server.url, headers=headers, timeout=timeout) as http:
        yield RunClient(http)


async def start_research(client: RunClient, question: str = QUESTION, **fields: Any) -> str:
    return await client.start(await client.session(), question, mode="research", **fields)


async def research(client: RunClient, question: str = QUESTION, **fields: Any) -> ResearchResult:
    return await finish(client, await start_research(client, question, **fields), FoldedTurn())


async def finish(client: RunClient, run_id: str, folded: FoldedTurn) -> ResearchResult:
    """Follows a run to its end, also through lost connections."""
    async with asyncio.timeout(SECONDS * 2):
        while not folded.ended:
            await client.follow(run_id, folded)
    view = await client.json("GET", f"/v2/runs/{run_id}")
    session = f"/v2/sessions/{view['session_id']}"
    history = await client.json("GET", f"{session}/history?turns=true")
    report, proof = "", {"citations": []}
    if any(file["path"] == REPORT for file in history["workspace"]["workspace_files"]):
        report = (await client.json("GET", f"{session}/files/content?file_path={REPORT}"))["content"]
        proof = await client.json("GET", f"{session}/files/citations?file_path={REPORT}")
    return ResearchResult(view, folded, history, report, proof)


async def check_shown(client: RunClient, result: ResearchResult) -> None:
    """A reload shows what was streamed, and so does a replay."""
    assert history_by_item(result.history, result.view["message_id"]) == result.folded.blocks_by_item
    whole = FoldedTurn()
    await client.follow(result.view["run_id"], whole)
    assert whole.shown == result.folded.shown
