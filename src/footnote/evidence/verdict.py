"""The verdict on each footnote of a text: how far its page supports the claim, and the passage that does so best."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.claims import CitedNumber, Claim, extract_claims
from footnote.evidence.compare import Clause, Comparison
from footnote.evidence.contradiction import NameOffsets, has_unmatched_names, is_contradicted
from footnote.evidence.lexicon import FUNCTION_WORDS, negations
from footnote.evidence.page_index import PageIndex, find_phrase, quote_passage, trim_quote
from footnote.evidence.sources import Sources
from footnote.evidence.tokens import Token, TokenizedText, find_names, is_character, is_sentence_start, key_of, tokenize
from footnote.evidence.values import Value, contains_value
from footnote.protocol.sources import Citation, Pointer, Quote, Verdict
from footnote.text.languages import detect_language
from footnote.text.sentences import Span, sentences
from footnote.text.terms import terms
from footnote.tracing import EventCounter

MIN_SUPPORTED = 0.66
"""The share of a claim, by the weight of its words, that a passage must have to support it."""
_MIN_PARTIAL = 0.42
_MIN_SHOWN = 0.3
"""From this share on, the nearest passage is shown for an unsupported claim, too."""
_MIN_SAME_WORDS = 0.85
"""From this share of its words on, a claim is about what the passage is about."""
_MIN_CLAUSE_COVERAGE = 0.35
"""The share of each clause that a passage must have to support the whole."""
_MIN_WHOLE_CLAUSE = 0.8
"""The share of one clause that it must have to support at least that one."""
_MIN_WORD_COVERAGE = 0.51
"""The share of a claim's words, without numbers, that a passage must have to support it."""
_MAX_GAP = 0.25
"""The longest run of words, as a share of the claim, that its passage may lack."""
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
    `snapshot_id` is the text that contains the quote."""

    verdict: Verdict
    quote: Quote | None = None
    share: float = 0.0
    matched: frozenset[int] = frozenset()
    contradicts: bool = False
    snapshot_id: str | None = None


class _JudgedClaim(Struct, frozen=True):
    """A claim prepared for one page: `weights` of its tokens, `terms` by which the page is searched."""

    wording: TokenizedText
    names: Sequence[Sequence[Token]]
    weights: Sequence[float]
    terms: Mapping[str, float]
    sentences: int


class _CandidatePassage(Struct, frozen=True):
    """A passage that was compared with a claim."""

    span: Span
    comparison: Comparison
    verdict: Verdict
    contradicts: bool
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
    if evidence.verdict == "unsupported" and _is_other_language(text, page):
        evidence = _judge_cross_language(text, page)
    return replace(evidence, snapshot_id=page.snapshot_id)


def _judge(text: str, page: PageIndex) -> Evidence:
    """The passage of a page that supports a claim best, and how well it does."""
    claim = _parse_claim(text, page)
    max_sentences = min(_MAX_SENTENCES, max(3, claim.sentences + 1))
    spans = page.passages(claim.terms, max_sentences=max_sentences, max_passages=_MAX_PASSAGES)
    if repeated := page.find_repeated(text):
        spans.append(repeated)
    candidates = [_compare_passage(claim, page, span) for span in spans]
    if not candidates:
        return Evidence("unsupported")
    best = max(candidates, key=lambda candidate: candidate.strength)
    return _to_evidence(claim, page, next((other for other in candidates if _overrules(other, best)), best))


def _overrules(other: _CandidatePassage, best: _CandidatePassage) -> bool:
    """Whether a contradiction in a sentence with all of the claim's words counts, whatever the sentences around it."""
    is_within = best.span.start <= other.span.start and other.span.end <= best.span.end
    has_words = max(other.comparison.word_coverage, other.comparison.ordered_coverage) >= _MIN_SAME_WORDS
    return other.contradicts and is_within and has_words


def combine(text: str, findings: Mapping[int, Evidence]) -> dict[int, Evidence]:
    """The evidence of several sources for one claim. If none supports it alone but they do so together, each of them
    that supports a part is `supported`."""
    parts = {number: finding for number, finding in findings.items() if finding.verdict == "partial"}
    alone = any(finding.verdict == "supported" for finding in findings.values())
    found = frozenset(offset for part in parts.values() for offset in part.matched)
    if alone or len(parts) < 2 or not _is_covered(text, found):
        return dict(findings)
    return {**findings, **{number: replace(part, verdict="supported") for number, part in parts.items()}}


def _is_covered(text: str, found: frozenset[int]) -> bool:
    wording = TokenizedText(text)
    content = [token for token in wording.tokens if token.is_content]
    missing = [token for token in content if token.start not in found]
    required = [
        token for token in missing if token.value or (token.is_capitalized and not is_sentence_start(text, token.start))
    ]
    return bool(content) and not required and len(missing) <= (1 - MIN_SUPPORTED) * len(content)


