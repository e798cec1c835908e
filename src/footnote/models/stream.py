"""The shell around an API module: opens the request, retries, reads, cancels, and always closes the socket."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from itertools import chain, count
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import Cancelled, CancelScope
from footnote.models import failures, measured
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile
from footnote.models.read_pace import ReadPace
from footnote.models.repair import images_in, without
from footnote.models.retry import Retry
from footnote.models.wire import Unreadable, dumps
from footnote.net.client import ConnectionFailed, Net, Response
from footnote.protocol.errors import LimitReached
from footnote.protocol.messages import Failure, Image, call_ids
from footnote.protocol.sse import SseDecoder
from footnote.protocol.stream import Failed, Start, StreamEvent

log = logging.getLogger(__name__)

PACE = ReadPace()
ERROR_BODY_BYTES = 64_000
LONG_CONVERSATION = 500


class Reader(Protocol):
    """What an API module makes of the payloads of one response."""

    ended: bool

    def read(self, payload: bytes) -> Iterable[StreamEvent]: ...

    def end_of_body(self) -> Iterable[StreamEvent]: ...

    def held(self) -> Iterable[StreamEvent]:
        """What came and was not told yet, because it could have become something else."""
        ...


class Api(Protocol):
    """What an API module has to offer: `anthropic` and `openai_chat` are two."""

    @property
    def PATH(self) -> str: ...  # noqa: N802 - a constant of the module

    @property
    def MODELS_PATH(self) -> str: ...  # noqa: N802 - as above

    def headers(self, endpoint: Endpoint) -> dict[str, str]: ...

    def body(self, model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]: ...

    def Reader(self, fold: Accumulator, endpoint: Endpoint) -> Reader: ...  # noqa: N802 - a class of the module


class _Refused(Struct, frozen=True):
    """An attempt that ended before it began."""

    failure: Failure
    headers: Mapping[str, str]


class _Answer:
    """One response while it arrives: its socket, the bytes not yet read, and what they add up to."""

    def __init__(self, api: Api, endpoint: Endpoint, model_id: str, taken: frozenset[str]) -> None:
        self.response: Response | None = None
        self._api = api
        self._endpoint = endpoint
        self._model_id = model_id
        self._taken = taken
        self.restart()

    def restart(self) -> None:
        """Forgets a failed attempt, of which nobody has seen anything."""
        self.close()
        self.fold = Accumulator(self._model_id, self._taken)
        self._reader = self._api.Reader(self.fold, self._endpoint)
        self._decoder = SseDecoder()

    @property
    def ended(self) -> bool:
        return self._reader.ended

    async def read(self, response: Response) -> list[StreamEvent]:
        """The events that the next bytes complete; the last ones at the end of the body."""
        chunk = await response.read_some()
        events: list[StreamEvent] = []
        try:
            for payload in self._decoder.push(chunk) if chunk else self._decoder.flush():
                if not self._reader.ended:
                    events += self._reader.read(payload)
        except (Unreadable, LimitReached) as error:
            if not chunk:  # the body ended in the middle of an event
                return [*events, *self.fail(failures.truncated(self._endpoint))]
            events += self.fail(failures.broken(self._endpoint, f"an event could not be read ({error})"))
        if not chunk and not self._reader.ended:
            self._reader.ended = True
            events += self._reader.end_of_body()
        return events

    def fail(self, failure: Failure, reason: Literal["error", "aborted"] = "error") -> Iterable[StreamEvent]:
        self._reader.ended = True
        return chain(self._reader.held(), self.fold.fail(reason, failure))

    def close(self) -> None:
        if self.response is not None:
            self.response.close()
            self.response = None


class HttpModel:
    """A model behind an HTTP API. `name` is the model's name at the provider."""

    def __init__(
        self,
        api: Api,
        endpoint: Endpoint,
        name: str,
        profile: Profile,
        *,
        net: Net,
        retry: Retry | None = None,
        pace: ReadPace = PACE,
    ) -> None:
        self.id = f"{endpoint.provider}/{name}"
        self.profile = profile
        self._api = api
        self._endpoint = endpoint
        self._net = net
        self._retry = retry or Retry()
        self._pace = pace
        self._refused: frozenset[Image] = frozenset()

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        yield Start(self.id)
        answer = _Answer(self._api, self._endpoint, self.id, call_ids(context.messages))
        with measured.CALLS(self.id) as call, self._pace.reading():
            try:
                with measured.BEGINNINGS(self.id):
                    events = await cancel.wait(self._begin(answer, context, options))
                while True:
                    for event in events:
                        yield event
                    if answer.ended or answer.response is None:
                        break
                    events = await cancel.wait(self._read_on(answer, answer.response))
                if answer.response is not None:
                    await answer.response.drain()
            except Cancelled:
                for event in answer.fail(failures.ABORTED, "aborted"):
                    yield event
            except ConnectionFailed as error:
                for event in answer.fail(failures.broken(self._endpoint, error.message)):
                    yield event
            finally:
                answer.close()
                measured.ended(call, self.id, answer.fold.message)

    async def _read_on(self, answer: _Answer, response: Response) -> list[StreamEvent]:
        await self._pace.rest(response)
        return await answer.read(response)

    async def _begin(self, answer: _Answer, context: Context, options: Options) -> Iterable[StreamEvent]:
        """Asks until an answer begins, with images and, where they are what is refused, without."""
        images = images_in(context.messages)
        outcome = await self._ask(answer, context, options, images)
        if isinstance(outcome, _Refused) and self._shows(images) and failures.refuses_images(outcome.failure):
            log.warning("%s refused images: it is asked without them. (%s)", self.id, outcome.failure.message)
            if failures.refuses_every_image(outcome.failure):
                self.profile = replace(self.profile, images=False)
            else:
                # Which one it was is not told. Others, such as the next that a tool reads, are shown all the same.
                self._refused |= images
            answer.restart()
            outcome = await self._ask(answer, context, options, images)
        return answer.fail(outcome.failure) if isinstance(outcome, _Refused) else outcome

    def _shows(self, images: frozenset[Image]) -> bool:
        return self.profile.images and not images <= self._refused

    async def _ask(
        self, answer: _Answer, context: Context, options: Options, images: frozenset[Image]
    ) -> Iterable[StreamEvent] | _Refused:
        """Asks until an answer begins. Nothing has been shown yet, so that it may be asked for again."""
        if self.profile.images and self._refused:
            context = replace(context, messages=without(context.messages, self._refused))
        body = await self._body(context, options)
        for attempt in count():
            outcome = await self._attempt(answer, body)
            if not isinstance(outcome, _Refused):
                return outcome
            delay = self._retry.delay(attempt, outcome.headers) if outcome.failure.retryable else None
            if delay is None or (self._shows(images) and failures.refuses_every_image(outcome.failure)):
                return outcome
            answer.restart()
            await self._retry.sleep(delay)
        raise AssertionError  # pragma: no cover - count() has no end

    async def _body(self, context: Context, options: Options) -> bytes:
        """In a thread where the conversation is long enough to hold up the event loop."""
        if len(context.messages) < LONG_CONVERSATION:
            return dumps(self._api.body(self.id, context, options, self.profile))
        return dumps(await asyncio.to_thread(self._api.body, self.id, context, options, self.profile))

    async def _attempt(self, answer: _Answer, body: bytes) -> Iterable[StreamEvent] | _Refused:
        try:
            headers = self._api.headers(self._endpoint)
            response = await self._net.post(self._endpoint.url(self._api.PATH), headers=headers, body=body)
            answer.response = response
            if not 200 <= response.status < 300:
                said = await response.read_all(ERROR_BODY_BYTES)
                return _Refused(failures.from_status(self._endpoint, response.status, said), response.headers)
            if response.headers.get("content-type", "").startswith(("application/json", "text/html")):
                said = await response.read_all(ERROR_BODY_BYTES)
                return _Refused(failures.not_a_stream(self._endpoint, said), {})
            events: list[StreamEvent] = []
            while not events:
                events = await answer.read(response)
        except ConnectionFailed as error:
            failure = failures.unreachable(self._endpoint, error.message, retryable=error.retryable)
            return _Refused(failure, {})
        failure = events[0].message.failure if isinstance(events[0], Failed) else None
        if failure is None or not (failure.retryable or failures.refuses_images(failure)):
            return events
        return _Refused(failures.empty(self._endpoint) if failure.type == "truncated" else failure, {})
