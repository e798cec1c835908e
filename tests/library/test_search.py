"""Library search: full questions in three languages, and no results where there are none."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.sources import SearchHit, Snapshot
from library.samples import BATTLE, RECIPE, TREATY, page

XQUAD = Path(__file__).parents[1] / "fixtures" / "xquad"
LANGUAGES = ("en", "vi", "zh")
CHINESE = page(
    "https://zh.example/gugong",
    "故宫位于北京中轴线的中心，是中国明清两代的皇家宫殿，旧称紫禁城。故宫始建于明成祖永乐四年。",
    "故宫",
)
UNRELATED = {
    "en": [
        "What is the weather like in Hanoi today?",
        "How do I bake sourdough bread at home?",
        "Who won the 2022 FIFA World Cup final?",
        "What is the tallest mountain in Africa?",
        "symptoms of vitamin D deficiency",
        "what is the price of gold",
    ],
    "vi": [
        "Thời tiết Hà Nội hôm nay thế nào?",
        "Giá vàng hôm nay bao nhiêu?",
        "Cách thay lốp xe đạp",
        "Giá cổ phiếu HPG hôm nay",
    ],
    "zh": ["今天北京的天气怎么样？", "红烧肉怎么做？", "谁赢得了2022年世界杯？", "怎样换自行车轮胎？"],
}


async def found_urls(library: Library, query: str, count: int = 5) -> list[str]:
    return [hit.url for hit in await library.search(query, count)]


async def fill_library(library: Library) -> Library:
    for one in (TREATY, RECIPE, BATTLE, CHINESE):
        await library.store(one)
    return library


ANSWERS = [
    ("When was the Treaty of Versailles signed?", TREATY.url),
    ("versailles", TREATY.url),
    ("TREATY of VERSAILLES", TREATY.url),
    ("where were treaties signed in a hall of mirrors", TREATY.url),
    ("Chiến dịch Điện Biên Phủ kết thúc khi nào?", BATTLE.url),
    ("dien bien phu", BATTLE.url),
    ("Dien Bien Phu ket thuc ngay nao", BATTLE.url),
    ("nấu phở bò cần gì", RECIPE.url),
    ("紫禁城在哪里？", CHINESE.url),
    ("故宫是什么时候建的？", CHINESE.url),
]


async def test_a_question_finds_the_page_that_answers_it(library: Library, subtests: pytest.Subtests) -> None:
    await fill_library(library)
    for query, url in ANSWERS:
        with subtests.test(query=query):
            assert await found_urls(library, query) == [url]


async def test_a_hit_shows_the_passage_that_fits_best(library: Library) -> None:
    filler = "\n\n".join(
        f"Paragraph {number} is about nothing in particular. " + "Nothing. " * 90 for number in range(6)
    )
    long = replace(TREATY, text=f"# Versailles\n\n{filler}\n\n## The signing\n\nThe treaty was\nsigned in 1919.")
    await library.store(long)
    assert await library.search("When was the treaty signed?", 5) == (
        SearchHit(
            title="Treaty of Versailles",
            url=TREATY.url,
            description="The signing The treaty was signed in 1919.",
            published="2024-03-17",
            site_name="History",
        ),
    )


async def test_of_a_long_passage_a_hit_shows_the_sentences_that_were_asked_for(library: Library) -> None:
    nothing = "Nothing of importance is told in this sentence here. "
    await library.store(page("https://a.example", nothing * 9 + "Obsidian is volcanic glass. " + nothing * 7))
    (hit,) = await library.search("obsidian volcanic glass", 5)
    assert "Obsidian is volcanic glass." in hit.description
    assert len(hit.description) <= 400
    assert hit.description.endswith("in this sentence here.")


async def test_a_page_is_found_once_however_many_of_its_passages_fit(library: Library) -> None:
    paragraphs = "\n\n".join(f"Versailles, part {number}. " + "The treaty. " * 80 for number in range(10))
    await library.store(replace(TREATY, text=paragraphs))
    assert await found_urls(library, "treaty of Versailles") == [TREATY.url]


async def test_the_same_text_at_two_addresses_is_one_hit_at_the_last_of_them(library: Library) -> None:
    mirror = replace(TREATY, url="https://mirror.example")
    await library.store(TREATY)
    await library.store(mirror)
    assert await found_urls(library, "Treaty of Versailles") == [mirror.url]
    await library.store(page(mirror.url, "Moved.", "Moved"))
    assert await found_urls(library, "Treaty of Versailles") == [TREATY.url]


async def test_a_page_is_found_by_what_it_says_now(library: Library) -> None:
    await library.store(page("https://news.example", "The bridge will be painted green.", "News"))
    await library.store(page("https://news.example", "The tunnel will be flooded.", "News"))
    assert await found_urls(library, "bridge painted green") == []
    assert await found_urls(library, "flooded tunnel") == ["https://news.example"]


async def test_a_word_in_the_title_counts_for_more_than_one_in_the_text(library: Library) -> None:
    await library.store(page("https://a.example", "A page that mentions obsidian once among other stones.", "Stones"))
    await library.store(page("https://b.example", "A page that mentions it once among other stones.", "Obsidian"))
    assert await found_urls(library, "obsidian") == ["https://b.example", "https://a.example"]


async def test_a_passage_is_found_by_the_heading_it_stands_under(library: Library) -> None:
    await library.store(page("https://a.example", "# Stones\n\nMany.\n\n## Obsidian\n\nBlack, sharp, volcanic glass."))
    (hit,) = await library.search("obsidian", 5)
    assert hit.description == "Obsidian Black, sharp, volcanic glass."


async def test_a_later_passage_is_found_by_its_heading_too(library: Library) -> None:
    filler = "Nothing of importance is told in this sentence here. " * 18
    obsidian = f"## Obsidian\n\n{filler}\n\nIts edges are sharp."
    flint = f"## Flint\n\n{filler}\n\nIts edges are rough."
    await library.store(page("https://a.example", f"{obsidian}\n\n{flint}"))
    (hit,) = await library.search("edges of flint", 5)
    assert hit.description == "Its edges are rough."


async def test_no_more_pages_are_found_than_were_asked_for(library: Library) -> None:
    for number in range(6):
        await library.store(page(f"https://{number}.example", f"Obsidian, number {number}."))
    assert len(await found_urls(library, "obsidian", 3)) == 3
    assert len(await found_urls(library, "obsidian", 10)) == 6


async def test_pages_that_fit_far_worse_than_the_best_are_left_out(library: Library) -> None:
    other = page("https://other.example", "Bottles are made of volcanic glass. " + "They keep wine and oil. " * 20)
    await library.store(other)
    assert await found_urls(library, "obsidian volcanic glass") == [other.url]
    best = page("https://best.example", "Obsidian, a volcanic glass. " * 5, "Obsidian volcanic glass")
    await library.store(best)
    assert await found_urls(library, "obsidian volcanic glass") == [best.url]


async def test_one_word_of_a_short_question_is_not_enough(library: Library) -> None:
    await library.store(page("https://dusk.example", "Dusk is the end of twilight.", "Dusk"))
    assert await found_urls(library, "What is dusk?") == ["https://dusk.example"]
    assert await found_urls(library, "When is dusk in Sydney?") == []


NO_SYNTAX = [
    "",
    "   ",
    "?!",
    "what is the",
    "là gì",
    "是什么",
    '"',
    '"" OR ""',
    "NEAR(a b)",
    "title:versailles*",
    "-versailles",
    "versailles'); DROP TABLE page; --",
    "\0",
    "\ud83d",
    "x" * 10_000,
    "versailles " * 2_000,
    "{versailles} AND ^(treaty) + OR",
]


async def test_no_query_is_read_as_syntax(library: Library, subtests: pytest.Subtests) -> None:
    await fill_library(library)
    for query in NO_SYNTAX:
        with subtests.test(query=ascii(query[:40]), length=len(query)):
            pages = [url for url in await found_urls(library, query) if not url.startswith("footnote://")]
            assert pages in ([], [TREATY.url])
    assert await found_urls(library, "Treaty of Versailles") == [TREATY.url]


@pytest.mark.parametrize(
    "text", ["C++ and C#", "版本３．１４", "ｆｕｌｌ ｗｉｄｔｈ", "don’t", "3.14", "a" * 200, "ﷺ", "⑴", "½", "İstanbul"]
)
async def test_what_a_text_says_can_be_asked_for_in_the_same_words(library: Library, text: str) -> None:
    await library.store(page("https://odd.example", f"Obsidian: {text}"))
    assert await found_urls(library, f"obsidian {text}") == ["https://odd.example"]


async def test_an_empty_library_finds_only_the_documentation(library: Library) -> None:
    (first, *_) = await library.search("How do I set the Brave API key?", 5)
    assert first.url in ("footnote://docs/configuration.md", "footnote://README.md")
    for questions in UNRELATED.values():
        assert [await found_urls(library, question) for question in questions] == [[]] * len(questions)


async def test_a_database_in_memory_is_searched_alike() -> None:
    async with Database.in_memory() as database:
        library = await fill_library(Library(database))
        assert await found_urls(library, "When was the Treaty of Versailles signed?") == [TREATY.url]


def articles(language: str) -> list[tuple[Snapshot, list[str]]]:
    """Every article as a page, with the questions that it answers."""
    data = json.loads((XQUAD / f"{language}.json").read_text(encoding="utf-8"))["data"]
    return [
        (
            page(
                f"https://{language}.example/{article['title']}",
                "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"]),
                article["title"].replace("_", " ") if language == "en" else "",
            ),
            [qa["question"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]],
        )
        for article in data
    ]


@pytest.mark.slow
async def test_full_questions_find_their_article_among_all_of_three_languages() -> None:
    """Nor may the documentation be found where it does not answer. Every third question, to save time."""
    recall: dict[str, float] = {}
    mistaken = 0
    async with Database.in_memory() as database, Database.in_memory() as empty:
        library, documentation = Library(database), Library(empty)
        for language in LANGUAGES:
            for article, _ in articles(language):
                await library.store(article)
        for language in LANGUAGES:
            pairs = [(article.url, question) for article, pairs in articles(language) for question in pairs][::3]
            recall[language] = sum([url in await found_urls(library, question) for url, question in pairs]) / len(pairs)
            mistaken += sum([bool(await found_urls(documentation, question)) for _, question in pairs])
    assert {language: share for language, share in recall.items() if share < 0.95} == {}
    assert mistaken <= 6, "of 612"
