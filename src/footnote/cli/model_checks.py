"""The checks of `footnote doctor` about keys and models: whether the server answers, how the model will work, and
whether it calls a tool when a question needs one."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.cli.local_checks import CheckContext, CheckResult
from footnote.config.formats import mask_url
from footnote.config.load import entries
from footnote.config.providers import standard_key_variables
from footnote.config.resolve import ModelChoice, ollama_url, resolve_model, with_server_facts
from footnote.config.settings import ProfileFacts, Settings
from footnote.models.accumulate import Accumulator
from footnote.models.adapters import ModelApi, ResponseParser, model_apis
from footnote.models.base import Context, Endpoint, Options
from footnote.models.call_notations import CallNotations, WrittenCall
from footnote.models.errors import TOOLS_UNSUPPORTED
from footnote.models.local_server import LocalModelFacts, LocalServerKind, probe_local_server
from footnote.models.profiles import MAX_SMALL_BILLIONS, Profile, billions_in_name
from footnote.models.retry import Retry
from footnote.models.stream import HttpModel, list_models
from footnote.net.client import ConnectionFailed, Net
from footnote.protocol.errors import ConfigError, UpstreamError
from footnote.protocol.messages import AssistantMessage, user_message
from footnote.protocol.stream import Done, Failed, StreamEvent
from footnote.protocol.tools import ToolSpec

QUESTION_SECONDS = 30.0
OWN_SERVER_SECONDS = 120.0
"""A server of one's own may have to load the model first."""
MAX_QUESTION_TOKENS = 1_024
"""Enough for a model that thinks before it calls."""
RECOMMENDED_WINDOW = 16_384

