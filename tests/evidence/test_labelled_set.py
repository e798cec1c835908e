"""The bars for the labelled set; `bench/citations.py` prints the figures."""

from functools import cache

import pytest

from evidence.samples import sources_of
from fixtures.citations.labelled import LANGUAGES, LabelledClaim, labelled
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations

pytestmark = pytest.mark.slow


@cache
def page(text: str) -> Sources:
    return sources_of(text)


@cache
def judge_all(language: str) -> list[tuple[LabelledClaim, str]]:
    rows = [row for row in labelled() if row.language == language and row.checking]
    return [(row, check_citations(row.footnoted, page(row.page))[0].verdict) for row in rows]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_called_supported_is(language: str) -> None:
    called = [row.label for row, verdict in judge_all(language) if verdict == "supported"]
    assert called.count("supported") / len(called) >= 0.95


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_unsupported_is_called_so(language: str) -> None:
    verdicts = [verdict for row, verdict in judge_all(language) if row.label == "unsupported"]
    assert verdicts.count("unsupported") / len(verdicts) >= 0.90


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_page_says_word_for_word_is_supported(language: str) -> None:
    assert {verdict for row, verdict in judge_all(language) if row.kind == "verbatim"} == {"supported"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_paraphrases_are_supported_and_next_to_none_is_unsupported(language: str) -> None:
    paraphrased = [
        verdict for row, verdict in judge_all(language) if (row.kind, row.label) == ("paraphrased", "supported")
    ]
    assert paraphrased.count("supported") / len(paraphrased) >= 0.65
    assert paraphrased.count("unsupported") / len(paraphrased) <= 0.1


def test_the_set_is_as_large_as_it_says() -> None:
    rows = labelled()
    assert {language: sum(row.language == language for row in rows) for language in LANGUAGES} == {
        "en": 616,
        "vi": 615,
        "zh": 615,
    }
    assert all(row.claim not in row.page for row in rows if row.label != "supported")
