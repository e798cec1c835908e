"""What a request of a research run asks of its model: which step of the run it belongs to, and what it shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal, TypeAlias

from footnote.agent.repair import NOTE
from footnote.evidence import review_requests
from footnote.research.plan import PlanState
from footnote.research.plan_requests import gaps_request, plan_request, reader_prompt, steer_request
from footnote.research.report import SectionPlan, section_request, summary_request
from footnote.research.templates import choose_template
from footnote.web_search import summary
from research.barrage import SUBJECT
from upstream import ModelRequest

Task: TypeAlias = Literal[
    "plan", "gaps", "steer", "read", "section", "summary", "search_summary", "review", "repair", "clarify", "answer"
]

_PASSAGE = re.compile(r"^\[(\d+\.\d+)\] |^Source \[(\d+)\]$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LINK = re.compile(r"^\[\d+\] \[[^\n]*\]\((http[^)\s]+)\)", re.MULTILINE)
_FOOTNOTED = re.compile(r"[^\n.!?\]]*[^\n\]]*?[.!?]?(?: ?\[\d+(?:\.\d+)?\])+\.?")


_TEMPLATE = choose_template("")
_PROMPTS: dict[Task, str] = {
    "plan": plan_request("", max_items=1, template=_TEMPLATE, today=date.min)[0],
    "gaps": gaps_request("", PlanState(), (), max_new=1, template=_TEMPLATE)[0],
    "steer": steer_request("", PlanState(), ())[0],
    "read": reader_prompt("en", _TEMPLATE),
    "section": section_request("", SectionPlan("", ()), _TEMPLATE, "en", ())[0],
    "summary": summary_request("", "", "en")[0],
    "search_summary": summary.SYSTEM_PROMPT,
    "review": review_requests.SYSTEM_PROMPT,
}
"""The system prompts of the product, of which the first sentence says what is asked."""


@dataclass(frozen=True)
class Said:
    """A message. Results of tools have the role `tool` with every provider."""

    role: str
    text: str


@dataclass(frozen=True)
class Asked:
    """A request, the same for both APIs."""

    request: ModelRequest

    @cached_property
    def system(self) -> str:
        body = self.request.body
        if self.request.api == "anthropic":
            return _text_of(body.get("system", ""))
        return "\n".join(_text_of(one["content"]) for one in body["messages"] if one["role"] in ("system", "developer"))

    @cached_property
    def messages(self) -> tuple[Said, ...]:
        return tuple(said for message in self.request.body["messages"] for said in _said(message))

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that are offered."""
        return frozenset(tool.get("name") or tool["function"]["name"] for tool in self.request.body.get("tools", ()))

    @property
    def question(self) -> str:
        """The first message of a user, and all of the others."""
        return "\n\n".join(said.text for said in self.messages if said.role == "user")

    @property
    def last(self) -> str:
        return self.messages[-1].text

    @property
    def rounds(self) -> int:
        """How often the model has answered already."""
        return sum(said.role == "assistant" for said in self.messages)

    @property
    def evidence(self) -> list[tuple[str, str]]:
        """The sentences of web text with the id of a passage or the number of a source above them: (id, sentence)."""
        found: dict[tuple[str, str], None] = {}
        for said in self.messages:
            if said.role != "assistant":
                heads = list(_PASSAGE.finditer(said.text))
                ends = [*(head.start() for head in heads[1:]), len(said.text)]
                for head, end in zip(heads, ends, strict=False):
                    id_ = head[1] or head[2]
                    found |= dict.fromkeys((id_, one) for one in sentences(said.text[head.end() : end]))
        return list(found)

    @property
    def listed_urls(self) -> list[str]:
        """The addresses that the last result of a tool lists as sources, in its order."""
        results = [said.text for said in self.messages if said.role == "tool"]
        return _LINK.findall(results[-1]) if results else []

    @property
    def footnoted(self) -> list[str]:
        """The sentences of the user's message that have footnotes, with them."""
        lines = (line.strip(" -*>\t") for line in self.question.split("\n"))
        return list(dict.fromkeys(found.strip() for line in lines for found in _FOOTNOTED.findall(line)))


def sentences(text: str) -> list[str]:
    """The sentences of web text, without its headings and tags."""
    lines = (line.strip() for line in text.split("\n") if not line.startswith(("#", "<", "Wanted: ")))
    return [one for line in lines for one in _SENTENCE_END.split(line) if one]


def task_of(asked: Asked) -> Task:
    """The step of the run to which a request belongs."""
    for task, prompt in _PROMPTS.items():
        if prompt.partition(".")[0] in asked.system:
            return task
    if asked.last.startswith(NOTE.partition("{")[0]):
        return "repair"
    return "read" if SUBJECT in asked.question else "answer"


def _said(message: dict[str, Any]) -> Iterator[Said]:
    if message["role"] in ("system", "developer"):
        return
    content = message.get("content")
    results = [one for one in content if one["type"] == "tool_result"] if isinstance(content, list) else []
    yield from (Said("tool", _text_of(one["content"])) for one in results)
    text = _text_of([one for one in content if one not in results] if isinstance(content, list) else content)
    if text or not results:
        yield Said(message["role"], text)


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(one.get("text", "") for one in content)
    return content or ""
