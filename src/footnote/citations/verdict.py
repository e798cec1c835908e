"""How far a claim rests on a page: the passage that bears it best, and the verdict."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.citations.align import Page
from footnote.citations.compare import Clause, Comparison
from footnote.citations.disagreement import Named, disagree, names_left_over
from footnote.citations.lexicon import FUNCTION_WORDS
from footnote.citations.names import names
from footnote.citations.quoting import quoted
from footnote.citations.values import holds
from footnote.citations.wording import Token, Wording, is_character, key_of, starts_sentence, wording_of
from footnote.language.sentences import Span, sentences
from footnote.language.terms import terms
from footnote.protocol.sources import Quote, Verdict

SUPPORTED = 0.66
"""The share of a claim, by weight of its words, that a passage must have to bear it."""
_PARTIAL = 0.42
_MEANINGFUL = 0.3
"""From this share on, the nearest passage is shown also for a claim that does not rest on it."""
_SAME_WORDS = 0.85
"""From this share of its words on, a claim is about what the passage is about."""
_WEAKEST_CLAUSE = 0.35
"""What a passage must have of each clause to bear the whole."""
_WHOLE_CLAUSE = 0.8
"""What it must have of one clause to bear at least that one."""
_FEWEST_WORDS = 0.51
"""The share of its words, numbers apart, that a passage must have to bear a claim."""
_LONGEST_GAP = 0.25
"""The longest row of words in a claim, as a share of it, that its passage may lack."""
_PASSAGES = 4
_MOST_SENTENCES = 12
_SENTENCE = 0.1
"""What a passage loses for each sentence that it has more than the claim."""
_BEFORE = 6
"""How many sentences before a passage may have a name that it means by a pronoun."""
_NUMBER = 2.0
_NAME = 1.3
"""How much a number and a name weigh, against a word that is as rare."""


class Finding(Struct, frozen=True):
    """What a page has of a claim. `found` are the offsets of those words of the claim that its passage has,
    `snapshot_id` is the text that the quote stands in."""

    verdict: Verdict
    quote: Quote | None = None
    share: float = 0.0
    found: frozenset[int] = frozenset()
    contradicts: bool = False
    snapshot_id: str | None = None


class _Claim(Struct, frozen=True):
    """A claim as a page reads it: `weights` of its tokens, `terms` by which the page is searched."""

    wording: Wording
    names: Sequence[Sequence[Token]]
    weights: Sequence[float]
    terms: Mapping[str, float]
    sentences: int


class _Candidate(Struct, frozen=True):
    """A passage held against a claim."""

    span: Span
    comparison: Comparison
    verdict: Verdict
    contradicts: bool
    strength: float


def judge(text: str, page: Page) -> Finding:
    """The passage of a page that bears a claim best, and how well it does."""
    claim = _read(text, page)
    most = min(_MOST_SENTENCES, max(3, claim.sentences + 1))
    spans = page.passages(claim.terms, most=most, count=_PASSAGES)
    if repeated := page.repeated(text):
        spans.append(repeated)
    candidates = [_held_against(claim, page, span) for span in spans]
    if not candidates:
        return Finding("unsupported")
    best = max(candidates, key=lambda candidate: candidate.strength)
    return _finding(claim, page, next((other for other in candidates if _overrules(other, best)), best))


def _overrules(other: _Candidate, best: _Candidate) -> bool:
    """What contradicts a sentence that has all of the claim's words is not healed by the sentences around it."""
    within = best.span.start <= other.span.start and other.span.end <= best.span.end
    same = max(other.comparison.words, other.comparison.aligned) >= _SAME_WORDS
    return other.contradicts and within and same


def together(text: str, findings: Mapping[int, Finding]) -> dict[int, Finding]:
    """What several sources have of one claim. If none bears it alone but they do so together, each of them that bears
    a part is `supported`."""
    parts = {number: finding for number, finding in findings.items() if finding.verdict == "partial"}
    alone = any(finding.verdict == "supported" for finding in findings.values())
    found = frozenset(offset for part in parts.values() for offset in part.found)
    if alone or len(parts) < 2 or not _is_whole(text, found):
        return dict(findings)
    return {**findings, **{number: replace(part, verdict="supported") for number, part in parts.items()}}


def _is_whole(text: str, found: frozenset[int]) -> bool:
    wording = Wording(text)
    content = [token for token in wording.tokens if token.content]
    lacking = [token for token in content if token.start not in found]
    needed = [token for token in lacking if token.value or (token.capital and not starts_sentence(text, token.start))]
    return bool(content) and not needed and len(lacking) <= (1 - SUPPORTED) * len(content)


def _read(text: str, page: Page) -> _Claim:
    wording = wording_of(text, page.language)
    keys = dict.fromkeys(key_of(term.text, page.language) for term in terms(text) if not _says_nothing(term.text, page))
    return _Claim(
        wording,
        names(wording, page),
        [_weight(token, page) for token in wording.tokens],
        {key: page.weight(key) for key in keys},
        sum(1 for _ in sentences(text)),
    )


