"""The cost of opening a long session: the page of the product, and react-markdown drawing only the same messages."""

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import page_answer
import page_built
import page_model
import uvloop
from followers import HttpRequest, follow_all
from measure import Figures
from page_browser import Tab
from processes import FOLLOWING, TOKEN, Server, footnote

MESSAGES = 500
DRAWN = 100
"""The number of messages that the page draws at first; earlier ones are drawn on demand."""
LENGTH = 1_800
_ASKED = "What changed between 2015 and 2022, and why? (question {})"


def _answers() -> Iterator[str]:
    """Different answers of the same length."""
    whole = page_answer.answer(MESSAGES * LENGTH // 2)
    blocks = whole.split("\n\n")
    at = 0
    while True:
        text: list[str] = []
        while sum(map(len, text)) < LENGTH:
            text.append(blocks[at % len(blocks)])
            at += 1
        yield "\n\n".join(text)


def _fill(server: Server) -> str:
    session = server.ask("POST", "/v2/sessions", {})["id"]
    for number in range(1, MESSAGES // 2 + 1):
        body = json.dumps({"content": _ASKED.format(number)}).encode()
        ask = HttpRequest("POST", f"/v2/sessions/{session}/messages", body, FOLLOWING)
        uvloop.run(follow_all(server.port, [ask], seconds=60))
    return session


def _open_ours(opened: Callable[..., Tab], address: str, *, whole: bool) -> Figures:
    tab = opened(address, headers={"authorization": f"Bearer {TOKEN}"})
    tab.page.get_by_text(_ASKED.format(MESSAGES // 2)).first.wait_for(state="attached")
    earlier = tab.page.locator(".chat-earlier")
    while whole and earlier.count():
        earlier.click()
        tab.page.wait_for_timeout(300)
    return _wait_until_idle(tab)


def _open_theirs(opened: Callable[..., Tab], address: str, *, messages: int) -> Figures:
    tab = opened(f"{address}/history.html?last={messages}")
    tab.page.locator(f"article:nth-of-type({messages})").wait_for(state="attached")
    return _wait_until_idle(tab)


def _wait_until_idle(tab: Tab) -> Figures:
    """CPU when the page is idle: layout, syntax colours and favicons are done."""
    tab.page.wait_for_timeout(1000)
    found = {"task_ms": tab.so_far(), "nodes": tab.page.evaluate("() => document.querySelectorAll('*').length")}
    tab.page.context.close()
    return found


@contextmanager
def serve_session(compared: Path) -> Iterator[str]:
    """The URL of a session with all messages, for the product and for the reference."""
    with page_model.serve_answers(_answers()) as model, footnote(model) as server:
        session = _fill(server)
        history = server.ask("GET", f"/v2/sessions/{session}/history")
        if len(history["messages"]) != MESSAGES:
            raise SystemExit(f"the history has {len(history['messages'])} messages")
        (compared / "history.json").write_text(json.dumps(history))
        yield f"http://127.0.0.1:{server.port}/s/{session}"


def measure(opened: Callable[..., Tab], address: str, compared: Path, *, reps: int) -> Figures:
    """By name: `theirs` is the reference, measured in pairs."""
    with page_built.serve_folder(compared) as elsewhere:
        ways: dict[str, Callable[[], Figures]] = {
            "theirs": lambda: _open_theirs(opened, elsewhere, messages=MESSAGES),
            "theirs_last": lambda: _open_theirs(opened, elsewhere, messages=DRAWN),
            "ours": lambda: _open_ours(opened, address, whole=False),
            "ours_whole": lambda: _open_ours(opened, address, whole=True),
        }
        found: dict[str, list[Figures]] = {name: [] for name in ways}
        for _ in range(reps):
            for name, way in ways.items():
                found[name].append(way())
    return {name: _figures(samples, found["theirs"]) for name, samples in found.items()}


def _figures(samples: list[Figures], reference: list[Figures]) -> Figures:
    ratios = [one["task_ms"] / other["task_ms"] for one, other in zip(samples, reference, strict=True)]
    return {
        **{key: statistics.median(one[key] for one in samples) for key in ("task_ms", "nodes")},
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
    }
