"""What the runs of these tests do: search, write and edit a file, and call a tool with an effect twice.

The expected outcome of a run follows from its history, whatever was done to the servers meanwhile.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cli.small_web import FACT, hits, small_web
from plugin_packages import install
from runs.effect import EFFECT
from upstream import ModelRequest, Upstream, call, hold, parallel_calls, pause, reply, say, stop
from web.providers import SearchServer

REPORT = "# Report on {name}\n\none\ntwo\n"
EDIT = {"file_path": "/report.md", "old_string": "two", "new_string": "two and two — điều 第二"}


def expected_report(name: str, history: dict[str, Any]) -> str | None:
    """The content of the file according to the results of the calls. None: it could not be written, and the model was
    told."""
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
    """`pace`: seconds between two words of the model. `word_count`: the number of words of the last answer."""

    def __init__(self, folder: Path, settings: dict[str, str], *, pace: float, word_count: int) -> None:
        self.settings = settings
        self.pace = pace
        self.word_count = word_count
        self.may_end = asyncio.Event()
        """No answer ends until this event is set. It is set unless a test clears it."""
        self.may_end.set()
        self._folder = folder

    def answer(self, request: ModelRequest) -> Any:
        """The scripted model. The last word of the question `Tell me about NAME` names the run."""
        if "tools" not in request.body:
            return reply(say(f"{FACT} [1]"), stop())
        messages = request.body["messages"]
        name = messages[0]["content"][-1]["text"].split()[-1]
        match sum(message["role"] == "assistant" for message in messages):
            case 0:
                calls = parallel_calls(
                    call("effect", {"name": f"{name}-first"}, id=f"{name}_1"),
                    call(
                        "write_file", {"file_path": "/report.md", "content": REPORT.format(name=name)}, id=f"{name}_2"
                    ),
                    call("web_search", {"query": f"oxygen {name}"}, id=f"{name}_3"),
                )
                return reply(*self._slow_words("I", "will", "look", "into", "it."), calls, stop("toolUse"))
            case 1:
                calls = parallel_calls(
                    call("edit_file", EDIT, id=f"{name}_4"), call("effect", {"name": f"{name}-second"}, id=f"{name}_5")
                )
                return reply(*self._slow_words("Now", "I", "change", "it."), calls, stop("toolUse"))
            case _:
                words = self._slow_words(*(f"wörd{number}" for number in range(self.word_count)))
                return reply(*words, hold(self.may_end), stop())

    def _slow_words(self, *words: str) -> list[Any]:
        return [step for word in words for step in (say(f"{word} "), pause(self.pace))]

    def check_effects(self, history: dict[str, Any]) -> None:
        """Every call has one result, and no effect was executed twice; one that may not have happened is reported as an
        error."""
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
    """The web, the search provider and the model's script; `settings` point replicas to them."""
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
        # Replicas that were killed in the middle of a request leave it behind.
        await asyncio.sleep(0)
