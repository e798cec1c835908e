"""A scripted model that does a whole research run by what it is asked, with one answer for the same request always.

model = ResearchModel()
upstream.script(model)
model.asked["read"]     # the requests of readers that it answered, and so on for each step

It is honest: it hands over and writes only sentences that it was shown, with the footnotes that they had. The fields
make it another model: one that hangs, loops, lies, is slow, fails, cannot call tools, or answers something else.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from research.barrage import ITEMS, SUBJECT, THEMES, Theme
from research.requests import Asked, Task, task_of
from upstream import (
    ModelReply,
    ModelRequest,
    ModelStatusReply,
    call,
    hold,
    pause,
    reply,
    say,
    stall,
    status,
    stop,
    usage,
)
from upstream.server import Answer
from upstream.steps import Hold, Pause

NO_TOOLS = status(400, "registry.ollama.ai/library/some-model does not support tools")
NOT_JSON = "Sure, I would be happy to help you with that!"
LIE = "It also won 97 prizes in 1985"
_RAMBLING = (say("and "), pause(0.02)) * 6_000
_STATEMENT = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


@dataclass
class ResearchModel:
    """`plan`: the questions that it plans; `gaps`: those that it adds after the first readers; `steered`: those that
    it adds for a message of the user.

    By keywords of themes: `hanging` never answers, `looping` makes the same search again and again, `rambling` begins
    a text that does not end, `slow` waits so many seconds before each answer, `held` waits for an event.
    `lies`: it invents numbers in each section. `outage`: the answer to every request, for as long as it is set.
    `texts`: what it says instead in a step."""

    plan: Collection[str] = ITEMS
    gaps: Collection[str] = ()
    steered: Collection[str] = ()
    hanging: frozenset[str] = frozenset()
    looping: frozenset[str] = frozenset()
    rambling: frozenset[str] = frozenset()
    slow: Mapping[str, float] = field(default_factory=dict[str, float])
    held: Mapping[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    lies: bool = False
    calls_tools: bool = True
    outage: ModelStatusReply | None = None
    texts: Mapping[Task, str] = field(default_factory=dict[Task, str])
    before: Callable[[Task], Answer | None] = lambda _: None
    """May answer a request in the place of the model."""
    asked: dict[Task, list[Asked]] = field(default_factory=dict[Task, list[Asked]])
    """The requests that the model has answered itself."""

    def __call__(self, request: ModelRequest) -> Answer:
        asked = Asked(request)
        task = task_of(asked)
        if (answer := self.before(task)) is not None:
            return answer
        self.asked.setdefault(task, []).append(asked)
        if self.outage is not None:
            return self.outage
        if asked.tools and not self.calls_tools:
            return NO_TOOLS
        if task in self.texts:
            return _written(self.texts[task])
        return self._answers[task](self, asked)

    @property
    def requests(self) -> Counter[Task]:
        return Counter({task: len(asked) for task, asked in self.asked.items()})

    @property
    def reader_rounds(self) -> Counter[tuple[str, int]]:
        """How often each reader was asked for each of its rounds, by the keyword of its theme."""
        return Counter((self._theme(asked).keyword, asked.rounds) for asked in self.asked.get("read", ()))

    @staticmethod
    def _theme(asked: Asked) -> Theme:
        """What a reader looks up: of the questions that it is told, its own comes first."""
        told = asked.messages[0].text
        known = (theme for theme in THEMES if theme.question in told)
        other = Theme("", told.partition("\n")[0], ())
        return min(known, key=lambda theme: told.index(theme.question), default=other)

    def _plan(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"questions": list(self.plan)}))

    def _gaps(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"questions": list(self.gaps)}))

    def _steer(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"add": list(self.steered), "drop": []}))

    def _read(self, asked: Asked) -> ModelReply:
        """Two searches, then the last page of the second one's results, then every sentence about the subject."""
        theme = self._theme(asked)
        wait: list[Pause | Hold] = []
        if theme.keyword in self.held:
            wait.append(hold(self.held[theme.keyword]))
        if theme.keyword in self.slow:
            wait.append(pause(self.slow[theme.keyword]))
        if theme.keyword in self.hanging:
            return reply(stall())
        if theme.keyword in self.rambling:
            return reply(*_RAMBLING, stall())
        id_ = f"{theme.keyword}_{asked.rounds}"
        search = call("web_search", {"query": theme.question}, id_)
        if not asked.tools:
            return reply(*wait, *_said(_statements(asked)))
        if asked.rounds == 0 or theme.keyword in self.looping:
            return reply(*wait, search, usage(500, 20), stop("toolUse"))
        if asked.rounds == 1:
            more = call("web_search", {"query": f"{theme.keyword} of the barrage, other sources"}, id_)
            return reply(*wait, more, usage(900, 20), stop("toolUse"))
        if asked.rounds == 2 and asked.listed_urls:
            page = call("read_page", {"url": asked.listed_urls[-1], "prompt": theme.question}, id_)
            return reply(*wait, page, usage(1_300, 20), stop("toolUse"))
        return reply(*wait, *_said(_statements(asked)))

    def _section(self, asked: Asked) -> ModelReply:
        lie = f" {LIE} {_marker(asked)}." if self.lies else ""
        return _written(" ".join(asked.footnoted) + lie)

    def _summarise(self, asked: Asked) -> ModelReply:
        return _written(" ".join(asked.footnoted[:3]))

    def _search_summary(self, asked: Asked) -> ModelReply:
        return _written(_statements(asked))

    def _review(self, asked: Asked) -> ModelReply:
        """Points at the statement itself where it stands in the passages, and says of others that nothing says it."""
        entries: list[dict[str, Any]] = []
        for statement, text in _STATEMENT.findall(asked.question):
            plain = re.sub(r" ?\[\d+(?:\.\d+)?\]", "", text)
            found = asked.question.count(plain) > 1
            verdict = {"verdict": "supports", "quotation": plain} if found else {"verdict": "nothing", "quotation": ""}
            entries.append({"id": int(statement), **verdict})
        return _written(json.dumps(entries))

    def _repair(self, asked: Asked) -> ModelReply:
        """Takes what it invented out of the file."""
        edit = {"file_path": "/report.md", "old_string": f" {LIE}", "new_string": " ", "replace_all": True}
        return reply(call("edit_file", edit, "repair_1"), usage(300, 30), stop("toolUse"))

    def _clarify(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"question": "Which barrage?", "answers": ["The one in Saltmouth"]}))

    def _answer(self, _: Asked) -> ModelReply:
        return _written("An answer without research.")

    _answers = {  # noqa: RUF012 - the same for all models
        "plan": _plan,
        "gaps": _gaps,
        "steer": _steer,
        "read": _read,
        "section": _section,
        "summary": _summarise,
        "search_summary": _search_summary,
        "review": _review,
        "repair": _repair,
        "clarify": _clarify,
        "answer": _answer,
    }


def _statements(asked: Asked) -> str:
    """Each sentence about the subject once, with the ids of the passages that say it."""
    ids: dict[str, list[str]] = {}
    for id_, sentence in asked.evidence:
        if SUBJECT in sentence:
            ids.setdefault(sentence, []).append(id_)
    lines = (f"- {one.rstrip('.')} {''.join(f'[{id_}]' for id_ in found[:3])}." for one, found in ids.items())
    return "\n".join(lines) or "Nothing was found."


def _marker(asked: Asked) -> str:
    found = re.findall(r"\[\d+(?:\.\d+)?\]", " ".join(asked.footnoted))
    return found[0] if found else ""


def _written(text: str) -> ModelReply:
    return reply(*_said(text))


def _said(text: str) -> tuple[Any, ...]:
    """The text in a few deltas, as a provider streams it."""
    size = max(1, -(-len(text) // 4))
    return say(*(text[at : at + size] for at in range(0, len(text), size))), usage(700, max(1, len(text) // 4)), stop()
