"""For any conversation the request is one that the real API accepts."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footnote.models import anthropic, openai_chat
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile
from footnote.models.wire import dumps
from footnote.protocol.messages import (
    AssistantMessage,
    Foreign,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from footnote.protocol.tools import ToolSpec
from upstream import anthropic_rules, openai_rules

MODEL = "mine/model"
KEY = "sk-key"
ENDPOINT = Endpoint("mine", "http://localhost", KEY)

TEXTS = st.sampled_from(["", " ", "\n", "Yes.", "cổ 🚀", "half \ud83d", "\u2028", "a" * 50])
IDS = st.sampled_from(["one", "two", "", "call|" + "é/+=" * 120, "call|" + "é/+=" * 120 + "!", "x" * 64, "\ud83d"])
NAMES = st.sampled_from(["web_search", "", "búsqueda web", "n" * 100, "mcp.server/tool"])
PARTS = st.lists(st.one_of(st.builds(Text, TEXTS), st.just(Image("image/png", b"x"))), max_size=3).map(tuple)
FOUND: dict[str, Any] = {
    "evidence": [
        {"id": "1.1", "number": 1, "text": "So it is.", "start": 0, "end": 9, "snapshot_id": "a"},
        {"id": "1.2", "number": 1, "text": " ", "start": 9, "end": 10, "snapshot_id": "a"},
        {"id": "2.1", "number": 2, "text": "A [1.1] B", "start": 0, "end": 9, "snapshot_id": "b"},
    ]
}
FOUND_TEXTS = st.lists(
    st.sampled_from(
        ["Sources:", "[1] [A](http://a)", "[2] [](http://b)", "[1.1] So it is.", "[1.2]  ", "[2.1] A [1.1] B", "", "So"]
    ),
    max_size=8,
).map("\n".join)
FOUND_PARTS = st.lists(st.one_of(st.builds(Text, FOUND_TEXTS), st.just(Image("image/png", b"x"))), max_size=2).map(
    tuple
)
ARGUMENTS = st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.none(), st.lists(TEXTS)), max_size=2)
THOUGHTS = st.builds(
    Thinking,
    TEXTS,
    signature=st.sampled_from([None, "c2ln"]),
    redacted=st.sampled_from([None, None, "ZGF0YQ=="]),
    details=st.sampled_from([(), ({"type": "reasoning.text", "text": "Hm."},)]),
)
CALLS = st.builds(ToolCall, IDS, NAMES, ARGUMENTS, invalid=st.sampled_from([None, '{"half']))
BLOCKS = st.one_of(THOUGHTS, st.builds(Text, TEXTS), CALLS)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, PARTS),
    st.builds(
        AssistantMessage,
        st.lists(BLOCKS, max_size=4).map(tuple),
        st.sampled_from(["stop", "length", "toolUse", "error", "aborted"]),
        st.sampled_from([MODEL, "other/model"]),
    ),
    st.builds(ToolResultMessage, IDS, NAMES, PARTS, is_error=st.booleans()),
    st.builds(ToolResultMessage, IDS, NAMES, FOUND_PARTS, is_error=st.booleans(), artifact=st.just(FOUND)),
)
CONTEXTS = st.builds(
    Context,
    system=TEXTS,
    messages=st.lists(MESSAGES, max_size=8).map(tuple),
    tools=st.sampled_from([(), (ToolSpec("web_search", "Searches.", {"type": "object", "properties": {}}),)]),
)
OPTIONS = st.builds(
    Options,
    thinking_budget=st.sampled_from([None, 0, 1, 1024, 100_000]),
    temperature=st.sampled_from([None, 0.0, 1.0]),
    max_tokens=st.sampled_from([None, 1, 1000, 10**9]),
)
PROFILES = st.builds(
    Profile,
    window=st.just(100_000),
    max_output=st.sampled_from([4_096, 64_000]),
    thinking=st.sampled_from(["none", "budget", "adaptive", "effort"]),
    images=st.booleans(),
    citations=st.sampled_from(["plain", "native"]),
)


def request_body(api: Any, context: Context, options: Options, profile: Profile) -> Any:
    return json.loads(dumps(api.request_body(MODEL, context, options, profile)))


@settings(max_examples=300, deadline=None)
@given(CONTEXTS, OPTIONS, PROFILES)
def test_anthropic_takes_it(context: Context, options: Options, profile: Profile):
    body = request_body(anthropic, context, options, profile)

    assert anthropic_rules.request_problems(anthropic.request_headers(ENDPOINT), body, KEY) == []


@settings(max_examples=300, deadline=None)
@given(CONTEXTS, OPTIONS, PROFILES)
def test_openai_takes_it(context: Context, options: Options, profile: Profile):
    body = request_body(openai_chat, context, options, profile)
    known = frozenset({"reasoning_details"})

    assert openai_rules.request_problems(openai_chat.request_headers(ENDPOINT), body, KEY, known) == []


@pytest.mark.parametrize("api", [anthropic, openai_chat], ids=["anthropic", "openai"])
@settings(max_examples=100, deadline=None)
@given(CONTEXTS)
def test_the_same_history_is_the_same_request_and_stays_as_it_was(api: Any, context: Context):
    before = repr(context)

    assert request_body(api, context, Options(), Profile()) == request_body(api, context, Options(), Profile())
    assert repr(context) == before


def test_a_foreign_block_of_the_same_model_does_not_make_an_empty_message():
    history = (AssistantMessage((Foreign({"type": "x"}),), "stop", MODEL),)

    body = request_body(openai_chat, Context("", history), Options(), Profile())

    assert openai_rules.request_problems(openai_chat.request_headers(ENDPOINT), body, KEY) == []
