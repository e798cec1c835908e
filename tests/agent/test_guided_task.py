"""What a guided model is asked, from the conversation alone."""

from footnote.agent.guided_task import GuidedTask, select_passages
from footnote.models.base import Context
from footnote.protocol.messages import Image, Text, UserMessage, user_message
from footnote.protocol.sources import EvidencePassage
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


def test_passages_fill_the_budget_in_their_order_and_a_first_one_that_is_too_long_is_cut():
    short = [passage(number, "a short passage of a page. " * 4) for number in range(1, 9)]
    assert [one.number for one in select_passages(short, 120)] == [1, 2, 3]
    [cut] = select_passages([passage(1, "word " * 5_000)], 100)
    assert 200 < len(cut.text) <= 300
