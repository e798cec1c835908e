"""A scripted model that does the steps of a research run about the name of oxygen, and waits where a test wants it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from browser.backend import NAMED
from browser.breakpoints import Breakpoints
from footnote.web_search import summary
from research.requests import Asked
from upstream import ModelReply, ModelRequest, call, reply, say, stop, usage
from upstream.steps import Step

QUESTION = "What is known about the name of oxygen?"
ITEMS = ("Who coined the name oxygen?", "What does the name oxygen mean?", "When was the name oxygen coined?")
_STEPS = {
    "clarify": "A user wants a question researched",
    "plan": "You plan research",
    "gaps": "Readers have looked up",
    "steer": "A research plan is being worked on",
    "read": "You are one of several readers",
    "search": summary.SYSTEM_PROMPT.partition(".")[0],
}
"""What the system prompt of a step has that no other has. All others write: a section, or the summary."""


@dataclass
class OxygenModel:
    """`clarification`: what it asks before it begins. The places of `waits` are the steps, and those of readers also
    have the number of their item: `read 2`."""

    clarification: str | None = None
    waits: Breakpoints = field(default_factory=Breakpoints)
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, request: ModelRequest) -> ModelReply:
        asked = Asked(request)
        step = next((step for step, words in _STEPS.items() if words in asked.system), "write")
        place = f"read {self._item(asked)}" if step == "read" else step
        self.asked.append(place)
        answer = self._reader(asked) if step == "read" else _written(self._texts(step))
        return reply(*self.waits.before(place), *answer)

    def _item(self, asked: Asked) -> int:
        """The number of the question that a reader looks up; 0: the test has added it to the plan."""
        question = asked.messages[0].text.partition("\n")[0].removeprefix("Look up: ")
        return ITEMS.index(question) + 1 if question in ITEMS else 0

    def _texts(self, step: str) -> str:
        answers = ["Its history", "Its chemistry"]
        texts = {
            "clarify": json.dumps({"question": self.clarification, "answers": answers if self.clarification else []}),
            "plan": json.dumps({"items": ITEMS}),
            "gaps": json.dumps({"items": []}),
            "steer": json.dumps({"add": [], "drop": []}),
        }
        return texts.get(step, NAMED)

    def _reader(self, asked: Asked) -> Sequence[Step]:
        if asked.rounds > 0 or not asked.tools:
            return _written(NAMED)
        return (call("web_search", {"query": "name of oxygen"}, "call_1"), usage(500, 20), stop("toolUse"))


def _written(text: str) -> Sequence[Step]:
    return (say(text), usage(400, 40), stop())
