"""The small web contains what it promises."""

import asyncio
from html import unescape

import pytest

from web import Web, site


@pytest.mark.parametrize("language", site.LANGUAGES)
def test_every_answer_stands_on_the_page_of_its_question(language: str):
    pages = {path: unescape(reply.body.decode()) for path, reply in site.pages().items()}
    questions = [question for article in site.articles(language) for question in article.questions]
    assert len(questions) > 500
    assert [
        question for question in questions for answer in question.answers if answer not in pages[question.path]
    ] == []


async def test_a_server_ends_with_its_block_also_while_somebody_waits_for_an_answer():
    async with Web() as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
        writer.write(b"GET /hung HTTP/1.1\r\nHost: x\r\n\r\n")
        await web.wait_requested("/hung")
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
