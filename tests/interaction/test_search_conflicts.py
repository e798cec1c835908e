"""A whole search whose pages contradict each other."""

from pathlib import Path

from footnote.models.reader.messages import MESSAGES
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
    assert "Note: Sources 1 and 2 contradict each other." in result.content
    assert {one.number for one in citations(events)} == {1, 2}
    assert MESSAGES["en"].disagree.format(numbers="1, 2") in answer_text(events)
