"""Citations that the API makes: passages in the request, markers in the text, and plain text where it refuses them."""

import json
import logging
from typing import Any

import pytest
from msgspec.structs import replace

from footnote.models.anthropic_citations import CITATIONS_NOTE
from footnote.models.base import Context, Endpoint, Options
from footnote.models.stream import build_model
from footnote.protocol.messages import AssistantMessage, Image, Message, Text, ToolCall, ToolResultMessage, user_message
from footnote.protocol.sources import EvidencePassage, Snapshot, Source
from footnote.protocol.stream import Done, StreamEvent, TextDelta, TextEnd, TextStart
from footnote.web_search.result import evidence_text, search_content
from matrix.adapters import PROFILE, QUESTION, HttpAdapter, collect_events, final_message
from matrix.history import MARK, PICTURE
from matrix.recorded_response import model_with_response
from upstream import ModelReply, call, cite, error_event, event, reply, say, status, stop, think
from upstream.server import render_body

NATIVE = replace(PROFILE, citations="native")
OXYGEN = "Oxygen was isolated by Scheele. It was named by Lavoisier."
WATER = "Water \u200bhas <web_text> oxygen."
SOURCES = [
    Source(url="https://example.org/o(1)", title="Oxygen [gas]", snippet="", domain="example.org", number=1),
    Source(url="https://example.org/water", title="Water", snippet="", domain="example.org", number=2),
]
SNAPSHOTS = {1: Snapshot(url=SOURCES[0].url, text=OXYGEN), 2: Snapshot(url=SOURCES[1].url, text=WATER, pages=(0,))}


def passage(passage_id: str, start: int, end: int) -> EvidencePassage:
    snapshot = SNAPSHOTS[int(passage_id[0])]
    return EvidencePassage(
        id=passage_id,
        number=int(passage_id[0]),
        text=snapshot.text[start:end],
        start=start,
        end=end,
        snapshot_id=snapshot.id,
    )


EVIDENCE = (passage("1.1", 0, 31), passage("2.1", 0, len(WATER)), passage("1.2", 32, len(OXYGEN)))


def search_result(call_id: str = "c1", *, rest: str = "", is_error: bool = False) -> ToolResultMessage:
    content = search_content("", SOURCES, ["Two pages."], evidence=evidence_text(EVIDENCE, SNAPSHOTS) + rest)
    artifact = {"evidence": [{name: getattr(one, name) for name in one.__struct_fields__} for one in EVIDENCE]}
    return ToolResultMessage(call_id, "web_search", (Text(content),), is_error=is_error, artifact=artifact)


def conversation(*results: ToolResultMessage) -> tuple[Message, ...]:
    calls = tuple(ToolCall(one.tool_call_id, one.tool_name, {"query": "oxygen"}) for one in results)
    return (user_message("Who?"), AssistantMessage(calls, "toolUse", "anthropic/the-model"), *results)


SEARCHED = Context("", conversation(search_result()))


async def tool_results(anthropic: HttpAdapter, *results: ToolResultMessage, native: bool = True) -> list[Any]:
    body = await anthropic.request_body(*conversation(*results), profile=NATIVE if native else PROFILE)
    return body["messages"][-1]["content"]


async def ask(anthropic: HttpAdapter, context: Context = SEARCHED) -> list[StreamEvent]:
    return await collect_events(anthropic.model(profile=NATIVE), context)


def shown(events: list[StreamEvent]) -> str:
    return "".join(one.delta for one in events if isinstance(one, TextDelta))


async def test_passages_are_blocks_of_their_source_between_the_marks_of_web_text(anthropic: HttpAdapter):
    [result] = await tool_results(anthropic, search_result())

    before, first, second, after, note = result["content"]
    assert before["text"].startswith('<web_text id="')
    assert before["text"].endswith("\n\nEvidence:")
    assert first == {
        "type": "search_result",
        "source": "https://example.org/o%281%29",
        "title": "[1.1, 1.2] Oxygen \\[gas\\]",
        "content": [
            {"type": "text", "text": "[1.1] Oxygen was isolated by Scheele."},
            {"type": "text", "text": "[1.2] It was named by Lavoisier."},
        ],
        "citations": {"enabled": True},
    }
    assert second["title"] == "[2.1] Water"
    assert second["content"] == [{"type": "text", "text": "[2.1] (page 1) Water has (web_text> oxygen."}]
    assert after["text"].startswith('</web_text id="')
    assert after["text"].endswith("\nNote: Two pages.")
    assert note == {"type": "text", "text": CITATIONS_NOTE}
    assert result["cache_control"] == MARK["cache_control"]


