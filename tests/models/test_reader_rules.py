"""The rules of the reader in three languages: what a message asks for, and the resulting search queries."""

import json
from pathlib import Path
from typing import Any

import pytest

from footnote.models.reader.question import (
    MAX_QUERY_LENGTH,
    ReaderQuestion,
    ReaderSearch,
    Subject,
    build_searches,
    parse_message,
)
from footnote.protocol.tools import Locale

XQUAD = Path(__file__).parents[1] / "fixtures" / "xquad"
LOCALES: tuple[Locale, ...] = ("en", "vi", "zh")


def xquad(locale: str) -> list[str]:
    articles = json.loads((XQUAD / f"{locale}.json").read_text(encoding="utf-8"))["data"]
    return [entry["question"] for one in articles for paragraph in one["paragraphs"] for entry in paragraph["qas"]]


def queries(message: str, subject: Subject | None = None) -> list[str]:
    return [search.query for search in build_searches(parse_message(message).parts, subject)]


# Messages that need no search ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "kind", "locale"),
    [
        ("hi", "greeting", "en"),
        ("Hello there!", "greeting", "en"),
        ("Good morning, how are you today?", "greeting", "en"),
        ("thanks a lot!", "thanks", "en"),
        ("Thank you so much for your help.", "thanks", "en"),
        ("ok", "remark", "en"),
        ("bye", "farewell", "en"),
        ("Hello, who are you?", "about", "en"),
        ("what can you do", "about", "en"),
        ("What’s your name?", "about", "en"),
        ("what did I ask before?", "conversation", "en"),
        ("Xin chào bạn", "greeting", "vi"),
        ("chào", "greeting", "vi"),
        ("cam on ban nhieu", "thanks", "vi"),
        ("Cảm ơn bạn nhiều nhé!", "thanks", "vi"),
        ("được rồi", "remark", "vi"),
        ("Bạn là ai?", "about", "vi"),
        ("ban la ai", "about", "vi"),
        ("Xin chào, bạn có thể làm gì?", "about", "vi"),
        ("tôi vừa hỏi gì?", "conversation", "vi"),
        ("你好！", "greeting", "zh"),
        ("谢谢你", "thanks", "zh"),
        ("好的", "remark", "zh"),
        ("再见", "farewell", "zh"),
        ("你是谁？", "about", "zh"),
        ("你好，你能做什么？", "about", "zh"),
        ("我刚才问了什么？", "conversation", "zh"),
        ("", "blank", "en"),
        ("???", "blank", "en"),
        ("🎉🎉", "blank", "en"),
        ("\ud83d", "blank", "en"),
    ],
)
def test_small_talk_is_recognised_with_its_language(message: str, kind: Any, locale: Locale):
    assert parse_message(message) == ReaderQuestion(kind=kind, locale=locale)


@pytest.mark.parametrize(
    ("message", "kind", "locale"),
    [
        ('translate "good morning" into French', "rewrite", "en"),
        ("Could you please rephrase this sentence?", "rewrite", "en"),
        ("Write a poem about autumn", "compose", "en"),
        ("tell me a joke", "compose", "en"),
        ("write a python function that sorts a list", "compose", "en"),
        ("12 * 34", "calculate", "en"),
        ("what is 15% of 200?", "calculate", "en"),
        ("calculate 3 plus 4", "calculate", "en"),
        ("Dịch câu này sang tiếng Anh: xin chào", "rewrite", "vi"),
        ("viết lại đoạn sau", "rewrite", "vi"),
        ("viết một bài thơ về mùa thu", "compose", "vi"),
        ("5 cộng 7 bằng mấy", "calculate", "vi"),
        ("翻译一下这句话：hello", "rewrite", "zh"),
        ("把“你好”翻译成英文", "rewrite", "zh"),
        ("写一首关于秋天的诗", "compose", "zh"),
        ("12乘以3等于多少", "calculate", "zh"),
    ],
)
def test_what_cannot_be_done_by_quoting_is_not_searched_for(message: str, kind: Any, locale: Locale):
    assert parse_message(message) == ReaderQuestion(kind=kind, locale=locale)


