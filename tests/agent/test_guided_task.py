"""What a guided model is asked, from the conversation alone."""

import msgspec

from footnote.agent.guided_task import GuidedTask, select_passages
from footnote.models.base import Context
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from footnote.protocol.sources import Disagreement, DisagreementValue, EvidencePassage, SearchArtifact, Source
from footnote.protocol.tools import ToolSpec

TOOLS = tuple(ToolSpec(name, "", {"properties": {}}) for name in ("web_search", "read_page", "read_file"))
WINDOW = 8_192


def lookups(*parts: Text | Image) -> list[tuple[str, object]]:
    task = GuidedTask.of(Context("", (UserMessage(parts),), TOOLS), WINDOW)
    found = task.lookups({tool.name: tool for tool in TOOLS})
    return [(request.name, next(iter(request.arguments.values()))) for request in found]


def passage(number: int, text: str) -> EvidencePassage:
    return EvidencePassage(id=f"{number}.1", number=number, text=text, start=0, end=len(text), snapshot_id="s")


def test_a_question_about_an_image_is_left_to_the_model_that_sees_it():
    image = Image("image/png", b"\x89PNG")
    assert lookups(Text("Which building is this?"), image) == []
    assert lookups(Text("Is it the one on https://example.org/a?"), image) == [("read_page", "https://example.org/a")]


def test_an_attached_file_that_is_not_in_the_library_is_read_from_the_workspace():
    listed = "Files that come with this message:\n- /data.bin\n- /a.pdf (to cite it: read_page footnote://files/a.pdf)"
    assert lookups(Text(f"What is in these files?\n{listed}"))[0] == ("read_file", "/data.bin")


def test_the_language_of_the_prompt_is_that_of_the_question():
    vietnamese = GuidedTask.of(Context("", (user_message("Thủ đô của Pháp là gì?"),)), WINDOW)
    chinese = GuidedTask.of(Context("", (user_message("法国的首都是哪里？"),)), WINDOW)
    thai = GuidedTask.of(Context("", (user_message("เมืองหลวงของฝรั่งเศสคืออะไร"),)), WINDOW)
    assert "tiếng Việt" in vietnamese.answer_prompt()
    assert "中文" in chinese.answer_prompt()
    assert "the language of the question" in thai.answer_prompt()


def test_passages_that_contradict_each_other_come_first_and_long_ones_are_cut_to_the_quotation():
    quotations = "Built in 1887.", "Built in 1913."
    filler = "Towers of this kind were built in many towns. " * 60
    passages = [
        passage(3, "Something else stands here."),
        *(passage(at, f"{text} {filler}") for at, text in enumerate(quotations, 1)),
    ]
    sides = [
        DisagreementValue(text=text, number=at, quote_start=0, quote_end=len(text))
        for at, text in enumerate(quotations, 1)
    ]
    artifact = SearchArtifact(
        query="q",
        sources=tuple(
            Source(url=f"https://{at}.example/", title="T", snippet="", domain="", number=at) for at in (1, 2, 3)
        ),
        evidence=tuple(passages),
        disagreements=(Disagreement(about="q", values=tuple(sides)),),
    )
    call = AssistantMessage((ToolCall("c1", "web_search", {"query": "q"}),), "toolUse", "a/b")
    result = ToolResultMessage("c1", "web_search", (Text("Found."),), artifact=msgspec.to_builtins(artifact))
    task = GuidedTask.of(Context("", (user_message("When was it built?"), call, result), TOOLS), WINDOW)

    prompt = task.answer_prompt()

    assert "Built in 1887. [1.1]\n\nBuilt in 1913. [2.1]\n\nSomething else stands here. [3.1]" in prompt
    assert "Sources [1], [2] contradict each other" in prompt


def test_passages_fill_the_budget_in_their_order_and_a_first_one_that_is_too_long_is_cut():
    short = [passage(number, "a short passage of a page. " * 4) for number in range(1, 9)]
    assert [one.number for one in select_passages(short, 120)] == [1, 2, 3]
    [cut] = select_passages([passage(1, "word " * 5_000)], 100)
    assert 200 < len(cut.text) <= 300
