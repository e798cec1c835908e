"""A scripted model provider: a real HTTP server on loopback that speaks both APIs and validates each request.

    upstream.script(reply(think("Hm.", signature="s1"), call("web_search", {"query": "x"}), stop("toolUse")),
                    reply(say("Found", " it."), stop()))

Steps say what the model does, not how a provider encodes it (`steps`); `anthropic_wire` and `openai_wire` encode them,
and `wire` holds the oddities of real servers. Each request is checked against the types of the official SDKs and the
rules of the real APIs (`sdk_types`, `anthropic_rules`, `openai_rules`): a request that they would refuse is refused
here too, and fails the test.
"""

from upstream.server import ModelRequest, Upstream
from upstream.steps import (
    ModelReply,
    ModelStatusReply,
    call,
    cite,
    cut,
    error_event,
    event,
    hold,
    overflow,
    parallel_calls,
    pause,
    raw,
    redacted,
    refuse,
    reply,
    reset,
    say,
    stall,
    status,
    stop,
    think,
    usage,
)
from upstream.wire import Wire

__all__ = [
    "ModelReply",
    "ModelRequest",
    "ModelStatusReply",
    "Upstream",
    "Wire",
    "call",
    "cite",
    "cut",
    "error_event",
    "event",
    "hold",
    "overflow",
    "parallel_calls",
    "pause",
    "raw",
    "redacted",
    "refuse",
    "reply",
    "reset",
    "say",
    "stall",
    "status",
    "stop",
    "think",
    "usage",
]
