"""Whether the footnotes of a text hold: a verdict for each of them, with the passage that it rests on."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from footnote.evidence.candidates import PageIndex, find_phrase
from footnote.evidence.claims import CitedNumber, Claim, extract_claims, may_cite
from footnote.evidence.excerpt import quote_passage, trim_quote
from footnote.evidence.lexicon import negations
from footnote.evidence.names import find_names
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import Token, TokenizedText, detect_language, is_character, tokenize
from footnote.evidence.values import Value, contains_value
from footnote.evidence.verdict import Evidence, combine, judge
from footnote.protocol.sources import Citation, Quote
from footnote.text.sentences import Span

_MIN_SHARED = 2
"""How many numbers and names a passage must share with a claim."""
_MAX_SENTENCES = 3
_MAX_PASSAGES = 4


def is_other_language(text: str, page: PageIndex) -> bool:
    """Whether a claim is surely in another language than the page. Languages in Latin letters are hard to tell apart
    in one sentence, Vietnamese excepted."""
    mine = detect_language(text)
    return mine != page.language and bool({mine, page.language} & {"zh", "vi"}) and mine != "other"


def judge_cross_language(text: str, page: PageIndex) -> Evidence:
    """`partial`, if one passage has every number of a claim and some of its names; never more."""
    claim = tokenize(text, page.language)
    numbers = [token.value for token in claim.tokens if token.value]
    called = [token for name in find_names(claim, page) for token in name if not is_character(token.key)]
    keys = dict.fromkeys(
        [*(token.key for token in called), *(key for value in numbers for key in _number_spellings(value))]
    )
    weights = {key: page.weight(key) for key in keys}
    for span in page.passages(weights, max_sentences=_MAX_SENTENCES, max_passages=_MAX_PASSAGES):
        passage = tokenize(page.text[span.start : span.end], page.language)
        shared = [token for token in called if token.key in passage.keys]
        if (
            all(contains_value(passage.values, value) for value in numbers)
            and len(numbers) + len(shared) >= _MIN_SHARED
        ):
            return _partial_evidence(claim, page, span, passage, shared)
    return Evidence("unsupported")


def _partial_evidence(
    claim: TokenizedText, page: PageIndex, span: Span, passage: TokenizedText, shared: Sequence[Token]
) -> Evidence:
    keys = {token.key for token in shared}
    agreed = [
        Span(span.start + token.start, span.start + token.end)
        for token in passage.tokens
        if token.key in keys or token.value
    ]
    found = frozenset(token.start for token in claim.tokens if token.value or token.key in keys)
    return Evidence("partial", quote_passage(page.text, span, agreed, claim.text), 0.5, found)


def _number_spellings(value: Value) -> list[str]:
    """How a number may be written on the page, so that it can be found there."""
    number = value.readings[0][0].number
    plain = f"{number:.10g}"
    grouped = f"{number:,.0f}" if number.is_integer() else plain
    return [plain, plain.replace(".", ","), grouped, grouped.replace(",", ".")]


MIN_VERBATIM_LETTERS = 12
"""Fewer letters than this stand on many pages by chance."""

_CONTEXT_CHARACTERS = 300
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CELL = re.compile(r"[|\t]")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_PART = re.compile(r"[,;]\s")
"""Not the comma of Chinese, which stands between `there is no evidence` and what there is none for."""
_SUBORDINATE_CLAUSE = re.compile(r"(?:that|whether|rằng)\b", re.IGNORECASE)
_COORDINATE_CLAUSE = re.compile(r"(?:and|but|or|và|nhưng|hoặc)\b", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|nor|hoặc|hay)\b(?!\s+(?:if|when|because|nếu|khi|vì)\b)", re.IGNORECASE)


def find_verbatim(claim: str, text: str) -> Quote | None:
    """Where the claim stands in a text, in whole words. White space is one, however much of it there is."""
    words = claim.split()
    if sum(map(len, words)) < MIN_VERBATIM_LETTERS:
        return None
    for found in find_phrase(words, text):
        before = _SENTENCE_END.split(text[max(0, found.start - _CONTEXT_CHARACTERS) : found.start])[-1]
        rest = _SENTENCE_END.split(text[found.start : found.end + _CONTEXT_CHARACTERS])[0]
        if not _is_negated(before, rest):
            return trim_quote(text, found)
    return None


def _is_negated(before: str, rest: str) -> bool:
    """Whether a sentence denies its `rest` by what stands before: "it is not true that the earth is flat".

    What is closed says nothing of what follows it: a cell of a table, an aside in brackets, a part before a comma
    ("it never rained, the harvest was good"), unless the sentence goes on with it ("he did not, however, win"; "do not
    smoke, drink or drive").
    """
    before = _CELL.split(before)[-1]
    while (without := _ASIDE.sub(" ", before)) != before:
        before = without
    *earlier, own = _PART.split(before)
    if negations(own, strict=True):
        return True
    following = (own + rest).lstrip()
    if _SUBORDINATE_CLAUSE.match(following) or _ALTERNATIVE.search(rest):
        return any(negations(part, strict=True) for part in earlier)
    return not _COORDINATE_CLAUSE.match(following) and any(map(_ends_with_negation, earlier))


def _ends_with_negation(part: str) -> bool:
    return any(word.end == len(part.rstrip()) for word in negations(part, strict=True))


__all__ = ["check_citations", "may_cite"]

_MAX_CLAIM_LENGTH = 1500
"""Characters of a claim that are looked at: of one that is longer, a source can support no more than a part."""
MAX_CITATIONS = 10_000
MAX_COMPARISONS = 4_000
MAX_COMPARED_CHARACTERS = 400_000_000
"""How often a statement of one text is held against a page, and how many characters these pages may have in all: some
seconds of work, whatever the pages. They are numbers and not a time, so that the same text always gets the same
verdicts."""
_RANKS = ("unsupported", "partial", "supported")


def check_citations(text: str, sources: Sources) -> tuple[Citation, ...]:
    """One citation for each number of each marker, in order.

    `start` and `end` are those of the sentence (see `claims.Claim`). A number without a source is `unsupported`; so is
    one of whose page nothing was read. In a list of sources only numbers that have none are cited.

    Whatever the text, this ends: once the comparisons are used up, the statements that are left stay `unsupported`
    without a quotation, the least that can be said of them; beyond the other two limits there is no citation.
    """
    comparing = _Comparer(sources)
    found = (citation for claim in extract_claims(text) for citation in _check_claim(claim, comparing))
    return tuple(islice(found, MAX_CITATIONS))


class _Comparer:
    """Holds the statements of one text against pages, and counts."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._comparisons_left = MAX_COMPARISONS
        self._characters_left = MAX_COMPARED_CHARACTERS

    def find_evidence(self, text: str, number: int) -> Evidence:
        """What a source has of a claim: its last reading, if that bears it, otherwise the reading that does so best."""
        best = Evidence("unsupported")
        for page in self.sources.pages(number):
            if self._comparisons_left == 0 or self._characters_left < len(page.text):
                break
            self._comparisons_left -= 1
            self._characters_left -= len(page.text)
            finding = _find_on_page(page, text)
            if finding.verdict == "supported":
                return finding
            best = max(best, finding, key=_evidence_rank)
        return best


def _check_claim(claim: Claim, comparer: _Comparer) -> Iterator[Citation]:
    if claim.is_reference:
        unknown = [cite for cite in claim.cites if comparer.sources.source(cite.number) is None]
        yield from (_citation(claim, cite, Evidence("unsupported")) for cite in unknown)
        return
    text = claim.text[:_MAX_CLAIM_LENGTH]
    numbers = dict.fromkeys(cite.number for cite in claim.cites)
    findings = combine(text, {number: comparer.find_evidence(text, number) for number in numbers})
    for cite in claim.cites:
        finding = findings[cite.number]
        if cite.part and finding.verdict != "supported":
            # A marker in the middle of a sentence answers for what stands before it.
            part = comparer.find_evidence(cite.part[:_MAX_CLAIM_LENGTH], cite.number)
            finding = part if part.verdict == "supported" else finding
        if finding.verdict == "supported" and len(claim.text) > _MAX_CLAIM_LENGTH:
            finding = replace(finding, verdict="partial")
        yield _citation(claim, cite, finding)


def _find_on_page(page: PageIndex, text: str) -> Evidence:
    if (quote := find_verbatim(text, page.text)) is not None:
        return Evidence("supported", quote, 1.0, snapshot_id=page.snapshot_id)
    finding = judge(text, page)
    if finding.verdict == "unsupported" and is_other_language(text, page):
        finding = judge_cross_language(text, page)
    return replace(finding, snapshot_id=page.snapshot_id)


def _evidence_rank(finding: Evidence) -> tuple[int, float]:
    return _RANKS.index(finding.verdict), finding.share


def _citation(claim: Claim, cite: CitedNumber, finding: Evidence) -> Citation:
    quote = finding.quote
    if quote is None:
        return Citation(cite.marker, cite.number, claim.start, claim.end, finding.verdict)
    return Citation(
        cite.marker,
        cite.number,
        claim.start,
        claim.end,
        finding.verdict,
        quote.text,
        quote.start,
        quote.end,
        finding.snapshot_id,
    )