async def test_what_follows_the_passages_stays_text(anthropic: HttpAdapter):
    [result] = await tool_results(anthropic, search_result(rest="\n\nMore of the page:\nIt burns."))

    assert "More of the page:\nIt burns.\n</web_text" in result["content"][-2]["text"]


async def test_without_the_setting_the_passages_are_plain_text(anthropic: HttpAdapter):
    found = search_result()

    [result] = await tool_results(anthropic, found, native=False)

    assert result["content"] == found.text


async def test_what_is_not_word_for_word_in_the_result_is_not_cited(anthropic: HttpAdapter):
    whole = search_result()
    shortened = replace(whole, tool_call_id="c2", content=(Text("[… shortened]"),))
    failed = search_result("c3", is_error=True)
    unlisted = replace(whole, tool_call_id="c4", content=(Text(evidence_text(EVIDENCE, SNAPSHOTS)),))

    results = await tool_results(anthropic, shortened, failed, unlisted)

    assert [isinstance(one["content"], str) for one in results[:2]] == [True, True]
    assert "search_result" not in json.dumps(results)


async def test_images_and_passages_stand_side_by_side(anthropic: HttpAdapter):
    result = search_result()
    [sent] = await tool_results(anthropic, replace(result, content=(*result.content, PICTURE)))

    kinds = [block["type"] for block in sent["content"]]
    assert kinds == ["text", "search_result", "search_result", "text", "image", "text"]


async def test_a_cited_span_is_followed_by_its_passages_in_one_flowing_text(anthropic: HttpAdapter):
    anthropic.script(
        reply(
            think("Hm.", signature="c2ln"),
            say("In short: "),
            cite("Scheele", " isolated it", passages=("1.1",)),
            say(" and "),
            cite("Lavoisier named it.", passages=("1.2", "2.1", "1.2"), citations_first=True),
            say(" So it is."),
            stop(),
        )
    )
    text = "In short: Scheele isolated it [1.1] and Lavoisier named it [1.2][2.1]. So it is."

    events = await ask(anthropic)

    assert shown(events) == text
    assert [one for one in events if isinstance(one, TextStart | TextEnd)] == [TextStart(1), TextEnd(1, text)]
    assert final_message(events).content[1:] == (Text(text),)


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([cite("氧气由舍勒分离。", passages=("1.1",))], "氧气由舍勒分离[1.1]。"),
        ([cite("| Scheele | 1772 |\n", passages=("1.1",)), say("| B |")], "| Scheele | 1772 [1.1] |\n| B |"),
        ([cite("Scheele.\n\n", passages=("1.1",)), say("- Next")], "Scheele [1.1].\n\n- Next"),
        ([cite("Scheele [1.1].", passages=("1.1",))], "Scheele [1.1]."),
        ([cite("Scheele [1]. ", passages=("1.1",)), say("B")], "Scheele [1]. B"),
        ([cite("Scheele [2.1].", passages=("1.1",))], "Scheele [2.1][1.1]."),
        ([cite("A", passages=("1.1",)), cite(".", passages=("1.2",))], "A [1.1][1.2]."),
        ([cite("A", passages=()), say(".")], "A."),
        ([say("A. "), say("B… ")], "A. B… "),
        ([cite("...", "...", passages=("1.1",))], "[1.1]......"),
        ([cite("A" + "." * 300, passages=("1.1",))], "A" + "." * 300 + " [1.1]"),
    ],
)
async def test_the_marker_stands_at_the_end_of_the_span(anthropic: HttpAdapter, spans: list[Any], text: str):
    anthropic.script(reply(*spans, stop()))

    events = await ask(anthropic)

    assert (shown(events), final_message(events).content) == (text, (Text(text),))


