"""Models behind HTTP: opens the request, retries, reads, cancels, and always closes the socket, for every adapter."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import chain, count
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.adapters import ModelApi, model_apis
from footnote.models.base import FIRST_EVENTS, MODEL_CALLS, Context, Endpoint, Model, Options, record_call
from footnote.models.profiles import Profile
from footnote.models.repair import has_evidence, images_in, without_refused_images
from footnote.models.retry import Retry
from footnote.models.tool_names import ToolNames
from footnote.models.wire import MalformedJson, dumps
from footnote.net.client import IDLE_TIMEOUT_SECONDS, ConnectionFailed, Net, Response
from footnote.protocol.errors import LimitReached
from footnote.protocol.messages import Failure, Image, call_ids
from footnote.protocol.sse import SseDecoder
from footnote.protocol.stream import Failed, Start, StreamEvent

log = logging.getLogger(__name__)

MAX_ERROR_BODY_BYTES = 64_000
THREAD_MIN_MESSAGES = 500

FREE_RESPONSES = 50
"""Up to this many responses at once, no read waits."""
FULL_RESPONSES = 250
"""From this many on, reads wait as long as they may."""
TICK_SECONDS = 0.02
MAX_TICKS = 7


class ReadPace:
    """Coalescing under load: counts the responses that are being read, and pauses them by one timer.

    Most of what a delta costs is waking up for it: the read from its socket, the run's task, a write to each follower.
    A process that reads few responses passes each delta on the moment it arrives. One that reads many of them leaves
    what arrives in the socket's buffer for up to 140 ms and reads it in one piece: the same events, in fewer reads,
    wakes and writes.
    """

    def __init__(
        self, free: int = FREE_RESPONSES, full: int = FULL_RESPONSES, tick_seconds: float = TICK_SECONDS
    ) -> None:
        self._free = free
        self._full = full
        self._tick_seconds = tick_seconds
        self._responses = 0
        self._ticks = 0
        """The length of a pause."""
        self._paused: deque[list[Response]] = deque([] for _ in range(MAX_TICKS))
        """The paused responses by the number of ticks until they are resumed: a timing wheel, in which a pause costs
        one append."""
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def count_response(self) -> Generator[None]:
        """Counts one response until the block ends."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    def _add(self, responses: int) -> None:
        self._responses += responses
        share = (self._responses - self._free) / (self._full - self._free)
        self._ticks = round(MAX_TICKS * max(0.0, min(1.0, share)))

    def throttle(self, response: Response) -> None:
        """Stops reading from the socket of a response for as long as the number of responses asks for.

        The task that reads the response is not woken when the pause ends, only when bytes arrive after that: a wake
        goes down the whole chain of awaits of a run, and costs as much as parsing several deltas.
        """
        if not self._ticks:
            return
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._tick_seconds, self._tick, loop)
        response.pause()
        self._paused[self._ticks - 1].append(response)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        due = self._paused.popleft()
        self._paused.append([])
        for response in due:
            response.resume()
        self._timer = loop.call_later(self._tick_seconds, self._tick, loop) if any(self._paused) else None


READ_PACE = ReadPace()
"""Shared by all models of a process."""


LOADING_SECONDS = 2.0
"""The wait before a server that is still loading the model is asked again."""


class _RefusedAttempt(Struct, frozen=True):
    """An attempt that failed before any event of the response. `is_final`: another one would fail as well."""

    failure: Failure
    headers: Mapping[str, str]
    is_final: bool = False


class _SentContent(Struct, frozen=True):
    """The parts of a context that a provider may refuse, and that can be left out or sent in another form."""

    images: frozenset[Image]
    evidence: bool


class _StreamedResponse:
    """One response while it arrives: its socket, the decoder of its bytes, and the parser of its payloads."""

    def __init__(self, api: ModelApi, endpoint: Endpoint, model_id: str, context: Context) -> None:
        self.response: Response | None = None
        self._api = api
        self._endpoint = endpoint
        self._model_id = model_id
        self._used_ids = call_ids(context.messages)
        self._tools = context.tools
        self._tool_names = ToolNames(tool.name for tool in context.tools)
        self.reset()

    def reset(self) -> None:
        """Discards a failed attempt, of which no event was passed on."""
        self.close()
        self.accumulator = Accumulator(self._model_id, self._used_ids, self._tool_names)
        self._parser = self._api.response_parser(self.accumulator, self._endpoint, self._tools)
        self._decoder = SseDecoder()

    @property
    def is_complete(self) -> bool:
        return self._parser.is_complete

    def parse(self, chunk: bytes) -> list[StreamEvent]:
        """The events that these bytes complete; b"", the end of the body: the last ones."""
        events: list[StreamEvent] = []
        try:
            for payload in self._decoder.push(chunk) if chunk else self._decoder.flush():
                if not self._parser.is_complete:
                    events += self._parser.parse(payload)
        except (MalformedJson, LimitReached) as error:
            if not chunk:  # the body ended in the middle of an event
                return [*events, *self.fail(errors.stream_truncated(self._endpoint))]
            events += self.fail(errors.connection_broken(self._endpoint, f"an event could not be read ({error})"))
        if not chunk and not self._parser.is_complete:
            self._parser.is_complete = True
            events += self._parser.finish()
        return events

    def fail(self, failure: Failure, reason: Literal["error", "aborted"] = "error") -> Iterable[StreamEvent]:
        self._parser.is_complete = True
        return chain(self._parser.flush(), self.accumulator.fail(reason, failure))

    def close(self) -> None:
        if self.response is not None:
            self.response.close()
            self.response = None


