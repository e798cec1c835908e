"""A claim in one language on a page in another: only numbers, and names in the same letters, can be compared."""

from collections.abc import Sequence

from footnote.citations.align import Page
from footnote.citations.names import names
from footnote.citations.quoting import quoted
from footnote.citations.values import Value, holds
from footnote.citations.verdict import Finding
from footnote.citations.wording import Token, Wording, is_character, language_of, wording_of
from footnote.language.sentences import Span

_ENOUGH = 2
"""How many numbers and names a passage must share with a claim."""
_SENTENCES = 3
_PASSAGES = 4


def is_foreign(text: str, page: Page) -> bool:
    """Whether a claim is surely in another language than the page. Languages in Latin letters are hard to tell apart
    in one sentence, Vietnamese excepted."""
    mine = language_of(text)
    return mine != page.language and bool({mine, page.language} & {"zh", "vi"}) and mine != "other"


def judge_across(text: str, page: Page) -> Finding:
    """`partial`, if one passage has every number of a claim and some of its names; never more."""
    claim = wording_of(text, page.language)
    numbers = [token.value for token in claim.tokens if token.value]
    called = [token for name in names(claim, page) for token in name if not is_character(token.key)]
    keys = dict.fromkeys([*(token.key for token in called), *(key for value in numbers for key in _spellings(value))])
    weights = {key: page.weight(key) for key in keys}
    for span in page.passages(weights, most=_SENTENCES, count=_PASSAGES):
        passage = wording_of(page.text[span.start : span.end], page.language)
        shared = [token for token in called if token.key in passage.keys]
        if all(holds(passage.values, value) for value in numbers) and len(numbers) + len(shared) >= _ENOUGH:
            return _partial(claim, page, span, passage, shared)
    return Finding("unsupported")


def _partial(claim: Wording, page: Page, span: Span, passage: Wording, shared: Sequence[Token]) -> Finding:
    keys = {token.key for token in shared}
    agreed = [
        Span(span.start + token.start, span.start + token.end)
        for token in passage.tokens
        if token.key in keys or token.value
    ]
    found = frozenset(token.start for token in claim.tokens if token.value or token.key in keys)
    return Finding("partial", quoted(page.text, span, agreed, claim.text), 0.5, found)


def _spellings(value: Value) -> list[str]:
    """How a number may be written on the page, so that it can be found there."""
    number = value.readings[0][0].number
    plain = f"{number:.10g}"
    grouped = f"{number:,.0f}" if number.is_integer() else plain
    return [plain, plain.replace(".", ","), grouped, grouped.replace(",", ".")]
