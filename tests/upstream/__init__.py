"""A scripted model provider: a real HTTP server on loopback that speaks both APIs and checks what it is asked.

    upstream.script(reply(think("Hm.", signature="s1"), call("web_search", {"query": "x"}), stop("toolUse")),
                    reply(say("Found", " it."), stop()))

Steps say what the model does, not how a provider writes it (`steps`); `anthropic_wire` and `openai_wire` write it
down as each provider does, `wire` holds the oddities of real servers. Every request is held against the official
SDKs' types and the rules that the real APIs enforce (`sdk_types`, `anthropic_rules`, `openai_rules`): a request
that they would refuse is refused, and fails the test.
"""

from upstream.server import Request, Upstream
from upstream.steps import (
    Reply,
    StatusReply,
    call,
    cut,
    error_event,
    event,
    hold,
    overflow,
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
    together,
    usage,
)
from upstream.wire import Wire

__all__ = [
    "Reply",
    "Request",
    "StatusReply",
    "Upstream",
    "Wire",
    "call",
    "cut",
    "error_event",
    "event",
    "hold",
    "overflow",
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
    "together",
    "usage",
]
