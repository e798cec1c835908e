"""Data that a thinking model attaches to a call, such as a signature, is sent back with the call."""

from typing import Any

import msgspec
import pytest

from footnote.protocol.messages import AssistantMessage, Text, ToolResultMessage, user_message
from footnote.sessions.turns import encode, message_decoder
from matrix.adapters import HttpAdapter, final_message
from matrix.test_mixed_chunks import chunk
from upstream import reply, stop

SIGNATURE = {"google": {"thought_signature": "c2lnbmVk"}}
FIELDS = [
    {"extra_content": SIGNATURE},
    {"thought_signature": "c2lnbmVk"},
    {"thoughtSignature": "c2lnbmVk"},
    {"provider_specific_fields": {"thought_signature": "c2lnbmVk"}},
]


def _delta(**fields: Any) -> Any:
    return chunk({"tool_calls": [{"index": 0, **fields}]})


async def _receive_call(openai: HttpAdapter, *deltas: Any) -> AssistantMessage:
    openai.upstream.extensions = frozenset().union(*FIELDS)
    openai.script(reply(*deltas, stop("toolUse")))
    # Encoded and decoded, as after a crash, a reload, or on another replica.
    stored = message_decoder.decode(encode(final_message(await openai.ask())))
    assert isinstance(stored, AssistantMessage)
    return stored


async def _resent_call(openai: HttpAdapter, message: AssistantMessage) -> dict[str, Any]:
    result = ToolResultMessage("c1", "look", (Text("found"),))
    body = await openai.request_body(user_message("Why?"), message, result)
    [call] = body["messages"][-2]["tool_calls"]
    return call


@pytest.mark.parametrize("fields", FIELDS, ids=lambda fields: next(iter(fields)))
@pytest.mark.parametrize("comes", ["with the name", "with the arguments"])
async def test_the_signature_beside_a_call_is_kept_and_sent_back(openai: HttpAdapter, fields: Any, comes: str) -> None:
    first, second = (fields, {}) if comes == "with the name" else ({}, fields)
    message = await _receive_call(
        openai,
        _delta(id="c1", type="function", function={"name": "look", "arguments": ""}, **first),
        _delta(function={"arguments": '{"at": 1}'}, **second),
    )
    function = {"name": "look", "arguments": '{"at":1}'}
    assert await _resent_call(openai, message) == {"id": "c1", "type": "function", "function": function, **fields}


async def test_another_model_is_not_sent_the_signature(openai: HttpAdapter) -> None:
    function = {"name": "look", "arguments": "{}"}
    message = await _receive_call(openai, _delta(id="c1", type="function", function=function, extra_content=SIGNATURE))
    other = msgspec.structs.replace(message, model="google/another")
    assert await _resent_call(openai, other) == {"id": "c1", "type": "function", "function": function}
