"""Errors name the provider, the status and the next step, and never the key."""

import logging
from typing import Any

import msgspec
import pytest

from matrix.adapters import HttpAdapter, collect_events, final_message
from upstream import cut, error_event, event, raw, refuse, reply, reset, say, status, stop

STEPS = {
    400: "The request was not accepted: choose another model, or ask in a new session.",
    401: "Check {key_name}.",
    402: "The account has no credit left: add some, or choose another model.",
    403: "Check {key_name}.",
    404: "Check the model's name and the baseUrl of {provider}.",
    429: "The account has reached its limit: wait a little, or choose another model.",
    500: "The provider has a problem: try again later, or choose another model.",
    529: "The provider has a problem: try again later, or choose another model.",
}


@pytest.mark.parametrize("code", STEPS)
async def test_a_status_is_told_with_its_provider_and_the_next_step(http: HttpAdapter, code: int):
    http.script(*[status(code, "Words of the provider")] * 4)

    failure = final_message(await http.ask()).failure

    assert failure is not None
    step = STEPS[code].format(key_name=http.key_name, provider=http.provider)
    assert failure.message == f"{http.provider} answered with status {code}: Words of the provider. {step}"
    assert failure.status == code


@pytest.mark.parametrize(
    ("error", "status", "step"),
    [
        ({"code": 502}, 502, "The provider has a problem: try again later, or choose another model."),
        ({"code": "401", "type": "auth"}, 401, "Check {key_name}."),
        ({"type": "authentication_error"}, None, "Check {key_name}."),
        ({"type": "overloaded_error"}, None, "The provider has a problem: try again later, or choose another model."),
        ({"code": 200}, None, "The provider has a problem: try again later, or choose another model."),
    ],
)
async def test_an_error_inside_a_stream_is_told_with_its_status_and_the_next_step(
    http: HttpAdapter, error: dict[str, Any], status: int | None, step: str
):
    http.script(reply(say("So far"), event({"type": "error", "error": {"message": "No", **error}})))

    failure = final_message(await http.ask()).failure

    assert failure is not None
    named = f" with status {status}" if status else ""
    step = step.format(key_name=http.key_name)
    assert failure.message == f"{http.provider} broke off the answer{named}: No. What came before it is kept. {step}"
    assert failure.status == status


async def test_a_provider_from_the_configuration_is_told_where_its_key_stands(http: HttpAdapter):
    http.script(status(401, "No"))

    failure = final_message(await collect_events(http.model(provider="mine", key_name=None))).failure

    assert failure is not None
    assert failure.message == "mine answered with status 401: No. Check the apiKey of models.providers.mine."


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>502 Bad Gateway</body></html>", b"\xff\xfe", b"[1]", b'{"error": null}', b'{"a": 1}'],
)
async def test_a_body_that_explains_nothing_is_not_shown(http: HttpAdapter, body: bytes):
    http.script(status(401, body=body))

    failure = final_message(await http.ask()).failure

    assert failure is not None
    assert failure.message.startswith(f"{http.provider} answered with status 401")
    assert "<" not in failure.message
    assert failure.type == "authentication_error"


@pytest.mark.parametrize(
    "body",
    [
        b'{"type": "error", "error": {"type": "authentication_error", "message": "No such key"}}',
        b'{"error": {"message": "No such key", "type": "authentication_error", "code": null}}',
        b'{"error": "No such key"}',
        b'{"message": "No such key"}',
        b'{"detail": "No such key"}',
        b"No such key",
    ],
)
async def test_the_providers_words_are_found_in_any_shape(http: HttpAdapter, body: bytes):
    http.script(status(401, body=body))

    failure = final_message(await http.ask()).failure

    assert failure is not None
    assert failure.message == (f"{http.provider} answered with status 401: No such key. Check {http.key_name}.")


def leaky(key: str) -> list[Any]:
    """Every kind of failure, each by a server that repeats the key."""
    message = f"Incorrect API key provided: {key}. Header was x-api-key: {key}, Bearer {key}"
    return [
        status(401, message),
        status(403, body=message.encode()),
        status(400, message, headers={"x-echo": key}),
        reply(say("So far"), error_event("authentication_error", message)),
        reply(say("So far"), refuse(message)),
        reply(say("So far"), raw(f"data: {{{key}\n\n".encode())),
        reply(say("So far"), cut()),
        reply(say("So far"), reset()),
    ]


@pytest.mark.parametrize("case", range(len(leaky(""))))
async def test_the_key_is_in_no_event_no_log_and_no_output(
    http: HttpAdapter, case: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    key = http.upstream.key
    assert key is not None
    caplog.set_level(logging.DEBUG)
    http.script(leaky(key)[case])

    events = await http.ask()

    assert final_message(events).failure is not None
    shown = msgspec.json.encode(events).decode() + repr(events) + caplog.text + "".join(capfd.readouterr())
    assert key not in shown


async def test_a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else(http: HttpAdapter):
    http.script(status(307, headers={"location": f"{http.base_url}/elsewhere"}))

    failure = final_message(await http.ask()).failure

    assert failure is not None
    assert (failure.status, failure.retryable) == (307, False)
    assert len(http.upstream.requests) == 1


async def test_a_model_and_its_endpoint_can_be_printed_without_their_key(http: HttpAdapter):
    model = http.model()

    assert http.upstream.key not in repr(model) + str(vars(model))


async def test_a_good_answer_logs_nothing(http: HttpAdapter, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    http.script(reply(say("Yes."), stop()))

    await http.ask()

    assert [record for record in caplog.records if record.name.startswith(("footnote", "aiohttp"))] == []
