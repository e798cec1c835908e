"""Small models in guided style: a scripted model over real HTTP, scripted providers and the small web."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from footnote import App
from footnote.protocol.events import BlockStart, Event, ToolUseBlock
from footnote.protocol.messages import AssistantMessage
from interaction.test_search import OXYGEN, citations, hits, keyless, progress
from interaction.test_turns import answer_text, environment, follow, results, stop_reason
from upstream import Upstream, call, cut, reply, say, status, stop, usage
from upstream.server import ModelRequest
from web import Web
from web.providers import Hit, SearchServer

QUESTION = "Who coined the name oxygen in 1777?"
PAGES = (OXYGEN, "/en/Normans", "/en/Huguenot")
Handler = Callable[[ModelRequest], Any]


@asynccontextmanager
async def guided(
    home: Path,
    web: Web,
    upstream: Upstream,
    *,
    model: str = "tiny-1.5b",
    pages: tuple[str, ...] = PAGES,
    api: str = "openai",
    **more: str,
) -> AsyncIterator[tuple[App, list[str]]]:
    """The app, and the queries that its only provider received."""
    queries: list[str] = []

    def found(query: str) -> list[Hit]:
        queries.append(query)
        return hits(web, *pages)

    async with SearchServer("duckduckgo", found) as search:
        variables = keyless(home, web, search) | environment(api, upstream, home)
        default = {"FOOTNOTE_MODELS_DEFAULT": f"{api}/{model}"}
        async with App.open(environ=variables | default | more) as app:
            yield app, queries


def tool_uses(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    blocks = (event.content_block for event in events if isinstance(event, BlockStart))
    return [(block.name, dict(block.input)) for block in blocks if isinstance(block, ToolUseBlock)]


def prompt_of(request: ModelRequest) -> str:
    """The last message of a request."""
    content = request.body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def answers_from_evidence(template: str, containing: str = "Lavoisier") -> Handler:
    """Answers with the id of the passage that contains a text: the first one after it."""

    def answer(request: ModelRequest) -> Any:
        ids = re.findall(r"\[(\d+\.\d+)\]", prompt_of(request).partition(containing)[2])
        return reply(say(template.format(id=ids[0] if ids else "no passage")), usage(input=700, output=20), stop())

    return answer


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_a_small_model_is_asked_once_with_the_evidence_that_the_product_looked_up(
    api: str, tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(answers_from_evidence("The name oxygen was coined in 1777 by Antoine Lavoisier [{id}]."))
    async with guided(tmp_path, web, upstream, api=api) as (app, queries):
        run = await app.ask(QUESTION)
        events = await follow(run)
    assert tool_uses(events) == [("web_search", {"query": QUESTION, "prompt": QUESTION})]
    assert len(queries) == 1
    [request] = upstream.requests
    assert "tools" not in request.body
    assert QUESTION in prompt_of(request)
    assert "<web_text" in prompt_of(request)
    assert answer_text(events) == "The name oxygen was coined in 1777 by Antoine Lavoisier [1]."
    [citation] = citations(events)
    assert (citation.number, citation.verdict) == (1, "supported")
    assert citation.passage is not None
    [result] = results(events)
    assert result.artifact is not None
    assert result.artifact["summary"] == ""
    assert [stage for stage, _, _ in progress(events)] == ["searching", "reading", "reading", "reading"]
    assert stop_reason(events) == "stop"
    assert upstream.problems == []


async def test_the_best_quotations_follow_an_answer_that_nothing_supports(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(reply(say("It was Joseph ", "Priestley, in Paris."), stop()))
    async with guided(tmp_path, web, upstream) as (app, _):
        run = await app.ask(QUESTION)
        events = await follow(run)
    text = answer_text(events)
    assert text.startswith("It was Joseph Priestley, in Paris.\n\n*It is not confirmed that this answers")
    assert "Antoine Lavoisier" in text
    assert {one.verdict: one.number for one in citations(events)} == {"uncited": 0, "supported": 1}
    message = run.messages[-1]
    assert isinstance(message, AssistantMessage)
    assert message.text == text


async def test_an_empty_answer_consists_of_the_quotations(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(reply(say(" "), stop()))
    async with guided(tmp_path, web, upstream) as (app, _):
        events = await follow(await app.ask(QUESTION))
    assert "Antoine Lavoisier" in answer_text(events)
    assert stop_reason(events) == "stop"


@pytest.mark.parametrize(
    "question", ["Hello!", "Write a poem about the sea.", "What is 17 * 23?", "Translate to French: good morning"]
)
async def test_what_needs_no_looking_up_goes_straight_to_the_model(
    question: str, tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(reply(say("As you wish."), stop()))
    async with guided(tmp_path, web, upstream) as (app, queries):
        events = await follow(await app.ask(question))
    assert tool_uses(events) == []
    assert queries == []
    assert answer_text(events) == "As you wish."
    assert prompt_of(upstream.requests[0]) == question


async def test_a_follow_up_is_searched_for_with_the_subject_of_the_question_before(
    tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(answers_from_evidence("It was Antoine Lavoisier [{id}]."))
    async with guided(tmp_path, web, upstream) as (app, queries):
        first = await app.ask(QUESTION)
        await follow(first)
        events = await follow(await app.ask("And when was it discovered?", after=first))
    assert "oxygen" in queries[-1].lower()
    assert tool_uses(events)[0][0] == "web_search"
    messages = upstream.requests[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1]["content"] == QUESTION


async def test_a_larger_guided_model_keeps_its_tools_for_what_the_evidence_does_not_answer(
    tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(
        reply(call("read_page", {"url": web.url("/en/Normans")}), stop("toolUse")),
        reply(say("The name was coined by Antoine Lavoisier [1]."), stop()),
    )
    async with guided(tmp_path, web, upstream, model="mid-8b") as (app, _):
        events = await follow(await app.ask(QUESTION))
    assert [name for name, _ in tool_uses(events)] == ["web_search", "read_page"]
    first = upstream.requests[0].body
    assert first["tools"][0]["function"]["name"] == "web_search"
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "tool"]
    assert citations(events)[0].verdict == "supported"


async def test_a_server_that_refuses_tools_is_asked_with_the_evidence_instead(
    tmp_path: Path, web: Web, upstream: Upstream
):
    """The size of this model is not known: it is agentic until its server says that it takes no tools."""
    refusal = "registry.ollama.ai/library/someone/model does not support tools"
    upstream.script(
        status(400, message=refusal), answers_from_evidence("The name was coined in 1777 by Antoine Lavoisier [{id}].")
    )
    async with guided(tmp_path, web, upstream, model="someones-model") as (app, _):
        events = await follow(await app.ask(QUESTION))
    assert [name for name, _ in tool_uses(events)] == ["web_search"]
    assert citations(events)[0].verdict == "supported"
    assert ["tools" in request.body for request in upstream.requests] == [True, False]


async def test_a_guided_model_whose_server_refuses_tools_is_asked_again_without(
    tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(
        status(400, message="this model does not support tools"),
        answers_from_evidence("The name was coined in 1777 by Antoine Lavoisier [{id}]."),
    )
    async with guided(tmp_path, web, upstream, model="mid-8b") as (app, queries):
        events = await follow(await app.ask(QUESTION))
    assert len(queries) == 1
    assert citations(events)[0].verdict == "supported"


async def test_a_report_is_written_section_by_section(tmp_path: Path, web: Web, upstream: Upstream):
    def write(request: ModelRequest) -> Any:
        prompt = prompt_of(request)
        passage = prompt.partition("[")[2].partition("]")[0]
        return reply(say(f"Oxygen is a chemical element with the symbol O [{passage}]."), usage(), stop())

    upstream.script(write)
    async with guided(tmp_path, web, upstream) as (app, _):
        run = await app.ask("Write a report on the discovery of oxygen")
        events = await follow(run)
        assert run.workspace is not None
        [file] = await run.workspace.list()
        content = await run.workspace.read_text(file.path)
    assert [name for name, _ in tool_uses(events)] == ["web_search", "write_file"]
    assert len(upstream.requests) >= 3
    assert all(len(prompt_of(request)) < 8_000 for request in upstream.requests)
    assert content.startswith("# The discovery of oxygen\n\n")
    assert content.count("\n## ") >= 2
    assert "[1]" in content
    assert ".1]" not in content
    assert answer_text(events).startswith(f"The report is in {file.path}.\n\n")
    assert upstream.problems == []


async def test_nothing_found_is_said_below_the_answer(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(reply(say("I do not know."), stop()))
    async with guided(tmp_path, web, upstream, pages=()) as (app, _):
        events = await follow(await app.ask("Who was the mayor of Xyzzyville in 1831?"))
    assert answer_text(events).startswith("I do not know.")
    assert "no sources" in answer_text(events) or "match it best" in answer_text(events)


async def test_a_failure_of_the_model_ends_the_turn_with_its_error(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(reply(say("It was "), cut()))
    async with guided(tmp_path, web, upstream) as (app, _):
        events = await follow(await app.ask(QUESTION))
    assert answer_text(events) == "It was "
    assert stop_reason(events) == "error"


async def test_brackets_of_a_text_that_rests_on_no_evidence_stay_where_they_are(
    tmp_path: Path, web: Web, upstream: Upstream
):
    written = "[1] The first line. It goes on.\n[2] = second"
    upstream.script(reply(say(written), stop()))
    async with guided(tmp_path, web, upstream) as (app, _):
        assert answer_text(await follow(await app.ask("Write a poem with numbered lines."))) == written


@pytest.mark.parametrize(
    "question",
    [
        "Refactor this: ```py\nprint(1)\n```",
        "Make it shorter",
        "Answer in Vietnamese please",
        "continue",
        "Give me a python script that lists files",
        "trả lời bằng tiếng Anh đi",
        "用Python写一个排序函数",
        "继续",
        "What is wrong with this text? " + "It was a dark and stormy night. " * 60,
    ],
)
async def test_work_on_the_conversation_or_on_a_given_text_is_not_searched_for(
    question: str, tmp_path: Path, web: Web, upstream: Upstream
):
    upstream.script(reply(say("As you wish."), stop()))
    async with guided(tmp_path, web, upstream) as (app, queries):
        events = await follow(await app.ask(question))
    assert queries == []
    assert answer_text(events) == "As you wish."


async def test_a_file_that_the_question_names_is_read(tmp_path: Path, web: Web, upstream: Upstream):
    upstream.script(
        reply(call("write_file", {"file_path": "/notes.md", "content": "The key is under the mat."}), stop("toolUse")),
        reply(say("Written."), stop()),
        reply(say("Under the mat."), stop()),
    )
    async with guided(tmp_path, web, upstream) as (app, queries):
        first = await app.ask("Note where the key is: under the mat.", model="openai/gpt-5")
        await follow(first)
        queries.clear()
        events = await follow(await app.ask("Where is the key, by my notes.md?", after=first))
    assert tool_uses(events) == [("read_file", {"file_path": "/notes.md"})]
    assert queries == []
    assert "The key is under the mat." in prompt_of(upstream.requests[-1])
    assert answer_text(events) == "Under the mat."
