"""The verdict on each footnote of a text: how far its page supports the claim, and the passage that does so best.

By comparing texts alone, so that a verdict is as certain as that can be: `supported` if one passage says all of it in
the same way, `contradicted` if one says the same thing otherwise, `unsupported` if the page has nothing about it, and
`partial` for what is between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.abbreviations import other_forms
from footnote.evidence.alignment import Alignment, Objection, PassageContext
from footnote.evidence.claims import CitedNumber, Claim, extract_claims
from footnote.evidence.contradiction import Contradiction, NameOffsets, conflicting_values, find_contradictions
from footnote.evidence.lexicon import FUNCTION_WORDS
from footnote.evidence.missing import missing_text
from footnote.evidence.order import Pair
from footnote.evidence.outline import outline
from footnote.evidence.page_index import PageIndex, find_verbatim, quote_passage
from footnote.evidence.rewording import reworded
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import Token, TokenizedText, find_names, is_character, key_of, tokenize
from footnote.evidence.values import Value, contains_value
from footnote.protocol.sources import Citation, Difference, Pointer, Quote, Verdict
from footnote.text.languages import are_other_languages, detect_language
from footnote.text.sentences import Span, sentences
from footnote.text.terms import terms
from footnote.tracing import EventCounter

_MIN_ABOUT = {"vi": 0.45, "zh": 0.42}
_MIN_ABOUT_OTHERS = 0.32
"""The share of a claim's words that the best three sentences of a page must have for the page to be about it. Syllables
and pairs of characters occur by chance more often than words."""
_ABOUT_SENTENCES = 3
_SAMPLE = 4_000
_MIN_SHOWN = 0.3
"""From this share on, the nearest passage is shown for an unsupported claim, too."""
_MIN_COMPARED = 0.35
"""From this share of its words on, a passage may contradict a claim."""
_MIN_SAID_AGAIN = 0.5
"""The share of a statement that a passage must have to count the same things as it."""
_MAX_PASSAGES = 4
_MAX_SENTENCES = 12
_SENTENCE_PENALTY = 0.1
"""What a passage loses for each sentence more than the claim has."""
_CONTEXT_SENTENCES = 6
"""How many sentences before a passage may have the name to which a pronoun in it refers."""
_NUMBER_WEIGHT = 2.0
_NAME_WEIGHT = 1.3
"""The weight of a number and of a name, relative to a word that is as rare."""


class Evidence(Struct, frozen=True):
    """What a page has of a claim. `matched` are the offsets of those words of the claim that its passage has,
    `snapshot_id` is the text that contains the quote.

    `missing` names what the passage does not say, in words of the claim. `contradictions` have offsets in the claim and
    in the page. `is_whole`: the passage says the words that it has in the same way, and others are missing.
    """

    verdict: Verdict
    quote: Quote | None = None
    share: float = 0.0
    matched: frozenset[int] = frozenset()
    snapshot_id: str | None = None
    missing: str | None = None
    contradictions: tuple[Contradiction, ...] = ()
    is_whole: bool = False


class _JudgedClaim(Struct, frozen=True):
    """A claim prepared for one page: `weights` of its words, `terms` by which the page is searched."""

    wording: TokenizedText
    names: Sequence[Sequence[Token]]
    weights: Sequence[float]
    terms: Mapping[str, float]
    sentences: int


class _CandidatePassage(Struct, frozen=True):
    """A passage that was compared with a claim."""

    span: Span
    alignment: Alignment
    objections: Sequence[Objection]
    contradictions: Sequence[Contradiction]
    share: float
    strength: float


COMPARISONS = EventCounter("statement_comparisons", "Comparisons of a statement with a page that it was new to.")


def find_evidence(text: str, page: PageIndex) -> Evidence:
    """The evidence of a page for a claim: word for word, by its words and values, or in another language."""
    return page.remember(text, _find_evidence)


def _find_evidence(text: str, page: PageIndex) -> Evidence:
    COMPARISONS.add()
    if (quote := find_verbatim(text, page.text)) is not None:
        return Evidence("supported", quote, 1.0, snapshot_id=page.snapshot_id)
    evidence = _judge(text, page)
    if evidence.verdict != "supported":
        others = (_judge(form, page) for form in other_forms(text, page.abbreviations))
        if (other := next((one for one in others if one.verdict == "supported"), None)) is not None:
            found = frozenset(word.start for word in outline(tokenize(text, page.language)).words)
            evidence = replace(other, matched=found)
    if evidence.verdict != "supported" and are_other_languages(text, page.text[:_SAMPLE]):
        evidence = _judge_cross_language(text, page)
    return replace(evidence, snapshot_id=page.snapshot_id)


def _judge(text: str, page: PageIndex) -> Evidence:
    """The passage of a page that supports a claim best, and how well it does."""
    claim = _parse_claim(text, page)
    max_sentences = min(_MAX_SENTENCES, max(3, claim.sentences + 1))
    spans = page.passages(claim.terms, max_sentences=max_sentences, max_passages=_MAX_PASSAGES)
    if repeated := page.find_repeated(text):
        spans.append(repeated)
    candidates = sorted(
        (_compare_passage(claim, page, span) for span in spans), key=lambda one: one.strength, reverse=True
    )
    if not candidates:
        return Evidence("unsupported")
    saying = next((one for one in candidates if not one.objections), None)
    if saying is not None:
        return _to_evidence(claim, page, saying, "supported")
    differing = next((one for one in candidates if one.contradictions and not _says_both(one, candidates)), None)
    if differing is not None:
        return _to_evidence(claim, page, differing, "contradicted")
    least = _MIN_ABOUT.get(page.language, _MIN_ABOUT_OTHERS)
    is_about = page.share_of_words(claim.terms, _ABOUT_SENTENCES) >= least
    return _to_evidence(claim, page, candidates[0], "partial" if is_about else "unsupported")


def _says_both(differing: _CandidatePassage, candidates: Iterable[_CandidatePassage]) -> bool:
    """Whether the page counts the same things twice, and once as the statement does: `62,000 cars a day, on Sundays
    52,000 cars`. A statement with another number or date says which of the two it means."""
    numbers = {one.claim.start for one in differing.contradictions}
    values = [word for word in differing.alignment.claim.words if word.value]
    return len(values) == 1 and any(
        pair in (Pair(at - 1, place - 1), Pair(at + 1, place + 1))
        for other in candidates
        if other.share >= _MIN_SAID_AGAIN
        for at, word in enumerate(other.alignment.claim.words)
        if word.value and word.start in numbers
        for place in other.alignment.candidates[at]
        for pair in other.alignment.chain
    )


def contradictions_in(text: str, page: PageIndex, span: Span) -> tuple[Contradiction, ...]:
    """Where a passage that contradicts a statement differs from it, as far as comparing texts can tell."""
    candidate = _compare_passage(_parse_claim(text, page), page, span)
    found = candidate.contradictions or conflicting_values(candidate.alignment)
    return tuple(_on_page(one, span) for one in found)


def _on_page(one: Contradiction, span: Span) -> Contradiction:
    return Contradiction(one.claim, Span(span.start + one.passage.start, span.start + one.passage.end))


def combine(text: str, findings: Mapping[int, Evidence]) -> dict[int, Evidence]:
    """The evidence of several sources for one claim. If none supports it alone but they do so together, each of them
    that supports a part is `supported`."""
    parts = {number: one for number, one in findings.items() if one.verdict == "partial" and one.is_whole}
    alone = any(finding.verdict == "supported" for finding in findings.values())
    found = frozenset(offset for part in parts.values() for offset in part.matched)
    if alone or len(parts) < 2 or not _is_covered(text, found):
        return dict(findings)
    return {
        **findings,
        **{number: replace(part, verdict="supported", missing=None) for number, part in parts.items()},
    }


def _is_covered(text: str, found: frozenset[int]) -> bool:
    words = outline(TokenizedText(text)).words
    return bool(words) and all(word.start in found for word in words)


def _parse_claim(text: str, page: PageIndex) -> _JudgedClaim:
    wording = tokenize(text, page.language)
    keys = dict.fromkeys(
        key_of(term.text, page.language) for term in terms(text) if not _is_function_word(term.text, page)
    )
    return _JudgedClaim(
        wording,
        find_names(wording, page.is_proper_name),
        [_word_weight(word, page) for word in outline(wording).words],
        {key: page.weight(key) for key in keys},
        sum(1 for _ in sentences(text)),
    )


def _is_function_word(term: str, page: PageIndex) -> bool:
    words = FUNCTION_WORDS["vi" if page.language == "vi" else "en"]
    return term in words or all(character in FUNCTION_WORDS["zh"] for character in term)


def _word_weight(word: Token, page: PageIndex) -> float:
    if is_character(word.key):
        return 1.0
    return page.weight(word.key) * (_NUMBER_WEIGHT if word.value else _NAME_WEIGHT if word.is_capitalized else 1.0)


def _compare_passage(claim: _JudgedClaim, page: PageIndex, span: Span) -> _CandidatePassage:
    passage = tokenize(page.text[span.start : span.end], page.language)

    def is_near(word: Token) -> bool:
        return page.is_near(word.key, span, before=_CONTEXT_SENTENCES)

    def is_stated(value: Value) -> bool:
        return any(spelling in page.text for spelling in _number_spellings(value))

    context = PassageContext(is_near, page.is_full_name, is_stated)
    alignment = Alignment(outline(claim.wording), outline(passage), context)
    share, ordered = alignment.coverage(claim.weights)
    alignment = reworded(alignment)
    extra_sentences = max(0, page.sentence_count(span) - claim.sentences)
    strength = (share + ordered) / 2 - _SENTENCE_PENALTY * extra_sentences
    objections = alignment.objections
    contradictions: Sequence[Contradiction] = ()
    if objections and share >= _MIN_COMPARED:
        absent = [name for name in claim.names if not any(token.key in passage.keys for token in name)]
        nearby = [name for name in absent if _is_nearby(name, page, span, claim.wording)]
        names = NameOffsets(_offsets(claim.names), _offsets(nearby), _offsets(find_names(passage, page.is_proper_name)))
        contradictions = find_contradictions(alignment, names)
    return _CandidatePassage(span, alignment, objections, contradictions, share, strength)


def _offsets(groups: Iterable[Sequence[Token]]) -> frozenset[int]:
    return frozenset(token.start for group in groups for token in group)


def _is_nearby(name: Sequence[Token], page: PageIndex, span: Span, claim: TokenizedText) -> bool:
    """Whether a name occurs shortly before a passage, or in it in another spelling."""
    if is_character(name[0].key):
        return (
            claim.text[name[0].start : name[-1].end]
            in page.text[page.context_start(span, _CONTEXT_SENTENCES) : span.end]
        )
    return all(page.is_near(token.key, span, before=_CONTEXT_SENTENCES) for token in name)


def _to_evidence(claim: _JudgedClaim, page: PageIndex, candidate: _CandidatePassage, verdict: Verdict) -> Evidence:
    alignment = candidate.alignment
    has_quote = verdict != "unsupported" or candidate.share >= _MIN_SHOWN
    words = alignment.passage.words
    start = candidate.span.start
    matched = [Span(start + words[pair.passage].start, start + words[pair.passage].end) for pair in alignment.chain]
    return Evidence(
        verdict,
        quote_passage(page.text, candidate.span, matched, claim.wording.text) if has_quote else None,
        candidate.share,
        alignment.matched,
        None,
        missing_text(alignment) if verdict == "partial" else None,
        tuple(_on_page(one, candidate.span) for one in candidate.contradictions) if verdict == "contradicted" else (),
        verdict == "partial" and all(one.kind == "words" for one in candidate.objections),
    )


# Across languages ----------------------------------------------------------------------------------------------------

_MIN_SHARED = 2
"""How many numbers and names a passage must share with a claim to be shown for it."""
_MAX_CROSS_LANGUAGE_SENTENCES = 3
_OTHER_LANGUAGE = {
    "en": {"en": "the page is in English", "vi": "the page is in Vietnamese", "zh": "the page is in Chinese"},
    "vi": {"en": "trang viết bằng tiếng Anh", "vi": "trang viết bằng tiếng Việt", "zh": "trang viết bằng tiếng Trung"},
    "zh": {"en": "网页是英文的", "vi": "网页是越南文的", "zh": "网页是中文的"},
}
_SOME_LANGUAGE = {
    "en": "the page is in another language",
    "vi": "trang viết bằng ngôn ngữ khác",
    "zh": "网页是其他语言的",
}


def _judge_cross_language(text: str, page: PageIndex) -> Evidence:
    """`partial`, with the reason: texts in two languages cannot be compared. A passage is shown if it has numbers and
    names of the claim."""
    claim = tokenize(text, page.language)
    numbers = [token for token in claim.tokens if token.value]
    name_tokens = [
        token for name in find_names(claim, page.is_proper_name) for token in name if not is_character(token.key)
    ]
    keys = dict.fromkeys(
        [
            *(token.key for token in name_tokens),
            *(key for token in numbers if token.value for key in _number_spellings(token.value)),
        ]
    )
    weights = {key: page.weight(key) for key in keys}
    best: tuple[int, int, Evidence] = (len(numbers), 0, Evidence("partial"))
    lacking = numbers
    for span in page.passages(weights, max_sentences=_MAX_CROSS_LANGUAGE_SENTENCES, max_passages=_MAX_PASSAGES):
        passage = tokenize(page.text[span.start : span.end], page.language)
        shared = [token for token in name_tokens if token.key in passage.keys]
        without = [token for token in numbers if token.value and not contains_value(passage.values, token.value)]
        rank = (len(without), -len(shared))
        if len(numbers) - len(without) + len(shared) >= _MIN_SHARED and rank < best[:2]:
            best = (*rank, _partial_evidence(claim, page, span, passage, shared))
            lacking = without
    reason = _language_reason(text, page)
    return replace(best[2], missing="; ".join([*(text[one.start : one.end] for one in lacking), reason]))


def _language_reason(text: str, page: PageIndex) -> str:
    language = detect_language(text)
    reader = language if language in _OTHER_LANGUAGE else "en"
    return _OTHER_LANGUAGE[reader].get(page.language, _SOME_LANGUAGE[reader])


def _partial_evidence(
    claim: TokenizedText, page: PageIndex, span: Span, passage: TokenizedText, shared: Sequence[Token]
) -> Evidence:
    keys = {token.key for token in shared}
    matched = [
        Span(span.start + token.start, span.start + token.end)
        for token in passage.tokens
        if token.key in keys or token.value
    ]
    found = frozenset(token.start for token in claim.tokens if token.value or token.key in keys)
    return Evidence("partial", quote_passage(page.text, span, matched, claim.text), 0.5, found)


def _number_spellings(value: Value) -> list[str]:
    """The ways in which a page may write a number, by which it is found there."""
    number = value.readings[0][0].number
    plain = f"{number:.10g}"
    grouped = f"{number:,.0f}" if number.is_integer() else plain
    return [plain, plain.replace(".", ","), grouped, grouped.replace(",", ".")]


# All footnotes of a text ---------------------------------------------------------------------------------


MAX_CLAIM_LENGTH = 1500
"""Limit for the part of a claim that is compared: a source can support no more than a part of a longer one."""
MAX_CITATIONS = 10_000
MAX_COMPARISONS = 4_000
MAX_COMPARED_CHARACTERS = 400_000_000
"""Limits for the comparisons of one text with pages, and for the characters of these pages in all: some seconds of
work, whatever the pages. They are counts and not a time, so that the same text always gets the same verdicts."""
_RANKS = ("unread", "unsupported", "contradicted", "partial", "supported")


def check_citations(text: str, sources: Sources, pointers: Sequence[Pointer] = ()) -> tuple[Citation, ...]:
    """One citation for each number of each marker, in order. `pointers`: the passages that markers of the text point
    to, which decide where a footnote leads and nothing else.

    `start` and `end` are those of the sentence (see `claims.Claim`). A number without a source is `unsupported`, one
    whose page was not read is `unread`. In a list of sources, only numbers without a source give a citation.

    The work is limited for any text: once the comparisons are used up, the remaining statements are `unsupported`
    without a quotation, the least that can be claimed; beyond `MAX_CITATIONS` and `claims.MAX_CHARACTERS` there is no
    citation.
    """
    comparer = Comparer(sources)
    passages = {pointer.offset: pointer.passages for pointer in pointers}
    found = (citation for claim in extract_claims(text) for citation in check_claim(text, claim, comparer, passages))
    return tuple(islice(found, MAX_CITATIONS))


class Comparer:
    """Compares the statements of one text with pages, within the limits."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._comparisons_left = MAX_COMPARISONS
        self._characters_left = MAX_COMPARED_CHARACTERS

    def find_evidence(self, text: str, number: int) -> Evidence:
        """The evidence of a source for a claim: its latest text, if that supports it, otherwise the text that does so
        best."""
        pages = self.sources.pages(number)
        best = Evidence("unsupported" if pages or self.sources.source(number) is None else "unread")
        for page in pages:
            if self._comparisons_left == 0 or self._characters_left < len(page.text):
                break
            self._comparisons_left -= 1
            self._characters_left -= len(page.text)
            evidence = find_evidence(text, page)
            if evidence.verdict == "supported":
                return evidence
            best = max(best, evidence, key=_evidence_rank)
        return best


