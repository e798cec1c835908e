"""Reports of the reader: quotations in a file with an unused name."""

import pytest

from footnote.models.reader.messages import MESSAGES
from footnote.protocol.events import AttachmentsBlock
from footnote.protocol.tools import Locale, error_result, text_result
from footnote.tools.base import Abilities
from footnote.tools.builtin.write_file import write_file
from models.reader_harness import (
    HANOI,
    NOTE,
    RIVER,
    SEARCH_SCHEMA,
    RecordingTool,
    last_text,
    page_tool,
    play_turn,
    search_result,
    search_tool,
    source,
    tool_calls,
)
from workspace.in_memory import in_memory_workspace


async def test_a_report_is_written_of_quotations_and_its_best_passages_are_shown():
    abilities = Abilities(workspace := in_memory_workspace())
    search = search_tool(
        search_result(
            (2, HANOI),
            (1, RIVER),
            (2, "It is old."),
            sources=(source(1, published="2024-05-01T00:00:00Z"), source(2, title="Hà Nội [1]"), source(3, "failed")),
        )
    )

    recording = await play_turn("Write a report on the city of Hanoi!", tools=(search, write_file), abilities=abilities)

    assert [name for name, _ in tool_calls(recording)] == ["web_search", "write_file"]
    assert (await workspace.read("/the-city-of-hanoi.md")).decode() == (
        "# The city of Hanoi\n\n"
        f"*{MESSAGES['en'].report_note}*\n\n"
        "## Hà Nội \\[1\\]\n\n"
        f"> {HANOI} [2]\n\n"
        "> It is old. [2]\n\n"
        "## Page 1\n\n"
        f"> {RIVER} [1]\n\n"
        "## Sources\n\n"
        "- [1] [Page 1](<https://site1.example/page>) · site1.example · published 2024-05-01\n"
        "- [2] [Hà Nội \\[1\\]](<https://site2.example/page>) · site2.example\n"
        f"- [3] [Page 3](<https://site3.example/page>) · site3.example · {MESSAGES['en'].not_read}\n"
    )
    assert last_text(recording) == "\n\n".join(
        [
            "The report is in /the-city-of-hanoi.md. From it, word for word from the pages:",
            f"> {HANOI} [2]",
            f"> {RIVER} [1]",
            "> It is old. [2]",
            NOTE,
        ]
    )
    assert isinstance(recording.blocks[-1], AttachmentsBlock)


async def test_a_source_tells_when_it_was_read_where_the_tool_tells_it():
    result = search_result((1, HANOI))
    assert result.artifact is not None
    result.artifact["sources"][0]["fetched_at"] = "2026-01-02T03:04:05Z"
    abilities = Abilities(workspace := in_memory_workspace())

    await play_turn("Write a report on Hanoi", tools=(search_tool(result), write_file), abilities=abilities)

    assert "· site1.example · read 2026-01-02\n" in (await workspace.read("/hanoi.md")).decode()


@pytest.mark.parametrize(
    ("locale", "wish", "path"),
    [
        ("vi", "Hãy viết báo cáo về Hà Nội xưa và nay", "/hà-nội-xưa-và-nay.md"),
        ("zh", "请写一份关于河内历史的报告", "/河内历史.md"),
        ("en", f"write a report on {'tall ' * 30}towers", "/" + ("tall-" * 12)[:-1] + ".md"),
        ("en", "write a report on ???!", None),
    ],
)
async def test_a_report_is_named_after_its_topic_in_letters_of_its_own(locale: Locale, wish: str, path: str | None):
    abilities = Abilities(in_memory_workspace())

    recording = await play_turn(wish, tools=(search_tool(search_result((1, HANOI))), write_file), abilities=abilities)

    paths = [arguments["file_path"] for name, arguments in tool_calls(recording) if name == "write_file"]
    assert paths == ([path] if path else [])
    if path is None:
        assert last_text(recording).startswith(MESSAGES["en"].no_subject)
    else:
        assert last_text(recording).startswith(MESSAGES[locale].report_written.format(path=path))


async def test_a_report_on_a_page_has_the_title_of_the_page():
    abilities = Abilities(workspace := in_memory_workspace())

    recording = await play_turn(
        "Write a report on https://a.example",
        tools=(page_tool(search_result((1, HANOI))), write_file),
        abilities=abilities,
    )

    assert [name for name, _ in tool_calls(recording)] == ["read_page", "write_file"]
    assert (await workspace.read("/page-1.md")).decode().startswith("# Page 1\n\n")


async def test_a_report_stands_where_the_tool_says():
    result = text_result("Wrote it.", artifact={"path": "/elsewhere.md"})

    recording = await play_turn(
        "Write a report on Hanoi",
        tools=(search_tool(search_result((1, HANOI))), RecordingTool("write_file", (result,), SEARCH_SCHEMA)),
    )

    assert last_text(recording).startswith("The report is in /elsewhere.md.")


