"""A model that refuses images is asked once more without them."""

import json

import pytest

from footnote.models.base import Context
from footnote.protocol.messages import Text, UserMessage
from matrix.adapters import HttpAdapter, listen, message
from matrix.history import BLIND, PICTURE
from upstream import reply, say, status, stop

SEEING = Context(system="", messages=(UserMessage((Text("What is this?"), PICTURE)),))
NOTE = "this model cannot see images"
GOOD = reply(say("I cannot see it."), stop())
REFUSALS = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "the-model is not a multimodal model"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (400, "messages[1]: unknown variant `image_url`, expected `text`"),
    (404, "No endpoints found that support image input"),
    (422, "This model does not support vision."),
]


@pytest.mark.parametrize(("code", "said"), REFUSALS)
async def test_the_same_request_is_made_once_more_without_images(http: HttpAdapter, code: int, said: str):
    http.script(status(code, said), GOOD)

    answer = message(await http.ask(SEEING))

    assert (answer.content, answer.failure) == ((Text("I cannot see it."),), None)
    first, second = [json.dumps(request.body) for request in http.upstream.requests]
    assert "iVBORw" in first
    assert NOTE not in first
    assert "iVBORw" not in second
    assert NOTE in second
    assert "What is this?" in second


async def test_it_is_not_shown_images_again_in_the_next_round(http: HttpAdapter):
    http.script(status(*REFUSALS[0]), GOOD, GOOD)
    model = http.model()

    await listen(model, SEEING)
    await listen(model, SEEING)

    assert ["iVBORw" in json.dumps(request.body) for request in http.upstream.requests] == [True, False, False]


async def test_a_second_refusal_is_told(http: HttpAdapter):
    http.script(*[status(*REFUSALS[0])] * 2)

    failure = message(await http.ask(SEEING)).failure

    assert failure is not None
    assert failure.status == 400
    assert len(http.upstream.requests) == 2


@pytest.mark.parametrize(
    "said", ["image exceeds 5 MB maximum", "Could not process image", "messages: at least one is required"]
)
async def test_another_mistake_is_told_at_once(http: HttpAdapter, said: str):
    http.script(status(400, said))

    failure = message(await http.ask(SEEING)).failure

    assert failure is not None
    assert said in failure.message
    assert len(http.upstream.requests) == 1


async def test_a_request_that_had_no_images_is_not_made_again(http: HttpAdapter):
    http.script(*[status(*REFUSALS[0])] * 2)

    await listen(http.model(profile=BLIND), SEEING)
    await http.ask()

    assert len(http.upstream.requests) == 2
