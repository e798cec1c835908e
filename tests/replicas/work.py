"""What the runs of these tests do: they search, write and change a file, and do two things that show.

Everybody knows what a run must have left when it has ended, whatever was done to the servers in between.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cli.searching import FACT, hits, small_web
from runs.effect import EFFECT
from tools.test_plugins import install
from upstream import Request, Upstream, call, hold, pause, reply, say, stop, together
from web.providers import SearchServer

REPORT = "# Report on {name}\n\none\ntwo\n"
EDIT = {"file_path": "/report.md", "old_string": "two", "new_string": "two and two — điều 第二"}


def expected_report(name: str, history: dict[str, Any]) -> str | None:
    """What the file must hold by what the calls were told. None: it could not be written, and the model knows."""
    done = {
        message["name"]
        for message in history["messages"]
        if message["role"] == "tool" and message["status"] == "success"
    }
    if "write_file" not in done:
        assert "edit_file" not in done
        return None
    text = REPORT.format(name=name)
    return text.replace(EDIT["old_string"], EDIT["new_string"]) if "edit_file" in done else text


class ScriptedWork:
    """`pace`: seconds between two words of the model; `words`: how many the last answer has."""

    def __init__(self, folder: Path, settings: dict[str, str], *, pace: float, word_count: int) -> None:
        self.settings = settings
        self.pace = pace
        self.word_count = word_count
        self.may_end = asyncio.Event()
        """Until it is set, which it is but for a test that says otherwise, no answer has an end."""
        self.may_end.set()
        self._folder = folder

    def answer(self, request: Request) -> Any:
        """The part of the model. Its script is the question's: `Tell me about NAME`."""
        if "tools" not in request.body:
            return reply(say(f"{FACT} [1]"), stop())
        messages = request.body["messages"]
        name = messages[0]["content"][-1]["text"].split()[-1]
        match sum(message["role"] == "assistant" for message in messages):
            case 0:
                calls = together(
                    call("effect", {"name": f"{name}-first"}, id=f"{name}_1"),
                    call(
                        "write_file", {"file_path": "/report.md", "content": REPORT.format(name=name)}, id=f"{name}_2"
                    ),
                    call("web_search", {"query": f"oxygen {name}"}, id=f"{name}_3"),
                )
                return reply(*self._slow_words("I", "will", "look", "into", "it."), calls, stop("toolUse"))
            case 1:
                calls = together(
                    call("edit_file", EDIT, id=f"{name}_4"), call("effect", {"name": f"{name}-second"}, id=f"{name}_5")
                )
                return reply(*self._slow_words("Now", "I", "change", "it."), calls, stop("toolUse"))
            case _:
                words = self._slow_words(*(f"wörd{number}" for number in range(self.word_count)))
                return reply(*words, hold(self.may_end), stop())

    def _slow_words(self, *words: str) -> list[Any]:
        return [step for word in words for step in (say(f"{word} "), pause(self.pace))]

    def check_effects(self, history: dict[str, Any]) -> None:
        """Every call has its one result, and no effect came twice; one that is not certain is told as an error."""
        file = self._folder / "effects.txt"
        done = Counter(file.read_text().split()) if file.exists() else Counter[str]()
        results = [message for message in history["messages"] if message["role"] == "tool"]
        names = [message["tool_call_id"].rpartition("_") for message in results]
        assert [number for _, _, number in names] == ["1", "2", "3", "4", "5"], results
        for result, (name, _, number) in zip(results, names, strict=True):
            if result["name"] == "effect":
                times = done[f"{name}-{'first' if number == '1' else 'second'}"]
                assert times == 1 or (times == 0 and result["status"] == "error"), (name, number, times)


@asynccontextmanager
async def open_work(
    folder: Path, upstream: Upstream, *, pace: float = 0.04, words: int = 25
) -> AsyncIterator[ScriptedWork]:
    """The web, the search engine and the model's script; `settings` lead replicas there."""
    site = folder / "site"
    site.mkdir()
    install(site, "effect_package", EFFECT, "effect = effect_package:effect\n")
    async with small_web() as web, SearchServer("searxng", hits(web, "/oxygen", "/oxy")) as search:
        prefix = "FOOTNOTE_TOOLS_WEB_SEARCH_"
        settings = {
            "PYTHONPATH": str(site),
            "EFFECTS": str(folder / "effects.txt"),
            "FOOTNOTE_AGENTS": json.dumps([{"id": "a", "webSearch": {"enabled": True}}]),
            "FOOTNOTE_LIMITS_RUNS_PER_USER": "1000",
            "FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE": "100000",
            f"{prefix}DEFAULT_PROVIDER": "searxng",
            f"{prefix}PROVIDERS_SEARXNG_BASE_URL": search.url,
            f"{prefix}ALLOW_PRIVATE_HOSTS": web.host,
        }
        work = ScriptedWork(folder, settings, pace=pace, word_count=words)
        upstream.script(work.answer)
        yield work
        # Those who were killed in the middle of a request leave it behind.
        await asyncio.sleep(0)