async def test_a_report_on_several_questions_has_a_section_for_each():
    abilities = Abilities(workspace := in_memory_workspace())
    search = search_tool(search_result((1, HANOI)), search_result(), search_result((2, RIVER)))

    await play_turn(
        "Write a report: Who rules? Who sings? Where is it?", tools=(search, write_file), abilities=abilities
    )

    (record,) = await workspace.list()
    content = (await workspace.read(record.path)).decode()
    assert [line for line in content.splitlines() if line.startswith(("## ", ">"))] == [
        "## Who rules?",
        f"> {HANOI} [1]",
        "## Where is it?",
        f"> {RIVER} [2]",
        "## Sources",
    ]


async def test_a_report_takes_no_name_that_the_session_has():
    abilities = Abilities(in_memory_workspace())
    tools = (search_tool(search_result((1, HANOI))), write_file)
    first = await play_turn("Write a report on Hanoi", tools=tools, abilities=abilities)

    second = await play_turn(
        "Write a report on Hanoi", *first.stored_messages, "Write a report on Hanoi", tools=tools, abilities=abilities
    )

    assert tool_calls(second)[-1][1]["file_path"] == "/hanoi-2.md"
    assert last_text(second).startswith("The report is in /hanoi-2.md.")


async def test_a_name_that_is_refused_is_replaced_once():
    writing = RecordingTool(
        "write_file", (error_result("'/hanoi.md' exists."), error_result("'/report.md' exists.")), SEARCH_SCHEMA
    )

    recording = await play_turn("Write a report on Hanoi", tools=(search_tool(search_result((1, HANOI))), writing))

    assert [arguments["file_path"] for arguments in writing.arguments] == ["/hanoi.md", "/report.md"]
    assert last_text(recording).startswith(
        f"The report could not be written: '/report.md' exists. {MESSAGES['en'].passage}\n\n> {HANOI} [1]"
    )


async def test_a_refusal_that_is_not_about_the_name_is_accepted():
    writing = RecordingTool("write_file", (error_result("The user declined this call."),), SEARCH_SCHEMA)

    recording = await play_turn("Write a report on Hanoi", tools=(search_tool(search_result((1, HANOI))), writing))

    assert len(writing.arguments) == 1
    assert last_text(recording).startswith("The report could not be written: The user declined this call.")


async def test_without_a_workspace_the_material_of_the_report_is_the_answer():
    recording = await play_turn("Write a report on Hanoi", tools=(search_tool(search_result((1, HANOI))),))

    assert last_text(recording).startswith(
        f"{MESSAGES['en'].report_impossible} {MESSAGES['en'].passage}\n\n> {HANOI} [1]"
    )


async def test_nothing_found_is_no_report():
    abilities = Abilities(workspace := in_memory_workspace())

    recording = await play_turn(
        "Write a report on Hanoi", tools=(search_tool(search_result()), write_file), abilities=abilities
    )

    assert await workspace.list() == ()
    assert last_text(recording).startswith("I found nothing that fits “Hanoi”.")


async def test_in_the_last_round_it_answers_with_what_it_has():
    abilities = Abilities(in_memory_workspace())
    settings = {"max_tool_rounds": 1}
    tools = (search_tool(search_result((1, HANOI))), write_file)

    recording = await play_turn("Write a report on Hanoi", tools=tools, abilities=abilities, settings=settings)

    assert [name for name, _ in tool_calls(recording)] == ["web_search"]
    assert f"> {HANOI} [1]" in last_text(recording)
    assert recording.stop_reason == "max_rounds"


@pytest.mark.parametrize(
    ("question", "path", "query"),
    [
        ("Write a report on the city of Hanoi to /hanoi.md", "/hanoi.md", "the city of Hanoi"),
        (
            "Write a report on the city of Hanoi into the file /notes/hanoi.md, please.",
            "/notes/hanoi.md",
            "the city of Hanoi",
        ),
        ("Viết báo cáo về Hà Nội vào /hà-nội.md", "/hà-nội.md", "Hà Nội"),
        ("写一份关于河内的报告，保存到/河内.md", "/河内.md", "河内"),
    ],
)
async def test_a_report_is_written_where_the_question_wants_it(question: str, path: str, query: str):
    abilities = Abilities(workspace := in_memory_workspace())
    search = search_tool(search_result((1, HANOI), sources=(source(1),)))
    recording = await play_turn(question, tools=(search, write_file), abilities=abilities)
    assert [record.path for record in await workspace.list()] == [path]
    ((_, arguments), _) = tool_calls(recording)
    assert query in arguments["query"]
    assert path not in arguments["query"]
