"""What calls of models cost: time, tokens, failures."""

from footnote.protocol.messages import AssistantMessage, StopReason
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceSpan

CALLS = Operation(
    "model_call", "Calls of models, to the end of the response.", "model", span="chat", buckets=SLOW_BUCKETS
)
FIRST_EVENTS = Operation(
    "model_first_event", "Calls of models, until the response begins.", "model", buckets=SLOW_BUCKETS
)
TOKENS = EventCounter("model_tokens", "Tokens that models read and wrote.", "model", "kind")

_OUTCOMES: dict[StopReason, str] = {"error": "error", "aborted": "cancelled"}


def record_call(call: TraceSpan, model: str, message: AssistantMessage | None) -> None:
    """What came of a call; None: nobody waited for the end of it."""
    provider, _, name = model.partition("/")
    call.set_attributes(
        {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": name}
    )
    if message is None:
        return
    call.outcome = _OUTCOMES.get(message.stop_reason, "ok")
    usage = message.usage
    for kind in ("input", "output", "cache_read", "cache_write"):
        if tokens := getattr(usage, kind):
            TOKENS.add(tokens, model, kind)
    call.set_attributes(
        {
            "gen_ai.response.finish_reasons": (message.stop_reason,),
            "gen_ai.usage.input_tokens": usage.context,
            "gen_ai.usage.output_tokens": usage.output,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        }
    )
    if message.failure is not None:
        call.set_attributes({"error.type": message.failure.type})
