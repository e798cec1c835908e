"""Error messages that refuse all images or one of them, and messages that only mention images."""

import itertools
import json

import pytest

from footnote.models.base import Endpoint
from footnote.models.errors import from_event, from_status, refuses_every_image, refuses_images, unreachable
from footnote.net import ConnectionFailed

CANNOT_SEE = [
    "Invalid content type. image_url is only supported by certain models.",  # OpenAI
    "No endpoints found that support image input",  # OpenRouter
    "this model does not support image input (ref: b8bd630e-4a39)",  # Ollama
    "this model is missing data required for image input",
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",  # llama.cpp
    "the-model is not a multimodal model",  # vLLM
    "the-model is not a multimodal model None",
    "At most 0 image(s) may be provided in one prompt.",
    "Model does not support images. Please use a model that does.",  # LM Studio
    "Image input is not enabled for this model",  # Mistral
    "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`",  # DeepSeek
    "messages[1]: unknown variant `image_url`, expected `text`",
    "This model does not support vision.",
    "The model can't process images",
    "Image inputs are not supported by this model.",
    "Unsupported content type: image_url",
    "no image support",
    "当前模型 does not accept multimodal content。",
]
ONE_IMAGE = [
    "Could not process image",  # Anthropic
    "messages.0.content.1.image.source.base64.data: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
    "messages.0.content.1.image: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    "messages.0.content.1.image.source.base64.media_type: The image does not appear to match the provided media type",
    "The image data you provided does not represent a valid image. Please check your input and try again.",  # OpenAI
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png'].",
    "Invalid image.",
    "Unable to process input image. Please retry or report in https://developers.generativeai.google",  # Google
    "Provided image is not valid",
    "At most 1 image(s) may be provided in one prompt.",  # vLLM
    "cannot identify image file <_io.BytesIO object at 0x7f>",
    "Failed to load image or audio file",  # llama.cpp
    "Your image was rejected by the safety system: it is not allowed.",
]
SOMETHING_ELSE = [
    "Invalid value for 'tools[0].function.name': image-resize is bad",
    "tools.3.custom.input_schema: invalid: the path of the image",
    "Invalid 'tools[0].function.name': 'image resize' does not match the pattern",
    "unknown field: temperature; message: tell me about image formats",
    "temperature is not supported; message: what is in the image",
    "Invalid type for 'messages[2].content': tell me about image formats",
    "Unsupported parameter: max_tokens. The last message was: describe this image",
    "The model llama-3.2-11b-vision-preview is not available",
    "The model `phi-4-multimodal-instruct` does not exist or is not supported",
    "messages: at least one is required",
    "imagery_level is not supported",
    "prompt is too long: 213462 tokens > 200000 maximum, with 3 images",
]
ENDPOINT = Endpoint("vision", "http://localhost")


def error_body(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()


def test_a_model_that_cannot_see_is_recognised_in_every_providers_words(subtests: pytest.Subtests):
    for message, status in itertools.product(CANNOT_SEE, [400, 404, 422, 500]):
        with subtests.test(said=message, status=status):
            failure = from_status(ENDPOINT, status, error_body(message))

            assert refuses_images(failure)
            assert refuses_every_image(failure)


@pytest.mark.parametrize("message", ONE_IMAGE)
def test_a_picture_that_is_refused_says_nothing_of_others(message: str):
    failure = from_status(ENDPOINT, 400, error_body(message))

    assert refuses_images(failure)
    assert not refuses_every_image(failure)


@pytest.mark.parametrize("message", SOMETHING_ELSE)
def test_a_mistake_that_only_has_the_word_in_it_is_not_taken_for_it(message: str):
    failure = from_status(ENDPOINT, 400, error_body(message))

    assert not refuses_images(failure)
    assert not refuses_every_image(failure)


@pytest.mark.parametrize("status", [401, 402, 413, 429, 503])
def test_what_has_another_cause_by_its_status_is_not_taken_for_it(status: int):
    assert not refuses_images(from_status(ENDPOINT, status, error_body(CANNOT_SEE[0])))


def test_it_is_recognised_inside_a_stream_too():
    assert refuses_every_image(from_event(ENDPOINT, {"message": "Model does not support images."}))


def test_a_server_that_is_not_there_refuses_no_images():
    assert not refuses_images(unreachable(ENDPOINT, ConnectionFailed("cannot connect to host vision.example")))
