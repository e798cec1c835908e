"""A whole search that finds Office documents."""

from pathlib import Path

import pytest

from documents.extract.test_office import DOCUMENTS, SAID
from interaction.test_search import answer_of, hits, searching
from web import PageReply, Web


@pytest.mark.parametrize("suffix", DOCUMENTS)
async def test_an_office_document_of_the_web_is_quoted(suffix: str, tmp_path: Path):
    kind, body = DOCUMENTS[suffix]
    path = f"/files/report.{suffix}"
    async with (
        Web({path: PageReply(headers={"Content-Type": kind}, body=body)}) as web,
        searching(tmp_path, web, hits(web, path)) as app,
    ):
        answer = await answer_of(app, "When was the bridge opened?")
    [source] = answer.artifact.sources
    assert source.status == "read"
    assert SAID in answer.artifact.passages[0].text
