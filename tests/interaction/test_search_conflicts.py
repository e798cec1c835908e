"""A whole search whose pages contradict each other."""

from pathlib import Path

import pytest

from footnote.models.reader.messages import MESSAGES
from footnote.protocol.tools import Locale
from interaction.test_search import citations, hits, searching
from interaction.test_turns import answer_text, follow, results
from web import Web, page


async def test_of_pages_that_contradict_each_other_both_are_quoted_and_the_answer_says_so(tmp_path: Path):
    body = (
        "<h1>Tower</h1><p>The tower stands by the river. The tower was built in {year} by a company from the north.</p>"
    )
    years = {"one": 1887, "other": 1913}
    pages = {f"/{name}": page(body.format(year=year), title="Tower") for name, year in years.items()}
    async with Web(pages) as web, searching(tmp_path, web, hits(web, "/one", "/other")) as app:
        events = await follow(await app.ask("When was the tower built?"))
    [result] = results(events)
    assert result.artifact is not None
    [found] = result.artifact["disagreements"]
    assert found["about"] == "When was the tower built?"
    assert [
        (side["number"], year in side["text"]) for side, year in zip(found["values"], ("1887", "1913"), strict=True)
    ] == [
        (1, True),
        (2, True),
    ]
    assert "Note: Sources 1 ([1.1]) and 2 ([2.1]) contradict each other. Give both sides" in result.content
    assert {one.number for one in citations(events)} == {1, 2}
    assert MESSAGES["en"].disagree.format(numbers="1, 2") in answer_text(events)


@pytest.mark.parametrize(
    ("locale", "question", "sentence"),
    [
        ("en", "When was the tower built?", "The tower was built in {year} by a company from the north."),
        ("vi", "Ngọn tháp được xây năm nào?", "Ngọn tháp được xây năm {year} bên bờ sông."),
        ("zh", "这座铁塔建于哪一年？", "这座铁塔建于{year}年，位于河边。"),
    ],
)
async def test_the_days_of_both_sides_are_told_to_the_model_and_to_the_reader(
    tmp_path: Path, locale: Locale, question: str, sentence: str
):
    days = {1887: "2019-03-02", 1913: "2024-05-06"}
    head = '<head><meta property="article:published_time" content="{day}T08:00:00Z"></head>'
    pages = {
        f"/{year}": page(f"{head.format(day=day)}<h1>T</h1><p>{sentence.format(year=year)}</p>", title="T")
        for year, day in days.items()
    }
    async with Web(pages) as web, searching(tmp_path, web, hits(web, "/1887", "/1913")) as app:
        events = await follow(await app.ask(question))
    [result] = results(events)
    assert result.artifact is not None
    [found] = result.artifact["disagreements"]
    assert [side["published"][:10] for side in found["values"]] == list(days.values())
    told = "Sources 1 ([1.1], published 2019-03-02) and 2 ([2.1], published 2024-05-06) contradict each other."
    assert f"Note: {told}" in result.content
    assert MESSAGES[locale].disagree.format(numbers="1 (2019-03-02), 2 (2024-05-06)") in answer_text(events)


async def test_both_sides_are_evidence_also_within_a_small_limit(tmp_path: Path):
    filler = "<p>" + "Towers of this kind were built in many towns of the north in those years. " * 30 + "</p>"
    body = "<h1>Tower</h1>{filler}<p>The tower was built in {year} by a company from the north.</p>{filler}"
    pages = {f"/{year}": page(body.format(year=year, filler=filler), title="Tower") for year in (1887, 1913)}
    settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_EVIDENCE_TOKENS": "100"}
    async with Web(pages) as web, searching(tmp_path, web, hits(web, "/1887", "/1913"), **settings) as app:
        [result] = results(await follow(await app.ask("When was the tower built?")))
    assert result.artifact is not None
    evidence = {one["number"]: one["text"] for one in result.artifact["evidence"]}
    assert ["1887" in evidence[1], "1913" in evidence[2]] == [True, True]
    assert sum(len(text) for text in evidence.values()) < 400