def check_claim(
    block: str, claim: Claim, comparer: Comparer, passages: Mapping[int, Sequence[str]]
) -> Iterator[Citation]:
    """The citations of one statement of a block of text: all its sources are judged together."""
    if claim.is_reference:
        unknown = [cite for cite in claim.cites if comparer.sources.source(cite.number) is None]
        yield from (_citation(claim, cite, Evidence("unsupported"), None) for cite in unknown)
        return
    text = claim.text[:MAX_CLAIM_LENGTH]
    numbers = dict.fromkeys(cite.number for cite in claim.cites)
    by_number = combine(text, {number: comparer.find_evidence(text, number) for number in numbers})
    for cite in claim.cites:
        evidence = by_number[cite.number]
        if cite.part and evidence.verdict != "supported":
            # A marker in the middle of a sentence covers the part before it.
            part = comparer.find_evidence(cite.part[:MAX_CLAIM_LENGTH], cite.number)
            evidence = part if part.verdict == "supported" else evidence
        if evidence.verdict == "supported" and len(claim.text) > MAX_CLAIM_LENGTH:
            evidence = replace(evidence, verdict="partial")
        pointed = (one for one in passages.get(cite.position, ()) if one.startswith(f"{cite.number}."))
        differences = tuple(differences_of(block, claim, evidence.contradictions))
        yield _citation(claim, cite, evidence, next(pointed, None), differences)


