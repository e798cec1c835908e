"""Gateways that ignore `stream`, or report errors with status 200."""

from matrix.adapters import HttpAdapter, last_event
from upstream import ModelStatusReply, reply, status


async def test_a_json_document_under_status_200_is_an_error_with_its_own_words(http: HttpAdapter):
    http.script(status(200, body=b'{"error": {"message": "quota used up"}}'))
    failure = last_event(await http.ask()).message.failure
    assert failure is not None
    assert (failure.type, failure.retryable) == ("invalid_response", False)
    assert "quota used up" in failure.message
    assert len(http.upstream.requests) == 1


async def test_a_whole_completion_instead_of_a_stream_is_said_to_be_one(http: HttpAdapter):
    http.script(status(200, body=b'{"id": "x", "choices": [{"message": {"content": "hi"}}]}'))
    failure = last_event(await http.ask()).message.failure
    assert failure is not None
    assert "without a stream" in failure.message


async def test_a_web_page_instead_of_a_stream_is_not_asked_for_again(http: HttpAdapter):
    page = ModelStatusReply(200, "", "", {"content-type": "text/html; charset=utf-8"}, b"<html>Sign in</html>")
    http.script(page)
    failure = last_event(await http.ask()).message.failure
    assert failure is not None
    assert (failure.type, failure.retryable) == ("invalid_response", False)
    assert "Check the baseUrl" in failure.message


async def test_an_empty_body_is_said_to_be_empty(http: HttpAdapter):
    http.script(*[reply()] * 4)
    failure = last_event(await http.ask()).message.failure
    assert failure is not None
    assert "answered with nothing" in failure.message
    assert len(http.upstream.requests) == 4


async def test_a_redirect_says_where_to_look(http: HttpAdapter):
    http.script(status(307, headers={"location": "http://127.0.0.1:1/"}))
    failure = last_event(await http.ask()).message.failure
    assert failure is not None
    assert "leads elsewhere" in failure.message