class HttpModel:
    """A model behind an HTTP API. `name` is the model's name at the provider. `plain_models`: those that were found to
    refuse native citations, shared by all models of a process."""

    def __init__(
        self,
        api: ModelApi,
        endpoint: Endpoint,
        name: str,
        profile: Profile,
        *,
        net: Net,
        retry: Retry | None = None,
        pace: ReadPace = READ_PACE,
        plain_models: set[str] | None = None,
    ) -> None:
        self.id = f"{endpoint.provider}/{name}"
        self._key = f"{endpoint.base_url} {name}"
        self._plain_models = set[str]() if plain_models is None else plain_models
        self.profile = replace(profile, citations="plain") if self._key in self._plain_models else profile
        self._api = api
        self._endpoint = endpoint
        self._net = net
        self._retry = retry or Retry()
        self._pace = pace
        self._refused_images: frozenset[Image] = frozenset()

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        yield Start(self.id)
        answer = _StreamedResponse(self._api, self._endpoint, self.id, context)
        with MODEL_CALLS(self.id) as call, self._pace.count_response():
            try:
                with FIRST_EVENTS(self.id):
                    events = await cancel.wait(self._start_response(answer, context, options))
                while True:
                    for event in events:
                        yield event
                    if answer.is_complete or answer.response is None:
                        break
                    self._pace.throttle(answer.response)
                    events = answer.parse(await cancel.wait(answer.response.read_chunk()))
                if answer.response is not None:
                    await answer.response.drain()
            except Cancelled:
                for event in answer.fail(errors.ABORTED, "aborted"):
                    yield event
            except ConnectionFailed as error:
                for event in answer.fail(errors.connection_broken(self._endpoint, error.message)):
                    yield event
            finally:
                answer.close()
                record_call(call, self.id, answer.accumulator.message)

    async def _start_response(
        self, answer: _StreamedResponse, context: Context, options: Options
    ) -> Iterable[StreamEvent]:
        """Requests until a response begins: with all that the context has, then without what is refused."""
        sent = _SentContent(images_in(context.messages), has_evidence(context.messages))
        outcome = await self._request(answer, context, options, sent)
        while isinstance(outcome, _RefusedAttempt) and self._leave_out_refused(outcome.failure, sent):
            answer.reset()
            outcome = await self._request(answer, context, options, sent)
        if not isinstance(outcome, _RefusedAttempt):
            return outcome
        if outcome.failure.type == errors.TOOLS_UNSUPPORTED:
            log.warning("%s does not take tools: what it needs is looked up for it.", self.id)
            self.profile = replace(self.profile, tools=False)
        return answer.fail(outcome.failure)

    def _leave_out_refused(self, failure: Failure, sent: _SentContent) -> bool:
        """Leaves out of further requests what may be the reason of a refusal; false if nothing is."""
        if self._is_citation_refusal(failure, sent):
            log.warning("%s refused citations: it gets the passages as plain text. (%s)", self.id, failure.message)
            self.profile = replace(self.profile, citations="plain")
            self._plain_models.add(self._key)
            return True
        if not self._sends_images(sent) or not errors.refuses_images(failure):
            return False
        log.warning("%s refused images: it is asked without them. (%s)", self.id, failure.message)
        if errors.refuses_every_image(failure):
            self.profile = replace(self.profile, images=False)
        else:
            # The provider does not say which one it refused. Other images, such as the next that a tool reads, are
            # sent.
            self._refused_images |= sent.images
        return True

    def _sends_images(self, sent: _SentContent) -> bool:
        return self.profile.images and not sent.images <= self._refused_images

    def _is_citation_refusal(self, failure: Failure, sent: _SentContent) -> bool:
        if self.profile.citations != "native" or not sent.evidence:
            return False
        return errors.refuses_citations(failure, with_images=self._sends_images(sent))

    def _needs_no_retry(self, failure: Failure, sent: _SentContent) -> bool:
        """Whether the same request would be refused again, because of a part that can be left out."""
        if self._is_citation_refusal(failure, sent):
            return True
        return self._sends_images(sent) and errors.refuses_every_image(failure)

    async def _request(
        self, answer: _StreamedResponse, context: Context, options: Options, sent: _SentContent
    ) -> Iterable[StreamEvent] | _RefusedAttempt:
        """Requests until a response begins. Nothing was passed on yet, so that a retry repeats nothing."""
        if self.profile.images and self._refused_images:
            context = replace(context, messages=without_refused_images(context.messages, self._refused_images))
        body = await self._encode_body(context, options)
        loading_waits = 0
        for attempt in count():
            outcome = await self._attempt(answer, body, sent)
            if not isinstance(outcome, _RefusedAttempt):
                return outcome
            if self._is_loading(outcome.failure) and (loading_waits + 1) * LOADING_SECONDS < self._max_silence:
                loading_waits += 1
                delay = LOADING_SECONDS
            else:
                can_retry = outcome.failure.retryable and not outcome.is_final
                delay = self._retry.delay(attempt - loading_waits, outcome.headers) if can_retry else None
            if delay is None or self._needs_no_retry(outcome.failure, sent):
                return outcome
            answer.reset()
            await self._retry.sleep(delay)
        raise AssertionError  # pragma: no cover - count() has no end

    @property
    def _max_silence(self) -> float:
        return self.profile.timeout_seconds or IDLE_TIMEOUT_SECONDS

    def _is_loading(self, failure: Failure) -> bool:
        return self._endpoint.is_self_hosted and errors.is_loading(failure)

    async def _encode_body(self, context: Context, options: Options) -> bytes:
        """In a thread if the conversation is long enough to block the event loop."""
        if len(context.messages) < THREAD_MIN_MESSAGES:
            return dumps(self._api.request_body(self.id, context, options, self.profile))
        return dumps(await asyncio.to_thread(self._api.request_body, self.id, context, options, self.profile))

    async def _attempt(
        self, answer: _StreamedResponse, body: bytes, sent: _SentContent
    ) -> Iterable[StreamEvent] | _RefusedAttempt:
        try:
            headers = self._api.request_headers(self._endpoint)
            url = self._endpoint.url(self._api.PATH)
            response = await self._net.post(url, headers=headers, body=body, idle_timeout=self.profile.timeout_seconds)
            answer.response = response
            if not 200 <= response.status < 300:
                error_body = await response.read_all(MAX_ERROR_BODY_BYTES)
                model = self.id.partition("/")[2]
                failure = errors.from_status(self._endpoint, response.status, error_body, model)
                return _RefusedAttempt(failure, response.headers)
            if response.headers.get("content-type", "").startswith(("application/json", "text/html")):
                error_body = await response.read_all(MAX_ERROR_BODY_BYTES)
                return _RefusedAttempt(errors.not_a_stream(self._endpoint, error_body), {})
            events: list[StreamEvent] = []
            while not events:
                events = answer.parse(await response.read_chunk())
        except ConnectionFailed as error:
            failure = errors.unreachable(self._endpoint, error)
            # A slow machine that was silent for minutes would begin to read the same long request again.
            is_final = self._endpoint.is_self_hosted and error.kind == "timeout" and error.was_connected
            return _RefusedAttempt(failure, {}, is_final=is_final)
        failure = events[0].message.failure if isinstance(events[0], Failed) else None
        if failure is None:
            return events
        is_refusal = errors.refuses_images(failure) or self._is_citation_refusal(failure, sent)
        if not (failure.retryable or is_refusal):
            return events
        return _RefusedAttempt(errors.empty_response(self._endpoint) if failure.type == "truncated" else failure, {})


def build_model(
    api: str,
    endpoint: Endpoint,
    name: str,
    profile: Profile,
    *,
    net: Net,
    retry: Retry | None = None,
    plain_models: set[str] | None = None,
) -> Model:
    """The model called `name` behind `endpoint`; `api` is the type of its adapter."""
    return HttpModel(model_apis()[api], endpoint, name, profile, net=net, retry=retry, plain_models=plain_models)


async def list_models(api: str, endpoint: Endpoint, net: Net, *, timeout_seconds: float = 5.0) -> list[str]:
    """Names of the models that a server lists, in the form that the usual APIs share. Raises `UpstreamError`."""
    module = model_apis()[api]
    answer = await net.get_json(
        endpoint.url(module.MODELS_PATH), headers=module.request_headers(endpoint), timeout=timeout_seconds
    )
    data: Any = cast("dict[str, Any]", answer).get("data") if isinstance(answer, dict) else None
    listed = cast("list[Any]", data) if isinstance(data, list) else []
    models = [cast("dict[str, Any]", entry) for entry in listed if isinstance(entry, dict)]
    return [str(model["id"]) for model in models if "id" in model]