def _parse_claim(text: str, page: PageIndex) -> _JudgedClaim:
    wording = tokenize(text, page.language)
    keys = dict.fromkeys(
        key_of(term.text, page.language) for term in terms(text) if not _is_function_word(term.text, page)
    )
    return _JudgedClaim(
        wording,
        find_names(wording, page.is_proper_name),
        [_token_weight(token, page) for token in wording.tokens],
        {key: page.weight(key) for key in keys},
        sum(1 for _ in sentences(text)),
    )


def _is_function_word(term: str, page: PageIndex) -> bool:
    words = FUNCTION_WORDS["vi" if page.language == "vi" else "en"]
    return term in words or all(character in FUNCTION_WORDS["zh"] for character in term)


def _token_weight(token: Token, page: PageIndex) -> float:
    if not token.is_content:
        return 0.0
    if is_character(token.key):
        return 1.0
    return page.weight(token.key) * (_NUMBER_WEIGHT if token.value else _NAME_WEIGHT if token.is_capitalized else 1.0)


def _compare_passage(claim: _JudgedClaim, page: PageIndex, span: Span) -> _CandidatePassage:
    passage = tokenize(page.text[span.start : span.end], page.language)
    comparison = Comparison(claim.wording, passage, claim.weights)
    absent = [name for name in claim.names if not _has_name(passage, name)]
    nearby = [name for name in absent if _is_nearby(name, page, span, claim.wording)]
    missing = [name for name in absent if name not in nearby]
    passage_names = find_names(passage, page.is_proper_name)
    unknown = [name for name in missing if not any(_has_token(token, passage) for token in name)]
    contradicts = is_contradicted(
        comparison, NameOffsets(_offsets(claim.names), _offsets(nearby), _offsets(passage_names))
    ) or has_unmatched_names(comparison, claim.names, unknown, passage_names)
    is_incomplete = (
        bool(missing)
        or any(token.value and not contains_value(passage.values, token.value) for token in claim.wording.tokens)
        or comparison.binds_elsewhere(_offsets(claim.names), _offsets(passage_names))
    )
    extra_sentences = max(0, page.sentence_count(span) - claim.sentences)
    strength = (comparison.coverage + comparison.ordered_coverage) / 2 - _SENTENCE_PENALTY * extra_sentences
    verdict = "unsupported" if contradicts else _verdict(comparison, is_incomplete=is_incomplete)
    return _CandidatePassage(span, comparison, verdict, contradicts, strength)


def _offsets(groups: Iterable[Sequence[Token]]) -> frozenset[int]:
    return frozenset(token.start for group in groups for token in group)


def _has_name(passage: TokenizedText, name: Sequence[Token]) -> bool:
    """Whether a passage has a whole name. Single characters of it, at any place, are not enough."""
    if is_character(name[0].key):
        return "".join(token.key for token in name) in "".join(token.key for token in passage.tokens)
    return all(_has_token(token, passage) for token in name)


def _has_token(token: Token, passage: TokenizedText) -> bool:
    """Whether a passage has a word of a name, or an adjective derived from it: `Korea`, `Korean`."""
    return token.key in passage.keys or any(
        other.is_capitalized and _is_derived(*sorted((token.key, other.key), key=len)) for other in passage.tokens
    )


def _is_derived(shorter: str, longer: str) -> bool:
    return len(shorter) > 3 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3


def _is_nearby(name: Sequence[Token], page: PageIndex, span: Span, claim: TokenizedText) -> bool:
    """Whether a name occurs shortly before a passage, or in it in another spelling."""
    if is_character(name[0].key):
        return (
            claim.text[name[0].start : name[-1].end]
            in page.text[page.context_start(span, _CONTEXT_SENTENCES) : span.end]
        )
    return all(page.is_near(token.key, span, before=_CONTEXT_SENTENCES) for token in name)


def _verdict(comparison: Comparison, *, is_incomplete: bool) -> Verdict:
    """The verdict by a passage that does not contradict the claim. `is_incomplete`: it lacks some of the claim's
    numbers or names."""
    min_size, missing_limit = (4, 6) if comparison.passage.language == "zh" else (3, 4)
    clauses = [clause for clause in comparison.clauses if clause.size >= min_size and clause.weight]
    is_whole = (
        not is_incomplete
        and comparison.word_coverage >= _MIN_WORD_COVERAGE
        and comparison.max_gap <= _MAX_GAP
        and comparison.max_missing_words < missing_limit
        and all(clause.covered >= _MIN_CLAUSE_COVERAGE * clause.weight for clause in clauses)
    )
    if is_whole and comparison.coverage >= MIN_SUPPORTED:
        return "supported"
    if comparison.coverage >= _MIN_PARTIAL or any(
        _is_clause_supported(clause, comparison.total, min_size) for clause in clauses
    ):
        return "partial"
    return "unsupported"


def _is_clause_supported(clause: Clause, total: float, min_size: int) -> bool:
    """Whether a clause is supported, and more than an aside."""
    return clause.size > min_size and clause.weight > total / 5 and clause.covered >= _MIN_WHOLE_CLAUSE * clause.weight


