"""How far a claim rests on a page: the passage that bears it best, and the verdict."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.candidates import PageIndex
from footnote.evidence.compare import Clause, Comparison
from footnote.evidence.contradiction import NameOffsets, has_unmatched_names, is_contradicted
from footnote.evidence.excerpt import quote_passage
from footnote.evidence.lexicon import FUNCTION_WORDS
from footnote.evidence.names import find_names
from footnote.evidence.tokens import Token, TokenizedText, is_character, is_sentence_start, key_of, tokenize
from footnote.evidence.values import contains_value
from footnote.protocol.sources import Quote, Verdict
from footnote.text.sentences import Span, sentences
from footnote.text.terms import terms

MIN_SUPPORTED = 0.66
"""The share of a claim, by weight of its words, that a passage must have to bear it."""
_MIN_PARTIAL = 0.42
_MIN_SHOWN = 0.3
"""From this share on, the nearest passage is shown also for a claim that does not rest on it."""
_MIN_SAME_WORDS = 0.85
"""From this share of its words on, a claim is about what the passage is about."""
_MIN_CLAUSE_COVERAGE = 0.35
"""What a passage must have of each clause to bear the whole."""
_MIN_WHOLE_CLAUSE = 0.8
"""What it must have of one clause to bear at least that one."""
_MIN_WORD_COVERAGE = 0.51
"""The share of its words, numbers apart, that a passage must have to bear a claim."""
_MAX_GAP = 0.25
"""The longest row of words in a claim, as a share of it, that its passage may lack."""
_MAX_PASSAGES = 4
_MAX_SENTENCES = 12
_SENTENCE_PENALTY = 0.1
"""What a passage loses for each sentence that it has more than the claim."""
_CONTEXT_SENTENCES = 6
"""How many sentences before a passage may have a name that it means by a pronoun."""
_NUMBER_WEIGHT = 2.0
_NAME_WEIGHT = 1.3
"""How much a number and a name weigh, against a word that is as rare."""


class Evidence(Struct, frozen=True):
    """What a page has of a claim. `found` are the offsets of those words of the claim that its passage has,
    `snapshot_id` is the text that the quote stands in."""

    verdict: Verdict
    quote: Quote | None = None
    share: float = 0.0
    matched: frozenset[int] = frozenset()
    contradicts: bool = False
    snapshot_id: str | None = None


class _JudgedClaim(Struct, frozen=True):
    """A claim as a page reads it: `weights` of its tokens, `terms` by which the page is searched."""

    wording: TokenizedText
    names: Sequence[Sequence[Token]]
    weights: Sequence[float]
    terms: Mapping[str, float]
    sentences: int


class _CandidatePassage(Struct, frozen=True):
    """A passage held against a claim."""

    span: Span
    comparison: Comparison
    verdict: Verdict
    contradicts: bool
    strength: float


def judge(text: str, page: PageIndex) -> Evidence:
    """The passage of a page that bears a claim best, and how well it does."""
    claim = _parse_claim(text, page)
    most = min(_MAX_SENTENCES, max(3, claim.sentences + 1))
    spans = page.passages(claim.terms, max_sentences=most, max_passages=_MAX_PASSAGES)
    if repeated := page.find_repeated(text):
        spans.append(repeated)
    candidates = [_compare_passage(claim, page, span) for span in spans]
    if not candidates:
        return Evidence("unsupported")
    best = max(candidates, key=lambda candidate: candidate.strength)
    return _to_evidence(claim, page, next((other for other in candidates if _overrules(other, best)), best))


def _overrules(other: _CandidatePassage, best: _CandidatePassage) -> bool:
    """What contradicts a sentence that has all of the claim's words is not healed by the sentences around it."""
    within = best.span.start <= other.span.start and other.span.end <= best.span.end
    same = max(other.comparison.word_coverage, other.comparison.ordered_coverage) >= _MIN_SAME_WORDS
    return other.contradicts and within and same


def combine(text: str, findings: Mapping[int, Evidence]) -> dict[int, Evidence]:
    """What several sources have of one claim. If none bears it alone but they do so together, each of them that bears
    a part is `supported`."""
    parts = {number: finding for number, finding in findings.items() if finding.verdict == "partial"}
    alone = any(finding.verdict == "supported" for finding in findings.values())
    found = frozenset(offset for part in parts.values() for offset in part.matched)
    if alone or len(parts) < 2 or not _is_covered(text, found):
        return dict(findings)
    return {**findings, **{number: replace(part, verdict="supported") for number, part in parts.items()}}