def _says_nothing(term: str, page: Page) -> bool:
    words = FUNCTION_WORDS["vi" if page.language == "vi" else "en"]
    return term in words or all(character in FUNCTION_WORDS["zh"] for character in term)


def _weight(token: Token, page: Page) -> float:
    if not token.content:
        return 0.0
    if is_character(token.key):
        return 1.0
    return page.weight(token.key) * (_NUMBER if token.value else _NAME if token.capital else 1.0)


def _held_against(claim: _Claim, page: Page, span: Span) -> _Candidate:
    passage = wording_of(page.text[span.start : span.end], page.language)
    comparison = Comparison(claim.wording, passage, claim.weights)
    absent = [name for name in claim.names if not _has(passage, name)]
    nearby = [name for name in absent if _is_nearby(name, page, span, claim.wording)]
    missing = [name for name in absent if name not in nearby]
    theirs = names(passage, page)
    unknown = [name for name in missing if not any(_is_there(token, passage) for token in name)]
    contradicts = disagree(
        comparison, Named(_offsets(claim.names), _offsets(nearby), _offsets(theirs))
    ) or names_left_over(comparison, claim.names, unknown, theirs)
    lacks = (
        bool(missing)
        or any(token.value and not holds(passage.values, token.value) for token in claim.wording.tokens)
        or comparison.binds_elsewhere(_offsets(claim.names), _offsets(theirs))
    )
    more = max(0, page.count(span) - claim.sentences)
    strength = (comparison.coverage + comparison.aligned) / 2 - _SENTENCE * more
    verdict = "unsupported" if contradicts else _verdict(comparison, lacks=lacks)
    return _Candidate(span, comparison, verdict, contradicts, strength)


def _offsets(groups: Iterable[Sequence[Token]]) -> frozenset[int]:
    return frozenset(token.start for group in groups for token in group)


def _has(passage: Wording, name: Sequence[Token]) -> bool:
    """Whether a passage has all of a name. That of its characters each stands somewhere says nothing."""
    if is_character(name[0].key):
        return "".join(token.key for token in name) in "".join(token.key for token in passage.tokens)
    return all(_is_there(token, passage) for token in name)


def _is_there(token: Token, passage: Wording) -> bool:
    """Whether a passage has a word of a name, or the adjective that is made of it: `Korea`, `Korean`."""
    return token.key in passage.keys or any(
        other.capital and _is_derived(*sorted((token.key, other.key), key=len)) for other in passage.tokens
    )


def _is_derived(shorter: str, longer: str) -> bool:
    return len(shorter) > 3 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3


def _is_nearby(name: Sequence[Token], page: Page, span: Span, claim: Wording) -> bool:
    """Whether a name stands shortly before a passage, or in it in another spelling."""
    if is_character(name[0].key):
        return claim.text[name[0].start : name[-1].end] in page.text[page.before(span, _BEFORE) : span.end]
    return all(page.is_near(token.key, span, before=_BEFORE) for token in name)


def _verdict(comparison: Comparison, *, lacks: bool) -> Verdict:
    """Of a passage that does not contradict the claim. `lacks`: it has not all of its numbers and names."""
    least, row = (4, 6) if comparison.passage.language == "zh" else (3, 4)
    clauses = [clause for clause in comparison.clauses if clause.size >= least and clause.weight]
    whole = (
        not lacks
        and comparison.words >= _FEWEST_WORDS
        and comparison.gap <= _LONGEST_GAP
        and comparison.longest_row < row
        and all(clause.covered >= _WEAKEST_CLAUSE * clause.weight for clause in clauses)
    )
    if whole and comparison.coverage >= SUPPORTED:
        return "supported"
    if comparison.coverage >= _PARTIAL or any(_stands(clause, comparison.total, least) for clause in clauses):
        return "partial"
    return "unsupported"


def _stands(clause: Clause, total: float, least: int) -> bool:
    """Whether a clause is borne that is more than an aside."""
    return clause.size > least and clause.weight > total / 5 and clause.covered >= _WHOLE_CLAUSE * clause.weight


def _finding(claim: _Claim, page: Page, candidate: _Candidate) -> Finding:
    comparison = candidate.comparison
    meaningful = candidate.verdict != "unsupported" or comparison.coverage >= _MEANINGFUL
    tokens = zip(claim.wording.tokens, comparison.found, strict=True)
    return Finding(
        candidate.verdict,
        quoted(page.text, candidate.span, _agreed(candidate), claim.wording.text) if meaningful else None,
        comparison.coverage,
        frozenset(token.start for token, found in tokens if found),
        candidate.contradicts,
    )


def _agreed(candidate: _Candidate) -> list[Span]:
    """The words of the passage that the claim has too, by their offsets in the page."""
    claimed = {token.key for token in candidate.comparison.claim.tokens if token.content}
    start = candidate.span.start
    return [
        Span(start + token.start, start + token.end)
        for token in candidate.comparison.passage.tokens
        if token.key in claimed
    ]
