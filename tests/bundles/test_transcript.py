"""The transcript of a session: what a reader of a bundle sees without any program."""

from typing import Any

import msgspec
import pytest

from footnote.bundles.transcript import markdown
from footnote.protocol.history import (
    History,
    PastAssistantMessage,
    PastText,
    PastToolMessage,
    PastToolUse,
    PastUserMessage,
    SessionHead,
    WorkspaceView,
)

SIDES = [
    {"text": "Built in *1887*\nby the river.", "number": 1, "quote_start": 0, "quote_end": 9,
     "published": "2019-03-02T08:00Z"},
    {"text": "Built in 1913.", "number": 4, "quote_start": 0, "quote_end": 9, "published": None},
]  # fmt: skip


ARTIFACT = {"disagreements": [{"about": "When was *it* built?", "values": SIDES}, {"about": 1}]}


@pytest.mark.parametrize("artifact", [ARTIFACT, msgspec.Raw(msgspec.json.encode(ARTIFACT))])
def test_sources_that_contradict_each_other_stand_below_the_answer(artifact: Any):
    history = History(
        SessionHead("session_1", "Tower", "researcher", "2026-01-02T03:04:05Z"),
        (
            PastUserMessage("m1", (PastText("When?"),)),
            PastAssistantMessage("m2", (PastToolUse("c1", "web_search", {"query": "tower"}),)),
            PastToolMessage("c1", "web_search", "Found.", "success", artifact),
            PastToolMessage("c2", "read_page", "Read.", "success", None),
            PastAssistantMessage("m3", (PastText("In 1887."),)),
        ),
        WorkspaceView(()),
    )
    assert markdown(history, ()).endswith(
        "In 1887.\n\n"
        "Sources contradict each other (When was \\*it\\* built?):\n\n"
        "- [1] (2019-03-02) “Built in \\*1887\\* by the river.”\n"
        "- [4] “Built in 1913.”\n"
    )