def _evidence_rank(evidence: Evidence) -> tuple[int, float]:
    return _RANKS.index(evidence.verdict), evidence.share


def differences_of(block: str, claim: Claim, contradictions: Sequence[Contradiction]) -> Iterator[Difference]:
    """Where a page says otherwise, by offsets in the block. Markup and markers of the block are not in the text of the
    claim, so that a word is found by how often it occurs before."""
    if not contradictions:
        return
    shown = block[claim.start : claim.end]
    for cite in claim.cites:
        at = cite.position - claim.start
        if 0 <= at < len(shown):
            shown = shown[:at] + " " * len(cite.marker) + shown[at + len(cite.marker) :]
    for one in contradictions:
        words = claim.text[one.claim.start : one.claim.end]
        at = -1
        for _ in range(1 + claim.text.count(words, 0, one.claim.start)):
            at = shown.find(words, at + 1)
            if at < 0:
                break
        if words and at >= 0:
            yield Difference(claim.start + at, claim.start + at + len(words), one.passage.start, one.passage.end)


def _citation(
    claim: Claim, cite: CitedNumber, evidence: Evidence, passage: str | None, differences: tuple[Difference, ...] = ()
) -> Citation:
    quote = evidence.quote
    return Citation(
        cite.marker,
        cite.number,
        claim.start,
        claim.end,
        evidence.verdict,
        quote.text if quote else None,
        quote.start if quote else None,
        quote.end if quote else None,
        evidence.snapshot_id if quote else None,
        passage,
        missing=evidence.missing,
        differences=differences,
    )