def _to_evidence(claim: _JudgedClaim, page: PageIndex, candidate: _CandidatePassage) -> Evidence:
    comparison = candidate.comparison
    has_quote = candidate.verdict != "unsupported" or comparison.coverage >= _MIN_SHOWN
    tokens = zip(claim.wording.tokens, comparison.matched, strict=True)
    return Evidence(
        candidate.verdict,
        quote_passage(page.text, candidate.span, _matched_spans(candidate), claim.wording.text) if has_quote else None,
        comparison.coverage,
        frozenset(token.start for token, found in tokens if found),
        candidate.contradicts,
    )


def _matched_spans(candidate: _CandidatePassage) -> list[Span]:
    """The words of the passage that the claim has too, by their offsets in the page."""
    claimed = {token.key for token in candidate.comparison.claim.tokens if token.is_content}
    start = candidate.span.start
    return [
        Span(start + token.start, start + token.end)
        for token in candidate.comparison.passage.tokens
        if token.key in claimed
    ]


# Word for word -------------------------------------------------------------------------------------------------------

MIN_VERBATIM_LETTERS = 12
"""Fewer letters than this occur on many pages by chance."""

_CONTEXT_CHARACTERS = 300
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CELL = re.compile(r"[|\t]")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]")
_PART = re.compile(r"[,;]\s")
"""Not the comma of Chinese, which also separates `there is no evidence` from what there is none for."""
_SUBORDINATE_CLAUSE = re.compile(r"(?:that|whether|rằng)\b", re.IGNORECASE)
_COORDINATE_CLAUSE = re.compile(r"(?:and|but|or|và|nhưng|hoặc)\b", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|nor|hoặc|hay)\b(?!\s+(?:if|when|because|nếu|khi|vì)\b)", re.IGNORECASE)


def find_verbatim(claim: str, text: str) -> Quote | None:
    """The quote of a claim that a text has word for word. All white space is equal."""
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
    """Whether a negation before the `rest` of a sentence applies to it: "it is not true that the earth is flat".

    A negation ends with its cell of a table, its brackets, and its part before a comma ("it never rained, the harvest
    was good"), unless the sentence continues that part ("he did not, however, win"; "do not smoke, drink or drive").
    """
    before = _CELL.split(before)[-1]
    while (without := _ASIDE.sub(" ", before)) != before:
        before = without
    *earlier, last = _PART.split(before)
    if negations(last, strict=True):
        return True
    following = (last + rest).lstrip()
    if _SUBORDINATE_CLAUSE.match(following) or _ALTERNATIVE.search(rest):
        return any(negations(part, strict=True) for part in earlier)
    return not _COORDINATE_CLAUSE.match(following) and any(map(_ends_with_negation, earlier))


def _ends_with_negation(part: str) -> bool:
    return any(word.end == len(part.rstrip()) for word in negations(part, strict=True))


# Across languages ----------------------------------------------------------------------------------------------------

_MIN_SHARED = 2
"""How many numbers and names a passage must share with a claim."""
_MAX_CROSS_LANGUAGE_SENTENCES = 3


def _is_other_language(text: str, page: PageIndex) -> bool:
    """Whether a claim is certainly in another language than the page. Languages in Latin letters are hard to tell apart
    in one sentence, Vietnamese excepted."""
    language = detect_language(text)
    return language != page.language and bool({language, page.language} & {"zh", "vi"}) and language != "other"


def _judge_cross_language(text: str, page: PageIndex) -> Evidence:
    """`partial`, if one passage has every number of a claim and some of its names; never more."""
    claim = tokenize(text, page.language)
    numbers = [token.value for token in claim.tokens if token.value]
    name_tokens = [
        token for name in find_names(claim, page.is_proper_name) for token in name if not is_character(token.key)
    ]
    keys = dict.fromkeys(
        [*(token.key for token in name_tokens), *(key for value in numbers for key in _number_spellings(value))]
    )
    weights = {key: page.weight(key) for key in keys}
    for span in page.passages(weights, max_sentences=_MAX_CROSS_LANGUAGE_SENTENCES, max_passages=_MAX_PASSAGES):
        passage = tokenize(page.text[span.start : span.end], page.language)
        shared = [token for token in name_tokens if token.key in passage.keys]
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
_RANKS = ("unread", "unsupported", "partial", "supported")


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
    found = (citation for claim in extract_claims(text) for citation in check_claim(claim, comparer, passages))
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


def check_claim(claim: Claim, comparer: Comparer, passages: Mapping[int, Sequence[str]]) -> Iterator[Citation]:
    """The citations of one statement: all its sources are judged together."""
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
        yield _citation(claim, cite, evidence, next(pointed, None))


def _evidence_rank(evidence: Evidence) -> tuple[int, float]:
    return _RANKS.index(evidence.verdict), evidence.share


def _citation(claim: Claim, cite: CitedNumber, evidence: Evidence, passage: str | None) -> Citation:
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
    )