# Messages that do ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("locale", LOCALES)
def test_a_question_of_fact_is_searched_for_as_it_stands(locale: Locale):
    wrong = {
        question: (understood, searches)
        for question in xquad(locale)
        if (understood := parse_message(question), searches := build_searches(understood.parts, None))
        != (
            ReaderQuestion(kind="search", locale=locale, parts=(question.strip(),)),
            (ReaderSearch(" ".join(question.split()).rstrip("."), question.strip()),),
        )
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("Please tell me about the Battle of Hastings.", "the Battle of Hastings"),
        ("can you please explain how photosynthesis works?", "how photosynthesis works?"),
        ("I would like to know who wrote Hamlet, please", "who wrote Hamlet"),
        ("Hi! What is the capital of France? Thanks!", "What is the capital of France?"),
        ("hey what is the capital of France", "what is the capital of France"),
        ("Search for cheap flights to Hanoi", "cheap flights to Hanoi"),
        ("search engines", "search engines"),
        ("Hello Kitty was created by whom?", "Hello Kitty was created by whom?"),
        ("U.S. inflation in 2023?", "U.S. inflation in 2023?"),
        ("Which states are these: TX, KS, OK?", "Which states are these: TX, KS, OK?"),
        ("9/11", "9/11"),
        ("2020-2021", "2020-2021"),
        ("How do I write a report?", "How do I write a report?"),
        ("cho tôi biết thủ đô của Pháp là gì", "thủ đô của Pháp là gì"),
        ("Bạn cho mình hỏi ai là người viết Truyện Kiều?", "ai là người viết Truyện Kiều?"),
        ("Hãy tìm kiếm thông tin về Sơn Đoòng giúp mình nhé", "Sơn Đoòng"),
        ("Dịch tễ học là gì?", "Dịch tễ học là gì?"),
        ("Dịch Covid bắt đầu khi nào?", "Dịch Covid bắt đầu khi nào?"),
        ("Thủ đô của Tây Ban Nha", "Thủ đô của Tây Ban Nha"),
        ("please cho tôi biết ai viết Truyện Kiều", "ai viết Truyện Kiều"),
        ("请问法国的首都是哪里？", "法国的首都是哪里？"),
        ("帮我搜索越南的首都", "越南的首都"),
        ("搜索引擎是什么？", "搜索引擎是什么？"),
        ("介绍一下万里长城", "万里长城"),
        ("介绍信怎么写？", "介绍信怎么写？"),
        ("请愿书是什么？", "请愿书是什么？"),
    ],
)
def test_words_of_courtesy_and_instruction_are_left_out_of_the_query(message: str, query: str):
    assert queries(message) == [query]


@pytest.mark.parametrize(
    ("message", "freshness"),
    [
        ("HPG share price today", "pd"),
        ("What happened in Hanoi today?", "pd"),
        ("What is the most spoken language today?", None),
        ("news of this week", "pw"),
        ("What happened in the last week of the war?", None),
        ("earthquakes this month", "pm"),
        ("latest news on AI", None),
        ("giá vàng hôm nay", "pd"),
        ("Tin tức tuần này", "pw"),
        ("sự kiện tháng này", "pm"),
        ("điện thoại mới nhất", None),
        ("今天的黄金价格", "pd"),
        ("今天仍然可见的城墙是什么？", None),
        ("本周新闻", "pw"),
        ("最新的手机", None),
    ],
)
def test_only_strong_words_of_time_limit_a_search(message: str, freshness: str | None):
    assert build_searches(parse_message(message).parts, None) == (ReaderSearch(message, message, freshness),)