def _is_covered(text: str, found: frozenset[int]) -> bool:
    wording = TokenizedText(text)
    content = [token for token in wording.tokens if token.is_content]
    lacking = [token for token in content if token.start not in found]
    needed = [
        token for token in lacking if token.value or (token.is_capitalized and not is_sentence_start(text, token.start))
    ]
    return bool(content) and not needed and len(lacking) <= (1 - MIN_SUPPORTED) * len(content)


def _parse_claim(text: str, page: PageIndex) -> _JudgedClaim:
    wording = tokenize(text, page.language)
    keys = dict.fromkeys(
        key_of(term.text, page.language) for term in terms(text) if not _is_function_word(term.text, page)
    )
    return _JudgedClaim(
        wording,
        find_names(wording, page),
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
    theirs = find_names(passage, page)
    unknown = [name for name in missing if not any(_has_token(token, passage) for token in name)]
    contradicts = is_contradicted(
        comparison, NameOffsets(_offsets(claim.names), _offsets(nearby), _offsets(theirs))
    ) or has_unmatched_names(comparison, claim.names, unknown, theirs)
    lacks = (
        bool(missing)
        or any(token.value and not contains_value(passage.values, token.value) for token in claim.wording.tokens)
        or comparison.binds_elsewhere(_offsets(claim.names), _offsets(theirs))
    )
    more = max(0, page.sentence_count(span) - claim.sentences)
    strength = (comparison.coverage + comparison.ordered_coverage) / 2 - _SENTENCE_PENALTY * more
    verdict = "unsupported" if contradicts else _verdict(comparison, is_incomplete=lacks)
    return _CandidatePassage(span, comparison, verdict, contradicts, strength)


def _offsets(groups: Iterable[Sequence[Token]]) -> frozenset[int]:
    return frozenset(token.start for group in groups for token in group)


def _has_name(passage: TokenizedText, name: Sequence[Token]) -> bool:
    """Whether a passage has all of a name. That of its characters each stands somewhere says nothing."""
    if is_character(name[0].key):
        return "".join(token.key for token in name) in "".join(token.key for token in passage.tokens)
    return all(_has_token(token, passage) for token in name)


def _has_token(token: Token, passage: TokenizedText) -> bool:
    """Whether a passage has a word of a name, or the adjective that is made of it: `Korea`, `Korean`."""
    return token.key in passage.keys or any(
        other.is_capitalized and _is_derived(*sorted((token.key, other.key), key=len)) for other in passage.tokens
    )


def _is_derived(shorter: str, longer: str) -> bool:
    return len(shorter) > 3 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3


def _is_nearby(name: Sequence[Token], page: PageIndex, span: Span, claim: TokenizedText) -> bool:
    """Whether a name stands shortly before a passage, or in it in another spelling."""
    if is_character(name[0].key):
        return (
            claim.text[name[0].start : name[-1].end]
            in page.text[page.context_start(span, _CONTEXT_SENTENCES) : span.end]
        )
    return all(page.is_near(token.key, span, before=_CONTEXT_SENTENCES) for token in name)


def _verdict(comparison: Comparison, *, is_incomplete: bool) -> Verdict:
    """Of a passage that does not contradict the claim. `lacks`: it has not all of its numbers and names."""
    least, row = (4, 6) if comparison.passage.language == "zh" else (3, 4)
    clauses = [clause for clause in comparison.clauses if clause.size >= least and clause.weight]
    whole = (
        not is_incomplete
        and comparison.word_coverage >= _MIN_WORD_COVERAGE
        and comparison.max_gap <= _MAX_GAP
        and comparison.max_missing_words < row
        and all(clause.covered >= _MIN_CLAUSE_COVERAGE * clause.weight for clause in clauses)
    )
    if whole and comparison.coverage >= MIN_SUPPORTED:
        return "supported"
    if comparison.coverage >= _MIN_PARTIAL or any(
        _is_clause_supported(clause, comparison.total, least) for clause in clauses
    ):
        return "partial"
    return "unsupported"


def _is_clause_supported(clause: Clause, total: float, min_size: int) -> bool:
    """Whether a clause is borne that is more than an aside."""
    return clause.size > min_size and clause.weight > total / 5 and clause.covered >= _MIN_WHOLE_CLAUSE * clause.weight


def _to_evidence(claim: _JudgedClaim, page: PageIndex, candidate: _CandidatePassage) -> Evidence:
    comparison = candidate.comparison
    meaningful = candidate.verdict != "unsupported" or comparison.coverage >= _MIN_SHOWN
    tokens = zip(claim.wording.tokens, comparison.matched, strict=True)
    return Evidence(
        candidate.verdict,
        quote_passage(page.text, candidate.span, _matched_spans(candidate), claim.wording.text) if meaningful else None,
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
