"""For any conversation the reader answers without raising, and quotes only what was found."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from footnote.models.base import Context
from footnote.models.reader import ReaderModel
from footnote.models.reader.conversation import MAX_ITEMS, MAX_PASSAGE_LENGTH
from footnote.models.reader.messages import MESSAGES
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, user_message
from footnote.protocol.stream import Done
from footnote.protocol.tools import ToolSpec
from matrix.adapters import collect_events, last_event
from models.reader_harness import SEARCH_SCHEMA, search_result, source

TOOLS = tuple(ToolSpec(name, "", SEARCH_SCHEMA) for name in ("web_search", "read_page", "write_file"))
QUESTIONS = ("What is the capital of Vietnam?", "Viết báo cáo về Hà Nội", "总结 https://a.example", "hi", "")
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])

text = st.text(max_size=30) | st.sampled_from(
    ["https://a.example", "[1]", "> x\n\n# y", "\ud800", "read", "2024-01-01"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


def shaped(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Artifacts whose fields are mostly of the right type."""
    return st.fixed_dictionaries({}, optional={name: right | anything for name, right in fields.items()})


number = st.integers(0, 4)
artifacts = shaped(
    query=text,
    sources=st.lists(shaped(number=number, url=text, title=text, snippet=text, domain=text, status=text), max_size=4),
    passages=st.lists(shaped(number=number, text=text, start=number, end=number), max_size=5),
    receipt=shaped(providers=st.lists(shaped(provider=text, outcome=text, reason=text), max_size=2)),
    path=text,
)
results = st.tuples(
    st.sampled_from(["web_search", "read_page", "write_file", "list_files"]),
    st.dictionaries(
        st.sampled_from(["query", "url", "prompt", "freshness", "file_path", "content"]), anything, max_size=3
    ),
    st.none() | artifacts | st.dictionaries(text, anything, max_size=3),
    st.booleans(),
    text,
)


def conversation(question: str, results: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = [user_message(question)]
    for at, (name, arguments, artifact, is_error, text) in enumerate(results):
        messages.append(AssistantMessage((ToolCall(f"c{at}", name, arguments),), "toolUse", "a/b"))
        messages.append(ToolResultMessage(f"c{at}", name, (Text(text),), is_error, artifact))
    return tuple(messages)


def reply(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...] = ()) -> AssistantMessage:
    end = last_event(asyncio.run(collect_events(ReaderModel(), Context("", messages, tools))))
    assert isinstance(end, Done)
    return end.message


def quotations(markdown: str) -> list[list[str]]:
    """The words of each quotation in a text."""
    quoted: list[list[str]] = []
    for token in MARKDOWN.parse(markdown):
        if token.type == "blockquote_open":
            quoted.append([])
        elif token.type == "inline" and token.level > 1 and quoted:
            quoted[-1] += "".join(child.content or "\n" for child in token.children or []).split()
    return quoted


@given(
    st.lists(results, max_size=3), st.sampled_from(QUESTIONS), st.sampled_from([(), TOOLS]), st.sampled_from(QUESTIONS)
)
def test_no_conversation_makes_it_fail(results: list[Any], question: str, tools: Any, later: str):
    messages = conversation(question, results)

    assert reply(messages, tools).content
    assert reply((*messages, user_message(later)), tools).content


@given(st.lists(st.tuples(st.integers(1, 3), text), max_size=5), st.sampled_from(["vi", "zh"]))
def test_what_is_quoted_is_what_was_found_in_its_order(passages: list[tuple[int, str]], locale: Any):
    result = search_result(*passages, sources=tuple(source(number) for number in (1, 2, 3)))
    question = {"vi": "Thủ đô ở đâu?", "zh": "首都在哪里？"}[locale]
    results = [("web_search", {"query": "x"}, result.artifact, False, "")]

    text = reply(conversation(question, results)).text

    expected = [[*text.replace("\ud800", "\ufffd").split(), f"[{at}]"] for at, text in passages if text.strip()][:3]
    shown = [[word.replace("\x00", "\ufffd") for word in words] for words in expected]
    assert quotations(text) == shown
    assert (MESSAGES[locale].passages in text) == (len(expected) > 1)


@pytest.mark.parametrize("missing", ["number", "text", "start", "end"])
def test_a_passage_that_is_not_whole_is_left_out(missing: str):
    artifact = search_result((1, "Whole."), (1, "Broken.")).artifact
    assert artifact is not None
    del artifact["passages"][1][missing]

    text = reply(conversation(QUESTIONS[0], [("web_search", {"query": "x"}, artifact, False, "")])).text

    assert quotations(text) == [["Whole.", "[1]"]]


def test_a_passage_without_its_source_is_never_quoted():
    artifact = search_result((1, "Known."), (7, "Unknown."), sources=(source(1),)).artifact

    text = reply(conversation(QUESTIONS[0], [("web_search", {"query": "x"}, artifact, False, "")])).text

    assert quotations(text) == [["Known.", "[1]"]]
    assert "[7]" not in text


def test_an_artifact_of_any_size_is_answered_with_three_passages():
    many = search_result(
        *((1, f"Passage {at}.") for at in range(MAX_ITEMS * 100)), (1, "x" * (MAX_PASSAGE_LENGTH + 1))
    ).artifact
    assert many is not None
    long = search_result((1, "y" * (MAX_PASSAGE_LENGTH + 1)), (1, "Short.")).artifact
    nested: Any = []
    for _ in range(10_000):
        nested = [nested]
    many["passages"] = [nested, *many["passages"]]
    many["receipt"] = {"providers": [nested], "notes": nested}

    first = reply(conversation(QUESTIONS[0], [("web_search", {"query": "x"}, many, False, "")])).text
    second = reply(conversation(QUESTIONS[0], [("web_search", {"query": "x"}, long, False, "")])).text

    assert quotations(first) == [["Passage", f"{at}.", "[1]"] for at in range(3)]
    assert quotations(second) == [["Short.", "[1]"]]


def test_half_characters_do_no_harm():
    artifact = search_result((1, "Half \ud800 a character.")).artifact
    assert artifact is not None
    artifact["sources"] = [{"\ud800": 1}, *artifact["sources"]]

    text = reply(conversation(QUESTIONS[0], [("web_search", {"query": "\ud800"}, artifact, False, "")])).text

    assert quotations(text) == [["Half", "\ufffd", "a", "character.", "[1]"]]


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (AssistantMessage((Text("Hello."),), "stop", "a/b"),),
        (ToolResultMessage("c1", "web_search", (Text("lost"),)),),
        (user_message("hi"), ToolResultMessage("c1", "web_search", (Text("lost"),))),
        (
            user_message(QUESTIONS[0]),
            AssistantMessage((ToolCall("c1", "web_search", {}, invalid="{"),), "toolUse", "a/b"),
        ),
    ],
)
def test_half_a_conversation_is_answered_too(messages: tuple[Message, ...]):
    assert reply(messages, TOOLS).content