def location(**fields: Any) -> dict[str, Any]:
    return {
        "type": "search_result_location",
        "source": "https://example.org",
        "title": "[1.1, 1.2] Oxygen",
        "cited_text": "[1.1] Oxygen was isolated by Scheele.",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
    } | fields


@pytest.mark.parametrize(
    ("citation", "marker"),
    [
        (location(), " [1.1]"),
        (location(start_block_index=1, end_block_index=2), " [1.2]"),
        (location(start_block_index=0, end_block_index=2), " [1.1][1.2]"),
        (location(end_block_index=0), " [1.1]"),
        (location(title=None), " [1.1]"),
        (location(title="Oxygen"), " [1.1]"),
        (location(title="Oxygen", cited_text="Oxygen"), ""),
        (location(start_block_index=7, end_block_index=8), ""),
        (location(start_block_index=None, end_block_index=None), " [1.1]"),
        (location(type="char_location"), ""),
        (location(start_block_index="first"), ""),
        ("all of it", ""),
        (None, ""),
    ],
)
async def test_citations_of_any_shape_are_read_or_left_out(citation: Any, marker: str):
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Scheele"}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}}
    data = render_body("anthropic", reply(event(start), event(delta), stop()))
    at_start = start | {"content_block": {"type": "text", "text": "Scheele", "citations": [citation]}}
    other = render_body("anthropic", reply(event(at_start), stop()))

    for body in (data, other):
        answer = final_message(await collect_events(model_with_response("anthropic", body)))
        assert (answer.content, answer.failure) == ((Text(f"Scheele{marker}"),), None)


def cited_answer() -> ModelReply:
    """Bytes that need no request: the locations are written out."""
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Kết luận: "}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Scheele phân lập 🚀."}},
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": one}}
            for one in (location(), location(start_block_index=1, end_block_index=2))
        ),
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": " Hết."}},
        {"type": "content_block_stop", "index": 2},
    ]
    return reply(*map(event, events), call("list_files", {}, id="c9"), stop("toolUse"))


async def test_a_stream_of_citations_split_at_any_byte_gives_the_same_events():
    data = render_body("anthropic", cited_answer())
    whole = await collect_events(model_with_response("anthropic", data))

    assert isinstance(whole[-1], Done)
    assert whole[-1].message.text == "Kết luận: Scheele phân lập 🚀 [1.1][1.2]. Hết."
    for at in range(1, len(data)):
        assert await collect_events(model_with_response("anthropic", data[:at], data[at:])) == whole, at
    single = (data[at : at + 1] for at in range(len(data)))
    assert await collect_events(model_with_response("anthropic", *single)) == whole


async def test_a_stream_of_citations_cut_off_at_any_byte_keeps_every_letter_that_arrived():
    data = render_body("anthropic", cited_answer())
    whole = "Kết luận: Scheele phân lập 🚀 [1.1][1.2]. Hết."
    for length in range(len(data)):
        answer = final_message(await collect_events(model_with_response("anthropic", data[:length])))
        plain = whole.replace(" [1.1][1.2]", "")
        assert plain.startswith(answer.text.replace(" [1.1][1.2]", "").replace(" [1.1]", "")), length
        if b'" H' in data[:length]:
            assert "[1.1][1.2]." in answer.text


# Refusals ------------------------------------------------------------------------------------------------

REFUSALS = [
    (400, "messages.2.content.0.tool_result.content.1: Input tag 'search_result' found using 'type' does not match"),
    (400, "This model does not support citations."),
    (400, "messages.2.content.0.tool_result.content: Input should be a valid string"),
    (422, "unknown variant `search_result`, expected `text` or `image`"),
    (400, "Unsupported content block type in tool_result"),
    (500, "tool_result content only supports text and image blocks"),
    (501, "search results are not implemented"),
]
GOOD = reply(say("Scheele [1.1]."), stop())


def sent_natively(anthropic: HttpAdapter) -> list[bool]:
    return ["search_result" in json.dumps(request.body) for request in anthropic.upstream.requests]


