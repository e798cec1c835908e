"""One request whose response is read as a whole, without the events of a turn."""

import asyncio
from contextlib import aclosing, suppress

from msgspec import Struct

from footnote.cancel import Cancelled, CancelScope
from footnote.models.base import Context, Model, Options
from footnote.protocol.messages import Failure, Usage, user_message
from footnote.protocol.stream import Done, Failed, TextDelta


class Completion(Struct, frozen=True):
    """What a model said, whole or not, and what it used. `cost` is in US dollars, None if the price is not known."""

    text: str = ""
    usage: Usage = Usage()
    cost: float | None = 0.0
    failure: Failure | None = None


async def complete(
    model: Model,
    system: str,
    prompt: str,
    options: Options,
    cancel: CancelScope,
    max_seconds: float | None = None,
) -> Completion:
    """The response of a model; as far as it came, if it is cancelled or takes longer than `max_seconds`."""
    scope = CancelScope()
    task = asyncio.create_task(_collect(model, Context(system, (user_message(prompt),)), options, scope))
    try:
        with suppress(Cancelled):
            await cancel.wait(_wait(task, max_seconds))
    finally:
        scope.cancel()
        await asyncio.wait({task})
    return task.result()


async def _wait(task: asyncio.Task[Completion], max_seconds: float | None) -> None:
    await asyncio.wait({task}, timeout=max_seconds)


async def _collect(model: Model, context: Context, options: Options, cancel: CancelScope) -> Completion:
    pieces: list[str] = []
    usage, failure = Usage(), None
    async with aclosing(model.stream(context, options, cancel)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                pieces.append(event.delta)
            elif isinstance(event, Done | Failed):
                usage, failure = event.message.usage, event.message.failure
    price = model.profile.price
    cost = price.cost(usage) if price is not None else None if usage.context or usage.output else 0.0
    return Completion("".join(pieces), usage, cost, failure)
