"""A research run whose events are written by the test, one after the other: what a server would send, at the moment
when the test wants it. The page talks to the real server about everything else."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Route

from browser.backend import PageBackend
from browser.waiting import wait_until

RUN_ID = "run_0123456789abcdef"
MESSAGE_ID = "msg_0123456789abcdef"
QUESTION_ID = "msg_fedcba9876543210"
STARTED = "2026-01-05T08:00:00.000Z"
MODEL = "scripted/model"
CALL_ID = "call_1"
POLL_SECONDS = 0.3
"""Shorter than the time after which the page says that its connection is lost."""

TEMPLATES = [{"name": "general", "title": "Report"}, {"name": "comparison", "title": "Comparison"}]
USAGE = {
    "input_tokens": 41_200,
    "output_tokens": 6_300,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "reasoning_tokens": 0,
    "cost": 0.21,
}


def plan_item(item_id: str, question: str, status: str = "pending", note: str | None = None) -> dict[str, Any]:
    return {"id": item_id, "question": question, "status": status, **({"note": note} if note else {})}


def found_source(number: int, domain: str, title: str) -> dict[str, Any]:
    return {
        "url": f"https://{domain}/{number}",
        "title": title,
        "snippet": "",
        "domain": domain,
        "favicon": None,
        "number": number,
        "status": "read",
        "published": None,
        "snapshot_id": None,
        "fetched_at": None,
        "quotes": [],
    }


def supported_citation(text: str, sentence: str, number: int) -> dict[str, Any]:
    start = text.index(sentence)
    return {
        "marker": f"[{number}]",
        "number": number,
        "start": start,
        "end": start + len(sentence),
        "verdict": "supported",
        "quote": sentence,
        "quote_start": None,
        "quote_end": None,
        "snapshot_id": None,
        "passage": None,
        "by": "text",
        "missing": None,
        "suggestion": None,
        "differences": [],
    }


class ScriptedResearch:
    """One run. Requests of the page that belong to it are answered here; `asked`, `plans` and `said` are their
    bodies."""

    def __init__(self, backend: PageBackend) -> None:
        self._backend = backend
        self._events: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._next_index = 0
        self._plan_index = 0
        self.items: list[dict[str, Any]] = []
        self.steering: list[str] = []
        self.clarification: dict[str, Any] = {"question": None, "answers": []}
        self.clarification_status = 200
        self.clarified = asyncio.Event()
        """Set: a clarification is answered at once."""
        self.clarified.set()
        self.plan_refusal: dict[str, Any] | None = None
        self.asked: list[dict[str, Any]] = []
        self.unclear: list[dict[str, Any]] = []
        self.plans: list[list[dict[str, Any]]] = []
        self.said: list[str] = []
        self.finished = 0
        self.session_id = ""
        self.question = ""
        self.has_ended = False

    async def serve(self, context: BrowserContext) -> None:
        await context.route("**/v2/research/templates", self._answer_templates)
        await context.route("**/v2/clarifications", self._answer_clarification)
        await context.route(re.compile(r"/v2/sessions/[^/]+/messages$"), self._answer_question)
        await context.route(re.compile(r"/v2/sessions/[^/]+/history"), self._answer_history)
        await context.route(f"**/v2/runs/{RUN_ID}/events", self._answer_events)
        await context.route(f"**/v2/runs/{RUN_ID}/plan", self._answer_plan)
        await context.route(f"**/v2/runs/{RUN_ID}/finish", self._answer_finish)
        await context.route(f"**/v2/runs/{RUN_ID}/steer", self._answer_steering)

    async def wait_asked(self, count: int = 1) -> dict[str, Any]:
        """The body of the question with this number."""
        await wait_until(self._count_asked, lambda asked: asked >= count)
        return self.asked[count - 1]

    async def _count_asked(self) -> int:
        return len(self.asked)

    # What happens in the run

    def send(self, *events: dict[str, Any]) -> None:
        self._events += events
        self._news.set()

    def start(self, items: Sequence[dict[str, Any]]) -> None:
        head = {"id": MESSAGE_ID, "role": "assistant", "run_id": RUN_ID, "session_id": self.session_id, "model": MODEL}
        self.send({"type": "message_start", "message": head})
        self.items = list(items)
        self._plan_index = self._begin({"type": "plan", "items": self.items})
        self.spend(0, 0.0, 0)

    def update(self, *items: dict[str, Any]) -> None:
        """The items with these ids are as given now."""
        changed = {item["id"]: item for item in items}
        self.items = [changed.pop(item["id"], item) for item in self.items] + list(changed.values())
        self.send_plan()

    def send_plan(self) -> None:
        plan = {"items": self.items, "steering": self.steering}
        self.send({"type": "plan_update", "index": self._plan_index, **plan})

    def spend(self, seconds: float, usd: float, pages: int) -> None:
        spent = {"seconds": seconds, "usd": usd, "pages": pages}
        self.send({"type": "budget_update", "budget": {"seconds": 900, "usd": 1.0, "pages": 60}, "spent": spent})

    def search(self, parent: str, query: str) -> None:
        call = {"id": CALL_ID, "name": "web_search", "tool_content_message": "Search", "input": {"query": query}}
        self._begin({"type": "tool_use", **call}, parent)
        self.send({"type": "tool_status", "tool_use_id": CALL_ID, "status": "running", "parent": parent})

    def read(self, parent: str, *domains: str) -> None:
        for done, domain in enumerate(domains, 1):
            progress = {"stage": "reading", "done": done, "total": len(domains), "label": domain}
            self.send({"type": "tool_progress", "tool_use_id": CALL_ID, **progress, "parent": parent})

    def find(self, parent: str, query: str, *sources: dict[str, Any]) -> None:
        self.send({"type": "tool_status", "tool_use_id": CALL_ID, "status": "done", "parent": parent})
        artifact = {"query": query, "sources": list(sources), "evidence": [], "disagreements": []}
        result = {"name": "web_search", "status": "success", "content": "Found.", "artifact": artifact}
        self._begin({"type": "tool_result", "tool_use_id": CALL_ID, **result}, parent)

    def say(self, text: str, citations: Sequence[dict[str, Any]] = (), parent: str | None = None) -> None:
        index = self._next_index
        place = {"parent": parent} if parent else {}
        self._next_index += 1
        block = {"type": "text", "text": text}
        self.send({"type": "content_block_start", "index": index, "content_block": block, **place})
        if citations:
            delta = {"type": "citations_delta", "citations": list(citations)}
            self.send({"type": "content_block_delta", "index": index, "delta": delta, **place})
        self.send({"type": "content_block_stop", "index": index, **place})

    def write(self, done: int, total: int, heading: str) -> None:
        progress = {"stage": "writing", "done": done, "total": total, "label": heading}
        self.send({"type": "tool_progress", "tool_use_id": "call_report", **progress})

    def write_file(self, path: str) -> None:
        call = {"id": "call_report", "name": "write_file", "tool_content_message": "Write a file"}
        self._begin({"type": "tool_use", **call, "input": {"file_path": path}})
        result = {"name": "write_file", "status": "success", "content": "Written.", "artifact": {"path": path}}
        self._begin({"type": "tool_result", "tool_use_id": "call_report", **result})

    def end(self, stop_reason: str = "stop") -> None:
        context = {"tokens": 1, "window": 2, "shortened_results": 0, "shortened_texts": 0, "summarised_turns": 0}
        delta = {"delta": {"stop_reason": stop_reason}, "usage": USAGE, "context": context, "timestamp": STARTED}
        self.send({"type": "message_delta", **delta}, {"type": "message_stop"})
        self.has_ended = True

    def _begin(self, block: dict[str, Any], parent: str | None = None) -> int:
        index = self._next_index
        self._next_index += 1
        place = {"parent": parent} if parent else {}
        self.send(
            {"type": "content_block_start", "index": index, "content_block": block, **place},
            {"type": "content_block_stop", "index": index, **place},
        )
        return index

    # What the page asks for

    async def _answer_templates(self, route: Route) -> None:
        await route.fulfill(json={"templates": TEMPLATES})

    async def _answer_clarification(self, route: Route) -> None:
        self.unclear.append(_body(route))
        await self.clarified.wait()
        await route.fulfill(status=self.clarification_status, json=self.clarification)

    async def _answer_question(self, route: Route) -> None:
        body = _body(route)
        self.asked.append(body)
        self.session_id = route.request.url.split("/")[-2]
        self.question = body["content"]
        ids = {"run_id": RUN_ID, "session_id": self.session_id, "message_id": MESSAGE_ID, "question_id": QUESTION_ID}
        await route.fulfill(status=202, json={**ids, "timestamp": STARTED})

    async def _answer_history(self, route: Route) -> None:
        response = await route.fetch()
        history = await response.json()
        if not self.question:
            await route.fulfill(response=response)
            return
        text = {"type": "text", "text": self.question}
        message = {"role": "user", "id": QUESTION_ID, "content": [text], "attachments": [], "timestamp": STARTED}
        turn = {
            "run_id": RUN_ID,
            "question_id": QUESTION_ID,
            "message_id": MESSAGE_ID,
            "state": "running",
            "model": MODEL,
            "stop_reason": None,
            "usage": None,
            "error": None,
            "questions": [QUESTION_ID],
            "answers": [MESSAGE_ID],
            "timestamp": STARTED,
            "ended_at": None,
        }
        history |= {"messages": [message], "turns": [turn], "active_run": {"run_id": RUN_ID}}
        await route.fulfill(response=response, body=json.dumps(history))

    async def _answer_events(self, route: Route) -> None:
        after = int(route.request.headers.get("last-event-id", 0))
        if len(self._events) <= after:
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), POLL_SECONDS)
        lines = [
            f"id: {number}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n"
            for number, event in enumerate(self._events, 1)
            if number > after
        ]
        body = "".join(lines) or 'event: ping\ndata: {"type": "ping"}\n\n'
        await route.fulfill(headers={"content-type": "text/event-stream"}, body=body)

    async def _answer_plan(self, route: Route) -> None:
        wanted = _body(route)["items"]
        self.plans.append(wanted)
        if self.plan_refusal is not None:
            await route.fulfill(status=409, json={"error": self.plan_refusal})
            return
        known = {item["id"]: item for item in self.items}
        items = []
        for one in wanted:
            before = known.pop(one.get("id"), None) or plan_item(f"q{len(self.items) + 1}", one["question"])
            fields = ("question", "status") if before["status"] in ("pending", "dropped") else ()
            items.append(before | {name: one[name] for name in fields if one.get(name)})
        self.items = items
        self.send_plan()
        await route.fulfill(json={"items": self.items, "steering": self.steering})

    async def _answer_finish(self, route: Route) -> None:
        self.finished += 1
        self.items = [item | {"status": "dropped"} if item["status"] == "pending" else item for item in self.items]
        self.send_plan()
        await route.fulfill(json={"run_id": RUN_ID})

    async def _answer_steering(self, route: Route) -> None:
        self.said.append(_body(route)["content"])
        self.steering.append(self.said[-1])
        self.send_plan()
        await route.fulfill(json={"items": self.items, "steering": self.steering})


def _body(route: Route) -> dict[str, Any]:
    """The JSON that the page has sent."""
    return json.loads(route.request.post_data or "{}")
