"""A request that is refused because of its images is repeated without them."""

import json

import pytest

from footnote.models.base import Context
from footnote.protocol.messages import Image, Text, ToolCall, ToolResultMessage, UserMessage
from matrix.adapters import HttpAdapter, collect_events, final_message
from matrix.history import BLIND, PICTURE, assistant_answer
from upstream import error_event, reply, say, status, stop

SEEING = Context(system="", messages=(UserMessage((Text("What is this?"), PICTURE)),))
NOTE = "It could not be shown to you: this model cannot see images."
REFUSED = "It could not be shown to you: the provider refused it"
GOOD = reply(say("I cannot see it."), stop())
REFUSALS = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "the-model is not a multimodal model"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (400, "messages[1]: unknown variant `image_url`, expected `text`"),
    (404, "No endpoints found that support image input"),
    (422, "This model does not support vision."),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (501, "image input is not supported"),
]
DAMAGED = [
    (400, "Could not process image"),
    (400, "image exceeds 5 MB maximum"),
    (422, "The image data you provided does not represent a valid image. Please check your input."),
]


def images_sent(http: HttpAdapter) -> list[bool]:
    """Whether each request contained an image."""
    return ["iVBORw" in json.dumps(request.body) for request in http.upstream.requests]


@pytest.mark.parametrize(("code", "refusal"), REFUSALS)
async def test_the_same_request_is_made_once_more_without_images(http: HttpAdapter, code: int, refusal: str):
    http.script(status(code, refusal), GOOD)

    answer = final_message(await http.ask(SEEING))

    assert (answer.content, answer.failure) == ((Text("I cannot see it."),), None)
    assert http.sleeps == []
    first, second = [json.dumps(request.body) for request in http.upstream.requests]
    assert "iVBORw" in first
    assert NOTE not in first
    assert "iVBORw" not in second
    assert NOTE in second
    assert "What is this?" in second


async def test_it_is_not_shown_images_again_in_the_next_round(http: HttpAdapter):
    http.script(status(*REFUSALS[0]), GOOD, GOOD)
    model = http.model()

    await collect_events(model, SEEING)
    await collect_events(model, SEEING)

    assert images_sent(http) == [True, False, False]


@pytest.mark.parametrize(("code", "refusal"), DAMAGED)
async def test_one_damaged_image_does_not_end_the_conversation(http: HttpAdapter, code: int, refusal: str):
    http.script(status(code, refusal), GOOD)

    answer = final_message(await http.ask(SEEING))

    assert (answer.content, answer.failure) == ((Text("I cannot see it."),), None)
    assert images_sent(http) == [True, False]
    second = json.dumps(http.upstream.requests[1].body)
    assert REFUSED in second
    assert NOTE not in second
    assert "What is this?" in second


async def test_after_a_damaged_image_another_one_is_shown(http: HttpAdapter):
    http.script(status(*DAMAGED[0]), GOOD, GOOD, GOOD)
    model = http.model()
    look = assistant_answer(ToolCall("c1", "read_file", {"file_path": "/b.gif"}), by=http.id, reason="toolUse")
    other = ToolResultMessage("c1", "read_file", (Text("/b.gif is this image:"), Image("image/gif", b"GIF89a")))

    await collect_events(model, SEEING)
    await collect_events(model, SEEING)
    await collect_events(model, Context(system="", messages=(*SEEING.messages, look, other)))

    assert images_sent(http) == [True, False, False, False]
    last = json.dumps(http.upstream.requests[-1].body)
    assert REFUSED in last
    assert "R0lGODlh" in last


async def test_a_damaged_image_in_the_result_of_a_tool_leaves_the_result(http: HttpAdapter):
    http.script(status(*DAMAGED[0]), GOOD)
    look = assistant_answer(ToolCall("c1", "read_file", {"file_path": "/a.png"}), by=http.id, reason="toolUse")
    result = ToolResultMessage("c1", "read_file", (Text("/a.png is this image:"), PICTURE))

    answer = final_message(await http.ask(Context(system="", messages=(UserMessage((Text("Look."),)), look, result))))

    assert answer.failure is None
    assert images_sent(http) == [True, False]
    second = json.dumps(http.upstream.requests[1].body)
    assert "/a.png is this image:" in second
    assert REFUSED in second


async def test_a_server_that_fails_over_an_image_is_waited_for_first(http: HttpAdapter):
    http.script(*[status(500, "Failed to process image")] * 4, GOOD)

    assert final_message(await http.ask(SEEING)).failure is None
    assert images_sent(http) == [True, True, True, True, False]


async def test_a_refusal_inside_the_stream_is_one_too(http: HttpAdapter):
    http.script(reply(error_event("invalid_request_error", "Model does not support images.")), GOOD)

    assert final_message(await http.ask(SEEING)).content == (Text("I cannot see it."),)
    assert images_sent(http) == [True, False]


async def test_a_second_refusal_inside_the_stream_is_told(http: HttpAdapter):
    http.script(*[reply(error_event("invalid_request_error", "Model does not support images."))] * 2)

    failure = final_message(await http.ask(SEEING)).failure

    assert failure is not None
    assert "Model does not support images." in failure.message
    assert images_sent(http) == [True, False]


async def test_a_second_refusal_is_told(http: HttpAdapter):
    http.script(*[status(*REFUSALS[0])] * 2)

    failure = final_message(await http.ask(SEEING)).failure

    assert failure is not None
    assert failure.status == 400
    assert len(http.upstream.requests) == 2


@pytest.mark.parametrize(
    "message",
    [
        "messages: at least one is required",
        "Invalid value for 'tools[0].function.name': image-resize is bad",
        "unknown field: temperature; message: tell me about image formats",
    ],
)
async def test_another_mistake_is_told_at_once(http: HttpAdapter, message: str):
    http.script(status(400, message))

    failure = final_message(await http.ask(SEEING)).failure

    assert failure is not None
    assert message in failure.message
    assert len(http.upstream.requests) == 1


async def test_a_request_that_had_no_images_is_not_made_again(http: HttpAdapter):
    http.script(*[status(*REFUSALS[0])] * 2)

    await collect_events(http.model(profile=BLIND), SEEING)
    await http.ask()

    assert len(http.upstream.requests) == 2
