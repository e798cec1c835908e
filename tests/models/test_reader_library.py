"""Where the web cannot be searched, the reader quotes the library, and says so."""

import pytest

from footnote.models.reader.messages import MESSAGES
from footnote.protocol.sources import ProviderTry
from models.reader_harness import HANOI, NOTE, QUESTION, last_text, play_turn, search_result, search_tool

OFFLINE = (
    ProviderTry(provider="brave", outcome="skipped", reason="it has no key"),
    ProviderTry(provider="duckduckgo", outcome="error", reason="it could not be reached"),
    ProviderTry(provider="library", outcome="results", count=1),
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            QUESTION,
            (
                "The web could not be searched (brave, duckduckgo), so this comes from the library: pages read before, "
                "your own files and Footnote's documentation."
            ),
        ),
        (
            "Thủ đô của Việt Nam là gì?",
            (
                "Không tìm được trên web (brave, duckduckgo), nên phần này lấy từ thư viện: các trang đã đọc trước "
                "đây, tệp của bạn và tài liệu của Footnote."
            ),
        ),
        (
            "越南的首都是哪里？",
            "无法搜索网络（brave, duckduckgo），以下内容来自资料库：以前读过的网页、你的文件和 Footnote 的文档。",
        ),
    ],
)
async def test_when_the_library_answers_in_place_of_the_web_the_answer_says_so_first(question: str, expected: str):
    recording = await play_turn(question, tools=(search_tool(search_result((1, HANOI), tries=OFFLINE)),))

    assert last_text(recording).startswith(f"{expected}\n\n")
    assert f"> {HANOI} [1]" in last_text(recording)


@pytest.mark.parametrize("tries", [OFFLINE[-1:], (OFFLINE[1], ProviderTry(provider="searxng", outcome="results"))])
async def test_a_library_that_was_chosen_and_another_provider_need_no_excuse(tries: tuple[ProviderTry, ...]):
    recording = await play_turn(QUESTION, tools=(search_tool(search_result((1, HANOI), tries=tries)),))

    assert last_text(recording) == f"{MESSAGES['en'].passage}\n\n> {HANOI} [1]\n\n{NOTE}"
