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
def test_what_is_false_is_called_so_unless_it_is_reworded(language: str) -> None:
    verdicts = [verdict for row, verdict in judge_all(language) if row.label == "unsupported" and not row.is_reworded]
    assert sum(verdict in ("unsupported", "contradicted") for verdict in verdicts) / len(verdicts) >= 0.90


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_false_and_reworded_is_hardly_ever_supported(language: str) -> None:
    verdicts = [verdict for row, verdict in judge_all(language) if row.is_reworded and row.label == "unsupported"]
    assert verdicts.count("supported") <= 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_detail_that_was_changed_is_a_contradiction_and_another_subject_is_none(language: str) -> None:
    changed = [one for row, one in judge_all(language) if row.kind in ("numbers", "names", "negated")]
    shifted = [one for row, one in judge_all(language) if row.kind in ("shifted", "neighbouring")]
    true = [one for row, one in judge_all(language) if row.label in ("supported", "partial")]
    assert changed.count("contradicted") / len(changed) >= 0.85
    assert shifted.count("contradicted") == 0
    assert true.count("contradicted") <= 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_page_says_word_for_word_is_supported(language: str) -> None:
    assert {verdict for row, verdict in judge_all(language) if row.kind == "verbatim"} == {"supported"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_shortened_joined_or_written_in_other_numerals_is_supported(language: str) -> None:
    edited = [verdict for row, verdict in judge_all(language) if row.kind == "edited"]
    assert edited.count("supported") / len(edited) >= 0.95


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_paraphrase_is_partial_at_least(language: str) -> None:
    """Comparing texts cannot know that other words mean the same."""
    paraphrased = [
        verdict for row, verdict in judge_all(language) if (row.kind, row.label) == ("paraphrased", "supported")
    ]
    assert sum(verdict in ("supported", "partial") for verdict in paraphrased) / len(paraphrased) >= 0.95


def test_the_set_is_as_large_as_it_says() -> None:
    rows = labelled()
    assert {language: sum(row.language == language for row in rows) for language in LANGUAGES} == {
        "en": 616,
        "vi": 615,
        "zh": 615,
    }
    assert all(row.claim not in row.page for row in rows if row.label != "supported")
