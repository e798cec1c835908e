"""One interface to all adapters: script the responses, ask, and compare the events."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from footnote.cancel import CancelScope
from footnote.models import scripted
from footnote.models.base import Context, Endpoint, Model, Options
from footnote.models.profiles import Profile
from footnote.models.retry import Retry
from footnote.models.stream import build_model
from footnote.net.client import Net
from footnote.protocol.messages import AssistantMessage, Message, Usage, user_message
from footnote.protocol.stream import Done, Failed, StreamEvent
from upstream import ModelReply, Upstream, steps
from upstream.anthropic_wire import STOP_REASONS as ANTHROPIC_WORDS
from upstream.openai_wire import STOP_REASONS as OPENAI_WORDS
from upstream.server import Api, Scripted

PROFILE = Profile(window=200_000, max_output=64_000, thinking="budget", images=True)
QUESTION = Context(system="You are brief.", messages=(user_message("Why?"),))


@dataclass(eq=False)
class HttpAdapter:
    """One of the two APIs over a real socket. Back-off delays are recorded in `sleeps` instead of being waited for."""

    api: Api
    upstream: Upstream
    net: Net
    sleeps: list[float] = field(default_factory=list[float])

    @property
    def id(self) -> str:
        return f"{self.provider}/the-model"

    @property
    def provider(self) -> str:
        return "anthropic" if self.api == "anthropic" else "openai"

    @property
    def key_name(self) -> str:
        return f"{self.provider.upper()}_API_KEY"

    @property
    def base_url(self) -> str:
        return self.upstream.url + ("" if self.api == "anthropic" else "/v1")

    def script(self, *answers: Scripted) -> None:
        self.upstream.script(*answers)

    def raw(self, reason: str) -> str:
        """The provider's own name of a stop reason."""
        return (ANTHROPIC_WORDS if self.api == "anthropic" else OPENAI_WORDS)[reason]

    def model(self, *, retry: Retry | None = None, profile: Profile = PROFILE, **endpoint: Any) -> Model:
        fields: dict[str, Any] = {
            "provider": self.provider,
            "base_url": self.base_url,
            "api_key": self.upstream.key,
            "key_name": self.key_name,
        }
        kind: str = "anthropic" if self.api == "anthropic" else "openai"
        place = Endpoint(**(fields | endpoint))
        return build_model(kind, place, "the-model", profile, net=self.net, retry=retry or self.retry())

    def retry(self, max_retries: int = 3) -> Retry:
        async def record_sleep(seconds: float) -> None:
            self.sleeps.append(seconds)

        return Retry(max_retries=max_retries, sleep=record_sleep, jitter=lambda: 0.5)

    async def ask(self, context: Context = QUESTION, options: Options | None = None) -> list[StreamEvent]:
        return await collect_events(self.model(), context, options)

    async def request_body(self, *messages: Message, **more: Any) -> Any:
        """The body of the request for a conversation of `messages`."""
        options, profile = more.pop("options", None), more.pop("profile", PROFILE)
        self.script(steps.reply(steps.say("Yes."), steps.stop()))
        context = Context(messages=messages, **({"system": ""} | more))
        events = await collect_events(self.model(profile=profile), context, options)
        assert isinstance(events[-1], Done), events[-1]
        return self.upstream.requests[-1].body


@dataclass(eq=False)
class ScriptedAdapter:
    """The scripted model of the package, which takes the same scripts."""

    api: None = None
    id: str = "footnote/scripted"
    _replies: list[Any] = field(default_factory=list[Any])
    _usage: Usage | None = None

    def script(self, *answers: ModelReply) -> None:
        for answer in answers:
            counts = answer.usage
            self._usage = Usage(counts.input, counts.output, counts.cache_read, counts.cache_write, counts.reasoning)
            self._replies.append([step for one in answer.steps for step in _to_scripted(one)])

    def raw(self, reason: str) -> str | None:
        return reason if reason == "length" else None

    def model(self) -> Model:
        return scripted.ScriptedModel(self._replies, usage=self._usage)

    async def ask(self, context: Context = QUESTION, options: Options | None = None) -> list[StreamEvent]:
        return await collect_events(self.model(), context, options)


Adapter = HttpAdapter | ScriptedAdapter


def _to_scripted(step: steps.Step) -> Iterable[scripted.Step]:
    match step:
        case steps.Say(fragments):
            return [scripted.text(*fragments)]
        case steps.Think(fragments, signature):
            return [scripted.thinking(*fragments, signature=signature or "")]
        case steps.Call(name, call_id, fragments):
            return [scripted.ScriptedCall(name, fragments, call_id)]
        case steps.Stop("length"):
            return [scripted.ScriptedEnd("length")]
        case steps.ErrorStep(kind, message):
            return [scripted.fails(message, type=kind)]
        case steps.Stall():
            return [scripted.ScriptedPause(asyncio.Event())]
        case steps.UsageStep() | steps.Stop("stop" | "toolUse"):
            return []
        case _:
            raise ValueError(f"the double has no {step}")


async def collect_events(
    model: Model, context: Context = QUESTION, options: Options | None = None
) -> list[StreamEvent]:
    return [event async for event in model.stream(context, options or Options(), CancelScope())]


def last_event(events: list[StreamEvent]) -> Done | Failed:
    """The last event, which must be the only one of its kinds."""
    last = [event for event in events if isinstance(event, Done | Failed)]
    assert last == events[-1:]
    return last[0]


def final_message(events: list[StreamEvent]) -> AssistantMessage:
    return last_event(events).message
