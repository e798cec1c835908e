"""Error messages about requests that are too long, and messages that only resemble them."""

import pytest

from footnote.models.errors import CONTEXT_OVERFLOW, Endpoint, from_event, from_status

TOO_LONG = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
    "request (3030 tokens) exceeds the available context size (2048 tokens), try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Input is too long for requested model.",
    "prompt token count of 140000 exceeds the limit of 128000",
    "Your request exceeded model token limit: 262144 (requested: 300000)",
]
SOMETHING_ELSE = [
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "messages: text content blocks must be non-empty",
    "tools.0.custom.name: String should match pattern",
    "model: the requested model does not exist",
]
ENDPOINT = Endpoint("somebody", "http://localhost")


@pytest.mark.parametrize("message", TOO_LONG)
def test_a_request_that_is_too_long_is_recognised_in_every_providers_words(message: str):
    assert from_status(ENDPOINT, 400, f'{{"error": {{"message": "{message}"}}}}'.encode()).type == CONTEXT_OVERFLOW


@pytest.mark.parametrize("message", SOMETHING_ELSE)
def test_other_mistakes_are_not_taken_for_it(message: str):
    assert from_status(ENDPOINT, 400, f'{{"error": {{"message": "{message}"}}}}'.encode()).type != CONTEXT_OVERFLOW


def test_it_is_recognised_inside_a_stream_too():
    error = {"type": "invalid_request_error", "message": TOO_LONG[0]}

    assert from_event(ENDPOINT, error).type == CONTEXT_OVERFLOW


@pytest.mark.parametrize("body", [b"", b"<html>413 Request Entity Too Large</html>"])
def test_a_request_too_large_without_a_word_is_too_long(body: bytes):
    assert from_status(ENDPOINT, 413, body).type == CONTEXT_OVERFLOW