_WEATHER = ToolSpec(
    "current_weather",
    "Tells the weather of a city at this moment.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_SYSTEM, _QUESTION = "You answer briefly.", "What is the weather in Hanoi right now?"

_ModelNames: TypeAlias = list[str] | UpstreamError
_SERVERS: dict[LocalServerKind, str] = {
    "ollama": "Ollama",
    "llama.cpp": "llama.cpp",
    "lmstudio": "LM Studio",
    "vllm": "vLLM",
}


async def check_keys(context: CheckContext) -> AsyncIterator[CheckResult]:
    keys = [entry for entry in entries(context.configuration) if entry.key.endswith(".apiKey") and entry.value]
    for entry in keys:
        yield CheckResult("keys", "OK", f"{entry.key} is set ({entry.origin})")
    if not keys:
        names = ", ".join(standard_key_variables().values())
        yield CheckResult("keys", "OK", f"none is set (known: {names})")
    for file in sorted({entry.origin.name for entry in keys if entry.origin.kind == "file"}):
        if _is_readable_by_others(Path(file)):
            yield CheckResult("keys", "WARN", f"others on this machine can read {file}", f"chmod 600 {file}")


def _is_readable_by_others(file: Path) -> bool:
    return os.name == "posix" and bool(file.stat().st_mode & 0o077)


async def check_models(context: CheckContext) -> AsyncIterator[CheckResult]:
    settings = context.configuration.settings
    listed = await _list_models(context.net, "openai", Endpoint("ollama", ollama_url(settings)))
    yield _ollama_result(listed, mask_url(ollama_url(settings)))
    names = None if isinstance(listed, UpstreamError) else listed
    choices: dict[str, ModelChoice | CheckResult] = {}
    for model in (None, *(agent.model for agent in context.configuration.agents)):
        choice = _choose(settings, model, names)
        choices.setdefault(choice.message if isinstance(choice, CheckResult) else choice.id, choice)
    for results in await asyncio.gather(*(_check_model(context, choice) for choice in choices.values())):
        for result in results:
            yield result


async def check_second_look(context: CheckContext) -> AsyncIterator[CheckResult]:
    """Who takes a second look at statements, and whether that model can be asked."""
    settings = context.configuration.settings
    name = settings.citations.model
    if name == "off":
        yield CheckResult("second look", "OK", "nobody takes one: citations.model is off")
        return
    if name == "session":
        message = f"the model of the run, if it has more than {MAX_SMALL_BILLIONS} billion parameters"
        yield CheckResult("second look", "OK", message)
        return
    try:
        choice = resolve_model(settings, name, None)
    except ConfigError as error:
        yield CheckResult("second look", "WARN", f"nobody takes one: {error.message}", "Change citations.model.")
        return
    listed = await _list_models(context.net, choice.type, choice.endpoint)
    result = _list_result(choice, f"{choice.id} (citations.model)", listed)
    # Without a second look everything else works.
    status = "OK" if result.status == "OK" else "WARN"
    kind = ", a model for checking" if choice.profile.checks else ""
    remedy = f"ollama pull {choice.model}" if choice.provider == "ollama" and status == "WARN" else result.remedy
    yield CheckResult("second look", status, f"{result.message}{kind if status == 'OK' else ''}", remedy)


def _choose(settings: Settings, model: str | None, ollama_models: list[str] | None) -> ModelChoice | CheckResult:
    try:
        return resolve_model(settings, model, ollama_models)
    except ConfigError as error:
        return CheckResult("model", "FAIL", error.message, "Do that, or choose another model.")


def _ollama_result(models: _ModelNames, address: str) -> CheckResult:
    match models:
        case ConnectionFailed():
            return CheckResult("ollama", "OK", f"not running at {address}, and not needed if there is a key")
        case UpstreamError():
            message = f"what runs at {address} {models.message}"
            return CheckResult("ollama", "WARN", message, "Check models.providers.ollama.baseUrl.")
        case []:
            return CheckResult("ollama", "WARN", "running, but it has no models", "ollama pull qwen3")
        case _:
            return CheckResult("ollama", "OK", f"running, with {_abbreviate(models)}")


def _abbreviate(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


async def _check_model(context: CheckContext, choice: ModelChoice | CheckResult) -> list[CheckResult]:
    """Whether the model can be asked, and if so: its answer to a question, its style and its window."""
    if isinstance(choice, CheckResult):
        return [choice]
    about = f"{choice.id} ({choice.origin})"
    if choice.type == "reader":
        ways = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama"
        return [CheckResult("model", "OK", f"{about}: answers quote pages; for answers that reason, {ways}")]
    listed = await _list_models(context.net, choice.type, choice.endpoint)
    if choice.provider != "ollama":  # which usually runs on this machine
        context.reachable[choice.provider] = not isinstance(listed, ConnectionFailed)
    result = _list_result(choice, about, listed)
    if result.status == "FAIL":
        return [result]
    settings = context.configuration.settings
    profile = with_server_facts(settings, choice, await _facts(context, choice)).profile
    answer = await _ask(context.net, choice, offers_tool=profile.tools is not False) if context.asks_models else None
    # Asked again after the question: a model that has answered is loaded, and its server knows the window that it has.
    facts = await _facts(context, choice)
    profile = with_server_facts(settings, choice, facts).profile
    if answer is not None and answer.refuses_tools:
        profile = replace(profile, tools=False)
    given = settings.models.profiles.get(choice.id, ProfileFacts())
    found = [result, CheckResult("style", "OK", f"{choice.id} is {_style(choice, profile, facts, given)}")]
    if answer is not None:
        found.append(_answer_result(choice, profile, answer))
    return [*found, *_window_results(choice, facts, given)]


async def _facts(context: CheckContext, choice: ModelChoice) -> LocalModelFacts:
    if not choice.has_server_facts:
        return LocalModelFacts()
    return await probe_local_server(choice.endpoint, choice.model, context.net)


def _list_result(choice: ModelChoice, about: str, listed: _ModelNames) -> CheckResult:
    setting = f"models.providers.{choice.provider}"
    match listed:
        case ConnectionFailed():
            remedy = f"Check the network, and that it runs where {setting}.baseUrl says."
            return CheckResult("model", "FAIL", f"{about}: {listed.message}", remedy)
        case UpstreamError(status=401 | 403):
            key = choice.endpoint.key_name or f"{setting}.apiKey"
            return CheckResult("model", "FAIL", f"{about}: the key was refused", f"Check {key}.")
        case UpstreamError():
            message = f"{about}: asked for its models, the server {listed.message}"
            return CheckResult("model", "WARN", message, f"If questions fail too, check {setting}.baseUrl.")
        case _ if listed and not any(name.partition(":")[0] == choice.model or name == choice.model for name in listed):
            message = f"{about}: the server answers, but does not list this model"
            return CheckResult("model", "WARN", message, f"Choose one that it lists: {_abbreviate(listed)}")
        case _:
            return CheckResult("model", "OK", f"{about}: the server answers")


async def _list_models(net: Net, api: str, endpoint: Endpoint) -> _ModelNames:
    try:
        return await list_models(api, endpoint, net)
    except UpstreamError as error:
        return error


# Style and window --------------------------------------------------------------------------------------------


def _style(choice: ModelChoice, profile: Profile, facts: LocalModelFacts, given: ProfileFacts) -> str:
    """The style, and why."""
    style = "guided" if profile.is_guided else "agentic"
    server = f"{_SERVERS[facts.kind]}'s word" if facts.kind else ""
    setting = f"models.profiles.{choice.id}"
    if profile.style != "auto":
        return f"{style}: {setting}.style says so"
    if profile.tools is False:
        source = (
            f"{setting}.tools" if given.tools is False else server if facts.has_tools is False else "it refuses them"
        )
        return f"{style}: it cannot call tools ({source})"
    if profile.billions is None:
        return f"{style}: nothing says that it is small"
    if given.billions is not None:
        source = f"{setting}.billions"
    elif facts.parameters is not None:
        source = server
    else:
        source = "its name" if billions_in_name(choice.model) else "the usual size of its name"
    return f"{style}: {profile.billions:.3g} billion parameters ({source})"


def _window_results(choice: ModelChoice, facts: LocalModelFacts, given: ProfileFacts) -> Iterable[CheckResult]:
    if facts.kind is None or facts.window is None:
        return
    server, window = _SERVERS[facts.kind], f"{facts.window:,}"
    if given.window is not None and given.window > facts.window:
        message = f"{server} gives {choice.id} {window} tokens, but models.profiles says {given.window:,}"
        yield CheckResult("window", "WARN", message, _window_remedy(facts.kind))
    elif facts.window < min(RECOMMENDED_WINDOW, facts.max_window or 0):
        message = f"{server} gives {choice.id} {window} of its {facts.max_window:,} tokens"
        if facts.kind == "ollama":
            message += ", and drops the beginning of anything longer without a word; Footnote keeps within it"
        yield CheckResult("window", "WARN", message, _window_remedy(facts.kind))
    else:
        yield CheckResult("window", "OK", f"{server} gives {choice.id} {window} tokens")


def _window_remedy(kind: LocalServerKind) -> str:
    match kind:
        case "ollama":
            return (
                f"For answers from more evidence: OLLAMA_CONTEXT_LENGTH={RECOMMENDED_WINDOW} ollama serve, or a"
                f" Modelfile with PARAMETER num_ctx {RECOMMENDED_WINDOW}; `ollama ps` shows what a loaded model has."
            )
        case "llama.cpp":
            return f"Start it with -c {RECOMMENDED_WINDOW} (--ctx-size), which --parallel divides among its slots."
        case "lmstudio":
            return "Raise the context length in the settings of the model in LM Studio, and load it again."
        case "vllm":
            return f"Start it with --max-model-len {RECOMMENDED_WINDOW}."


# A question that needs a tool --------------------------------------------------------------------------------


class _Answer(Struct, frozen=True):
    """What came of the question. `message` None: there was no answer in time."""

    message: AssistantMessage | None
    seconds: float

    @property
    def refuses_tools(self) -> bool:
        failure = self.message.failure if self.message is not None else None
        return failure is not None and failure.type == TOOLS_UNSUPPORTED


class _UnparsedCalls:
    """An adapter that leaves calls in the text where the model wrote them into it."""

    def __init__(self, api: ModelApi) -> None:
        self._api = api
        self.PATH = api.PATH
        self.MODELS_PATH = api.MODELS_PATH

    def request_headers(self, endpoint: Endpoint) -> dict[str, str]:
        return self._api.request_headers(endpoint)

    def request_body(self, model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]:
        return self._api.request_body(model_id, context, options, profile)

    def response_parser(
        self,
        accumulator: Accumulator,
        endpoint: Endpoint,
        tools: tuple[ToolSpec, ...],  # noqa: ARG002 - without them, nothing in the text is a call
    ) -> ResponseParser:
        return self._api.response_parser(accumulator, endpoint, ())


async def _ask(net: Net, choice: ModelChoice, *, offers_tool: bool) -> _Answer:
    context = Context(_SYSTEM, (user_message(_QUESTION),), (_WEATHER,) if offers_tool else ())
    api = _UnparsedCalls(model_apis()[choice.type])
    model = HttpModel(api, choice.endpoint, choice.model, choice.profile, net=net, retry=Retry(max_retries=0))
    began = time.monotonic()
    last: StreamEvent | None = None
    try:
        async with asyncio.timeout(_max_seconds(choice)):
            options = Options(max_tokens=MAX_QUESTION_TOKENS)
            async with aclosing(model.stream(context, options, CancelScope())) as events:
                async for event in events:
                    last = event
    except TimeoutError:
        last = None
    message = last.message if isinstance(last, Done | Failed) else None
    return _Answer(message, time.monotonic() - began)


def _max_seconds(choice: ModelChoice) -> float:
    return OWN_SERVER_SECONDS if choice.endpoint.is_self_hosted else QUESTION_SECONDS


def _answer_result(choice: ModelChoice, profile: Profile, answer: _Answer) -> CheckResult:
    message = answer.message
    if message is None:
        said = f"{choice.id} did not answer a question within {_max_seconds(choice):g} seconds"
        remedy = "Ask again when it is loaded; a smaller model, or one on a faster machine, answers sooner."
        return CheckResult("tools", "WARN", said, remedy)
    if message.failure is not None and not answer.refuses_tools:
        remedy = "Correct that, or choose another model."
        return CheckResult("tools", "FAIL", f"{choice.id}: {message.failure.message}", remedy)
    use = "refused" if profile.tools is False else _tool_use(message)
    usage = message.usage
    said = f"{choice.id} {_USES[use]} ({usage.context} + {usage.output} tokens, {answer.seconds:.1f} s)"
    if not profile.keeps_tools:
        return CheckResult("tools", "OK", f"{said}; it gets none")
    if profile.is_guided or use in ("called", "written"):
        return CheckResult("tools", "OK", said)
    remedy = f'For a model that does not look things up by itself: models.profiles["{choice.id}"].style = "guided".'
    return CheckResult("tools", "WARN", said, remedy)


_ToolUse: TypeAlias = Literal["called", "written", "wrong", "none", "refused"]
_USES: dict[_ToolUse, str] = {
    "called": "called a tool as it should",
    "written": "wrote its call of a tool into the text, from which Footnote reads it",
    "wrong": "called a tool wrongly",
    "none": "answered a question that needs a tool without calling it",
    "refused": "cannot call tools",
}


def _tool_use(message: AssistantMessage) -> _ToolUse:
    if message.calls:
        return "called" if any(_is_right(call.name, call.arguments) for call in message.calls) else "wrong"
    notations = CallNotations((_WEATHER,))
    parts = [*notations.feed(message.text), *notations.flush()]
    written = [part for part in parts if isinstance(part, WrittenCall)]
    if not written:
        return "none"
    return "written" if any(_is_right(call.name, call.arguments) for call in written) else "wrong"


def _is_right(name: str, arguments: dict[str, Any]) -> bool:
    city = arguments.get("city")
    return name == _WEATHER.name and isinstance(city, str) and bool(city.strip())
