"""A scripted model that does a whole research run by what it is asked, with one answer for the same request always.

model = ResearchModel()
upstream.script(model)
model.asked["read"]     # the requests of readers, and so on for each step

It is honest: it hands over and writes only sentences that it was shown, with the footnotes that they had. The fields
make it another model: one that hangs, loops, lies, is slow, fails, cannot call tools, or answers something else.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from research.barrage import ITEMS, SUBJECT, THEMES, Theme
from research.requests import Asked, Task, task_of
from upstream import ModelReply, ModelRequest, ModelStatusReply, call, pause, reply, say, stall, status, stop, usage
from upstream.server import Answer

NO_TOOLS = status(400, "registry.ollama.ai/library/some-model does not support tools")
NOT_JSON = "Sure, I would be happy to help you with that!"
LIE = "It also won 97 prizes in 1985"
_STATEMENT = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_PAGE = re.compile(r"^Page \[(\d+)\]$", re.MULTILINE)
_BAD_STATEMENT = re.compile(r"“([^”]+)”")


@dataclass
class ResearchModel:
    """`plan`: the questions that it plans; `gaps`: those that it adds after the first readers. `hanging`, `looping`,
    `slow` (seconds before each answer): by keywords of themes. `lies`: it invents numbers in each section. `outage`:
    the answer to every request, for as long as it is set. `texts`: what it says instead in a step."""

    plan: Collection[str] = ITEMS
    gaps: Collection[str] = ()
    hanging: frozenset[str] = frozenset()
    looping: frozenset[str] = frozenset()
    slow: Mapping[str, float] = field(default_factory=dict[str, float])
    lies: bool = False
    calls_tools: bool = True
    outage: ModelStatusReply | None = None
    texts: Mapping[Task, str] = field(default_factory=dict[Task, str])
    before: Callable[[Task, Asked], Answer | None] = lambda _task, _asked: None
    """May answer a request in the place of the model."""
    asked: dict[Task, list[Asked]] = field(default_factory=dict[Task, list[Asked]])

    def __call__(self, request: ModelRequest) -> Answer:
        asked = Asked(request)
        task = task_of(asked)
        self.asked.setdefault(task, []).append(asked)
        if (answer := self.before(task, asked)) is not None:
            return answer
        if self.outage is not None:
            return self.outage
        if asked.tools and not self.calls_tools:
            return NO_TOOLS
        if task in self.texts:
            return _written(self.texts[task])
        return self._answers[task](self, asked)

    @property
    def reader_rounds(self) -> Counter[tuple[str, int]]:
        """How often each reader was asked for each of its rounds, by the keyword of its theme."""
        return Counter((self._theme(asked).keyword, asked.rounds) for asked in self.asked.get("read", ()))

    def _theme(self, asked: Asked) -> Theme:
        """The subject of a reader: of the questions that it is told, its own comes last."""
        told = asked.messages[0].text
        return max(THEMES, key=lambda theme: told.rfind(theme.question))

    def _plan(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"items": list(self.plan)}))

    def _gaps(self, _: Asked) -> ModelReply:
        return _written(json.dumps({"items": list(self.gaps)}))

    def _read(self, asked: Asked) -> ModelReply:
        """Two searches, then the last page of the second one's results, then every sentence about the subject."""
        theme = self._theme(asked)
        wait = [pause(self.slow[theme.keyword])] if theme.keyword in self.slow else []
        if theme.keyword in self.hanging:
            return reply(stall())
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
    lines = (f"{one.rstrip('.')} {''.join(f'[{id_}]' for id_ in found[:3])}." for one, found in ids.items())
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