def test_a_part_that_leans_on_the_one_before_is_made_whole_and_more_than_three_wait():
    message = "What is the capital of France? How many people live there? Who is its mayor? What is its area?"
    understood = parse_message(message)

    assert understood.extra_parts == 1
    assert build_searches(understood.parts, None) == (
        ReaderSearch("What is the capital of France?", "What is the capital of France?"),
        ReaderSearch("capital France How many people live there?", "How many people live there?"),
        ReaderSearch("capital France Who is its mayor?", "Who is its mayor?"),
    )


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Ai viết Truyện Kiều? Thủ đô của Pháp là gì?", ("Ai viết Truyện Kiều?", "Thủ đô của Pháp là gì?")),
        ("法国的首都是哪里？越南的首都是哪里？", ("法国的首都是哪里？", "越南的首都是哪里？")),
        ("I want to know:\n1. who wrote Hamlet\n2. please tell me when", ("who wrote Hamlet", "when")),
        ("I am in Hanoi. What is the weather like?", ("I am in Hanoi. What is the weather like?",)),
    ],
)
def test_a_message_of_several_questions_is_several_searches(message: str, parts: tuple[str, ...]):
    assert parse_message(message).parts == parts


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("word " * 100 + ". Who wrote Hamlet?", "Who wrote Hamlet?"),
        ("Who wrote Hamlet? " + "It is a play. " * 50 + "Is it?", "Who wrote Hamlet?"),
        ("the Battle of Hastings " * 30, "Battle Hastings " * 13),
        ("越南的首都" * 60, None),
    ],
)
def test_a_long_message_becomes_a_query_of_at_most_200_characters(message: str, query: str | None):
    (first_query, *_) = queries(message)

    assert 0 < len(first_query) <= MAX_QUERY_LENGTH
    if query is not None:
        assert first_query.split() == query.split()[: len(first_query.split())]


# Reports and summaries -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Write a report on tidal power", "tidal power"),
        ("Please write me a detailed two-page report in markdown about solar energy.", "solar energy"),
        ("Could you write a short report about the history of tea, please?", "the history of tea?"),
        ("Research the history of tea and write a report.", "the history of tea"),
        ("I need a report on inflation", "inflation"),
        ("write a summary document about Hanoi", "Hanoi"),
        ("Write about the Silk Road", "the Silk Road"),
        ("hãy viết báo cáo về biến đổi khí hậu", "biến đổi khí hậu"),
        ("Viết giúp tôi một báo cáo ngắn về lịch sử cà phê Việt Nam nhé", "lịch sử cà phê Việt Nam"),
        ("Viết một bản tóm tắt về Truyện Kiều", "Truyện Kiều"),
        ("Tìm hiểu về Sơn Đoòng rồi viết thành báo cáo", "Sơn Đoòng"),
        ("请写一份关于人工智能的报告", "人工智能"),
        ("写一篇关于越南咖啡的文章", "越南咖啡"),
        ("帮我写一份详细的市场调查报告，主题是电动汽车", "电动汽车"),
        ("就气候变化写一份报告", "气候变化"),
        ("查一下越南咖啡，然后整理成一份文档", "越南咖啡"),
    ],
)
def test_a_report_is_wanted_on_its_topic(message: str, topic: str):
    understood = parse_message(message)

    assert (understood.wants_report, understood.parts) == (True, (topic.rstrip("?"),))


@pytest.mark.parametrize("message", ["Write a report", "viết báo cáo", "写一份报告"])
def test_a_report_may_be_wanted_without_a_topic(message: str):
    understood = parse_message(message)

    assert (understood.wants_report, understood.parts) == (True, ())


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Summarize the history of Vietnam", "the history of Vietnam"),
        ("Tóm tắt lịch sử Việt Nam", "lịch sử Việt Nam"),
        ("总结一下越南历史", "越南历史"),
    ],
)
def test_a_summary_is_searched_for_and_known_to_be_beyond_quoting(message: str, topic: str):
    understood = parse_message(message)

    assert (understood.kind, understood.unsupported, understood.parts) == ("search", "summarise", (topic,))


# Addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "urls"),
    [
        ("Summarise https://example.com/a_(b).", ("https://example.com/a_(b)",)),
        ("(see https://example.com/a)", ("https://example.com/a",)),
        ("www.example.org/page, please", ("https://www.example.org/page",)),
        ("读一下https://example.com/a。谢谢", ("https://example.com/a",)),
        ("https://a.example https://a.example http://b.example", ("https://a.example", "http://b.example")),
        (" ".join(f"https://example.com/{n}" for n in range(5)), tuple(f"https://example.com/{n}" for n in range(3))),
    ],
)
def test_addresses_are_taken_out_of_the_sentence_around_them(message: str, urls: tuple[str, ...]):
    understood = parse_message(message)

    assert (understood.kind, understood.urls) == ("search", urls)


# Follow-ups ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "title", "message", "query"),
    [
        ("What is the population of France?", "France", "and in Vietnam?", "population in Vietnam?"),
        ("When did Obama visit Cuba?", "Obama", "And Vietnam?", "Obama visit Vietnam?"),
        ("GDP of Japan", "", "In 1990?", "GDP Japan In 1990?"),
        ("GDP of South Korea", "", "What about Japan?", "GDP Japan?"),
        (
            "What is the capital of Vietnam?",
            "Hanoi – Wikipedia",
            "how many people live there?",
            "Hanoi capital Vietnam how many people live there?",
        ),
        (
            "Who founded Apple?",
            "Steve Jobs | Biography",
            "When was he born?",
            "Steve Jobs founded Apple When was he born?",
        ),
        ("How tall is K2?", "K2", "How tall is it compared to Everest?", "K2 How tall is it compared to Everest?"),
        ("history of tea", "Tea", "write a report about it", "history of tea"),
        ("Dân số của Hà Nội là bao nhiêu?", "Hà Nội", "còn Đà Nẵng?", "Dân số Đà Nẵng?"),
        (
            "Ai viết Truyện Kiều?",
            "Nguyễn Du",
            "Ông ấy sinh năm nào?",
            "Nguyễn Du viết Truyện Kiều Ông ấy sinh năm nào?",
        ),
        ("法国有多少人口？", "法国", "越南呢？", "法国 人口 越南呢？"),
        ("巴黎铁塔高度", "", "那么是谁建的？", "巴黎铁塔高度 是谁建的？"),
        ("越南的首都是哪里？", "河内市 - 维基百科", "那里有多少人？", "河内市 越南 首都 那里有多少人？"),
    ],
)
def test_a_question_that_leans_on_the_last_one_gets_its_words(before: str, title: str, message: str, query: str):
    assert queries(message, Subject(before, (title,) if title else ())) == [query]


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of France?",
        "And what is the capital of France?",
        "Does Microsoft pay its workers well?",
        "Does Microsoft pay its Chinese workers?",
        "Is it true that Einstein failed maths?",
        "Are there any tigers in Vietnam?",
        "How long does it take to fly to Mars?",
        "Thủ đô của Pháp là gì?",
        "Và thủ đô của Pháp là gì?",
        "那不勒斯在哪里？",
        "那么法国的首都是哪里？",
        "为什么天空是蓝色的呢？",
        "吉他是谁发明的？",
    ],
)
def test_a_question_that_is_whole_by_itself_is_left_alone(message: str):
    assert queries(message, Subject("Who is the king of Spain?", ("Felipe",))) == [message]


@pytest.mark.parametrize(("locale", "most"), [("en", 0.01), ("vi", 0.01), ("zh", 0.02)])
def test_hardly_any_question_of_fact_is_taken_for_a_follow_up(locale: Locale, most: float):
    subject = Subject("Who is the king of Spain?", ("Felipe",))
    questions = xquad(locale)
    leaning = [question for question in questions if queries(question, subject) != queries(question)]

    assert len(leaning) <= most * len(questions), leaning
