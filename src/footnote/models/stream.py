"""The shell around an API module: opens the request, retries, reads, cancels, and always closes the socket."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from itertools import chain, count
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import Cancelled, CancelScope
from footnote.models import errors, metrics
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile
from footnote.models.read_pace import ReadPace
from footnote.models.repair import images_in, without_refused_images
from footnote.models.retry import Retry
from footnote.models.wire import MalformedJson, dumps
from footnote.net.client import ConnectionFailed, Net, Response
from footnote.protocol.errors import LimitReached
from footnote.protocol.messages import Failure, Image, call_ids
from footnote.protocol.sse import SseDecoder
from footnote.protocol.stream import Failed, Start, StreamEvent

log = logging.getLogger(__name__)

READ_PACE = ReadPace()
MAX_ERROR_BODY_BYTES = 64_000
THREAD_MIN_MESSAGES = 500


class ResponseParser(Protocol):
    """What an API module makes of the payloads of one response."""

    is_complete: bool

    def parse(self, payload: bytes) -> Iterable[StreamEvent]: ...

    def finish(self) -> Iterable[StreamEvent]: ...

    def flush(self) -> Iterable[StreamEvent]:
        """What came and was not told yet, because it could have become something else."""
        ...


class ModelApi(Protocol):
    """What an API module has to offer: `anthropic` and `openai_chat` are two."""

    @property
    def PATH(self) -> str: ...  # noqa: N802 - a constant of the module

    @property
    def MODELS_PATH(self) -> str: ...  # noqa: N802 - as above

    def request_headers(self, endpoint: Endpoint) -> dict[str, str]: ...

    def request_body(self, model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]: ...

    def response_parser(self, accumulator: Accumulator, endpoint: Endpoint) -> ResponseParser: ...


class _RefusedAttempt(Struct, frozen=True):
    """An attempt that ended before it began."""

    failure: Failure
    headers: Mapping[str, str]


class _StreamedResponse:
    """One response while it arrives: its socket, the bytes not yet read, and what they add up to."""

    def __init__(self, api: ModelApi, endpoint: Endpoint, model_id: str, used_ids: frozenset[str]) -> None:
        self.response: Response | None = None
        self._api = api
        self._endpoint = endpoint
        self._model_id = model_id
        self._used_ids = used_ids
        self.reset()

    def reset(self) -> None:
        """Forgets a failed attempt, of which nobody has seen anything."""
        self.close()
        self.accumulator = Accumulator(self._model_id, self._used_ids)
        self._parser = self._api.response_parser(self.accumulator, self._endpoint)
        self._decoder = SseDecoder()

    @property
    def is_complete(self) -> bool:
        return self._parser.is_complete

    async def read(self, response: Response) -> list[StreamEvent]:
        """The events that the next bytes complete; the last ones at the end of the body."""
        chunk = await response.read_chunk()
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
    """A model behind an HTTP API. `name` is the model's name at the provider."""

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
    ) -> None:
        self.id = f"{endpoint.provider}/{name}"
        self.profile = profile
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
        answer = _StreamedResponse(self._api, self._endpoint, self.id, call_ids(context.messages))
        with metrics.CALLS(self.id) as call, self._pace.count_response():
            try:
                with metrics.FIRST_EVENTS(self.id):
                    events = await cancel.wait(self._start_response(answer, context, options))
                while True:
                    for event in events:
                        yield event
                    if answer.is_complete or answer.response is None:
                        break
                    events = await cancel.wait(self._read_next(answer, answer.response))
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
                metrics.record_call(call, self.id, answer.accumulator.message)

    async def _read_next(self, answer: _StreamedResponse, response: Response) -> list[StreamEvent]:
        await self._pace.throttle(response)
        return await answer.read(response)

    async def _start_response(
        self, answer: _StreamedResponse, context: Context, options: Options
    ) -> Iterable[StreamEvent]:
        """Asks until an answer begins, with images and, where they are what is refused, without."""
        images = images_in(context.messages)
        outcome = await self._request(answer, context, options, images)
        if (
            isinstance(outcome, _RefusedAttempt)
            and self._sends_images(images)
            and errors.refuses_images(outcome.failure)
        ):
            log.warning("%s refused images: it is asked without them. (%s)", self.id, outcome.failure.message)
            if errors.refuses_every_image(outcome.failure):
                self.profile = replace(self.profile, images=False)
            else:
                # Which one it was is not told. Others, such as the next that a tool reads, are shown all the same.
                self._refused_images |= images
            answer.reset()
            outcome = await self._request(answer, context, options, images)
        return answer.fail(outcome.failure) if isinstance(outcome, _RefusedAttempt) else outcome

    def _sends_images(self, images: frozenset[Image]) -> bool:
        return self.profile.images and not images <= self._refused_images

    async def _request(
        self, answer: _StreamedResponse, context: Context, options: Options, images: frozenset[Image]
    ) -> Iterable[StreamEvent] | _RefusedAttempt:
        """Asks until an answer begins. Nothing has been shown yet, so that it may be asked for again."""
        if self.profile.images and self._refused_images:
            context = replace(context, messages=without_refused_images(context.messages, self._refused_images))
        body = await self._encode_body(context, options)
        for attempt in count():
            outcome = await self._attempt(answer, body)
            if not isinstance(outcome, _RefusedAttempt):
                return outcome
            delay = self._retry.delay(attempt, outcome.headers) if outcome.failure.retryable else None
            if delay is None or (self._sends_images(images) and errors.refuses_every_image(outcome.failure)):
                return outcome
            answer.reset()
            await self._retry.sleep(delay)
        raise AssertionError  # pragma: no cover - count() has no end

    async def _encode_body(self, context: Context, options: Options) -> bytes:
        """In a thread where the conversation is long enough to hold up the event loop."""
        if len(context.messages) < THREAD_MIN_MESSAGES:
            return dumps(self._api.request_body(self.id, context, options, self.profile))
        return dumps(await asyncio.to_thread(self._api.request_body, self.id, context, options, self.profile))

    async def _attempt(self, answer: _StreamedResponse, body: bytes) -> Iterable[StreamEvent] | _RefusedAttempt:
        try:
            headers = self._api.request_headers(self._endpoint)
            response = await self._net.post(self._endpoint.url(self._api.PATH), headers=headers, body=body)
            answer.response = response
            if not 200 <= response.status < 300:
                said = await response.read_all(MAX_ERROR_BODY_BYTES)
                return _RefusedAttempt(errors.from_status(self._endpoint, response.status, said), response.headers)
            if response.headers.get("content-type", "").startswith(("application/json", "text/html")):
                said = await response.read_all(MAX_ERROR_BODY_BYTES)
                return _RefusedAttempt(errors.not_a_stream(self._endpoint, said), {})
            events: list[StreamEvent] = []
            while not events:
                events = await answer.read(response)
        except ConnectionFailed as error:
            failure = errors.unreachable(self._endpoint, error.message, retryable=error.retryable)
            return _RefusedAttempt(failure, {})
        failure = events[0].message.failure if isinstance(events[0], Failed) else None
        if failure is None or not (failure.retryable or errors.refuses_images(failure)):
            return events
        return _RefusedAttempt(errors.empty_response(self._endpoint) if failure.type == "truncated" else failure, {})