@pytest.mark.parametrize(("code", "refusal"), REFUSALS)
async def test_a_refused_request_is_repeated_at_once_in_the_plain_form(
    anthropic: HttpAdapter, caplog: pytest.LogCaptureFixture, code: int, refusal: str
):
    anthropic.script(status(code, refusal), GOOD, GOOD)
    model = anthropic.model(profile=NATIVE)

    with caplog.at_level(logging.WARNING):
        answers = [final_message(await collect_events(model, SEARCHED)) for _ in range(2)]

    assert [one.content for one in answers] == [(Text("Scheele [1.1]."),)] * 2
    assert sent_natively(anthropic) == [True, False, False]
    assert anthropic.sleeps == []
    [line] = caplog.records
    assert line.getMessage().startswith("anthropic/the-model refused citations: it gets the passages as plain text.")


async def test_a_refusal_inside_the_stream_is_one_too(anthropic: HttpAdapter):
    anthropic.script(reply(error_event("invalid_request_error", "search_result blocks are not supported")), GOOD)

    assert final_message(await ask(anthropic)).content == (Text("Scheele [1.1]."),)
    assert sent_natively(anthropic) == [True, False]


async def test_other_models_of_the_process_know_of_the_refusal(anthropic: HttpAdapter):
    anthropic.script(status(*REFUSALS[0]), GOOD, GOOD, GOOD)
    plain_models: set[str] = set()
    endpoint = Endpoint("anthropic", anthropic.base_url, anthropic.upstream.key)

    for name in ("the-model", "the-model", "another"):
        model = build_model("anthropic", endpoint, name, NATIVE, net=anthropic.net, plain_models=plain_models)
        await collect_events(model, SEARCHED)

    assert sent_natively(anthropic) == [True, False, False, True]


async def test_citations_and_images_can_be_refused_one_after_the_other(anthropic: HttpAdapter):
    result = search_result()
    context = Context("", conversation(replace(result, content=(*result.content, PICTURE))))
    no_images = status(400, "This model does not support images.")
    anthropic.script(status(*REFUSALS[0]), no_images, GOOD, no_images, status(*REFUSALS[0]), GOOD)

    for _ in range(2):
        assert final_message(await ask(anthropic, context)).failure is None

    bodies = [json.dumps(request.body) for request in anthropic.upstream.requests]
    sent = [("search_result" in body, '"image"' in body) for body in bodies]
    assert sent == [(True, True), (False, True), (False, False), (True, True), (True, False), (False, False)]


async def test_a_refusal_with_thinking_keeps_the_thinking(anthropic: HttpAdapter):
    anthropic.script(status(*REFUSALS[1]), GOOD)

    await collect_events(anthropic.model(profile=NATIVE), SEARCHED, Options(thinking_budget=2048))

    assert [one.body["thinking"]["budget_tokens"] for one in anthropic.upstream.requests] == [2048, 2048]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "max_tokens: must be at least 1"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (401, "citations are for paying customers"),
        (400, "messages.2: unexpected tool_use_id 'c1' in tool_result"),
    ],
)
async def test_another_mistake_is_told_at_once(anthropic: HttpAdapter, code: int, message: str):
    anthropic.script(status(code, message))

    failure = final_message(await ask(anthropic)).failure

    assert failure is not None
    assert message in failure.message
    assert len(anthropic.upstream.requests) == 1


async def test_a_request_without_passages_is_not_repeated(anthropic: HttpAdapter):
    anthropic.script(status(*REFUSALS[0]))

    assert final_message(await ask(anthropic, QUESTION)).failure is not None
    assert len(anthropic.upstream.requests) == 1


async def test_a_second_refusal_is_told(anthropic: HttpAdapter):
    anthropic.script(*[status(*REFUSALS[0])] * 2)

    failure = final_message(await ask(anthropic)).failure

    assert failure is not None
    assert failure.status == 400


async def test_a_picture_that_is_refused_says_nothing_of_citations(anthropic: HttpAdapter):
    result = search_result()
    context = Context("", conversation(replace(result, content=(*result.content, Image("image/gif", b"GIF89a")))))
    anthropic.script(status(400, "Unsupported content type: image_url"), GOOD)

    assert final_message(await ask(anthropic, context)).failure is None
    assert sent_natively(anthropic) == [True, True]


async def test_another_api_gets_the_passages_as_text(openai: HttpAdapter):
    found = search_result()

    body = await openai.request_body(*conversation(found), profile=NATIVE)

    assert body["messages"][-1]["content"] == found.text
