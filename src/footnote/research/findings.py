"""Findings: the statements that the readers of a plan hand over, each with the footnotes that support it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.claims import Claim, extract_claims, extract_statements
from footnote.evidence.facts import is_about_the_answer, is_title
from footnote.evidence.page_index import PageIndex
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import find_evidence
from footnote.models.reader.conversation import READ_TOOL, SEARCH_TOOL, parse_hits
from footnote.models.reader.reply import choose_passages
from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage
from footnote.protocol.sources import Citation, Snapshot
from footnote.text.languages import are_other_languages, detect_language
from footnote.text.markdown import escape_inline
from footnote.text.search_terms import content_terms

MAX_FINDINGS_PER_ITEM = 80
MAX_FINDING_LENGTH = 1_500
"""A longer statement is no single statement."""
_MIN_TERMS = 2
_MIN_PROVEN_TERMS = 4
"""The beginning of a statement with fewer words says nothing by itself."""
_MAX_END = 4
"""Characters behind the last footnote of a sentence that end it: a full stop, quotation marks, markup."""
_STOPS = (".", "!", "?", "。", "！", "？", "…")
_KEPT = ("supported", "partial")
_MARK = 0xE000
"""The first of the private characters that hold the places of footnotes while a statement is escaped."""
_MAX_MARKS = 64
_NO_MARKS = {_MARK + at: None for at in range(_MAX_MARKS)}

SideReason: TypeAlias = Literal["undecided", "outvoted", "outdated"]
"""Why a statement is not the only one about its subject. `outvoted`: more independent sources say otherwise.
`outdated`: it is older."""


class OtherSide(Struct, frozen=True):
    """What another source says in the place of a finding. `text` has its footnotes, and `quotation` is set if it is
    word for word from a page."""

    text: str
    citations: tuple[Citation, ...]
    reason: SideReason
    quotation: str = ""


class Finding(Struct, frozen=True):
    """One statement of an item: `text` is a line of markdown with its footnotes, such as `[3]`. `citations` are its
    verdicts, with offsets in `text`.

    `is_disputed`: another source says otherwise, and nothing decides between the two. `others` are the other sides,
    also those that were set aside. `quotation`: the passage that it quotes, word for word. `other_items` found it, too.
    """

    item_id: str
    text: str
    citations: tuple[Citation, ...]
    is_disputed: bool = False
    quotation: str = ""
    others: tuple[OtherSide, ...] = ()
    other_items: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its sources."""
        return tuple(dict.fromkeys(one.number for one in self.citations))

    @property
    def is_supported(self) -> bool:
        return any(one.verdict == "supported" for one in self.citations)


def plain_statement(finding: Finding | OtherSide) -> str:
    """The statement as it is compared with others and with pages: without footnotes and markup."""
    return finding.quotation or " ".join(claim.text for claim in extract_statements(finding.text))


def findings_of(item_id: str, text: Text) -> tuple[Finding, ...]:
    """The statements of a reader's last text that its sources support, in whole or in part, each once."""
    by_place: dict[tuple[int, int], list[Citation]] = {}
    for citation in text.citations:
        by_place.setdefault((citation.start, citation.end), []).append(citation)
    found: dict[str, Finding] = {}
    for claim in extract_statements(text.text) if by_place else ():
        cited = by_place.get((claim.start, claim.end), ())
        finding = _finding(item_id, claim, cited) if _states_something(claim) else None
        if finding is not None:
            found.setdefault(finding.text, finding)
    return tuple(found.values())[:MAX_FINDINGS_PER_ITEM]


def _states_something(claim: Claim) -> bool:
    """Whether a sentence is a statement, and neither a heading nor about the answer."""
    return (
        not claim.is_reference
        and not is_title(claim)
        and not is_label(claim)
        and (claim.place == "quotation" or not is_about_the_answer(claim.text))
        and len(claim.text) <= MAX_FINDING_LENGTH
        and len(set(content_terms(claim.text))) >= _MIN_TERMS
    )


def is_label(claim: Claim) -> bool:
    """Whether a line only names what follows, such as `Martin Luther: [1]` in a list that a model has not filled in."""
    return claim.text.rstrip().endswith((":", "\uff1a"))


def says_more(finding: Finding, question: str) -> bool:
    """Whether a finding has any word that its question has not. Small models repeat the question, with a footnote."""
    asked = {term.text for term in content_terms(question)}
    return any(term.text not in asked for term in content_terms(plain_statement(finding)))


def _finding(item_id: str, claim: Claim, cited: Sequence[Citation]) -> Finding | None:
    """None if no source supports the statement. Of several footnotes, only those that support it are kept; one that
    says otherwise makes it disputed."""
    kept: dict[int, Citation] = {}
    for one in cited:
        known = kept.get(one.number)
        if one.verdict in _KEPT and one.number > 0 and (known is None or known.verdict == "partial"):
            kept[one.number] = one
    others = tuple(_quoted_side(one) for one in cited if one.verdict == "contradicted" and one.quote)
    if not kept or (others and not any(one.verdict == "supported" for one in kept.values())):
        return None
    proven = _proven_part(claim, kept)
    if proven is None:
        return None
    claim, kept = proven
    text = marked_text(claim, list(kept))
    # Of a quotation, the words of the page: it may have several sentences, and is one statement only as a quotation.
    supported = [one for one in kept.values() if one.verdict == "supported"]
    quotation = (supported[0].quote or "") if claim.place == "quotation" and supported else ""
    return Finding(item_id, text, place_citations(text, kept.values()), bool(others), quotation, others)


def _proven_part(claim: Claim, kept: dict[int, Citation]) -> tuple[Claim, dict[int, Citation]] | None:
    """A statement as far as its footnotes prove it. A footnote within a statement may prove no more than the part
    before it; what follows the last part that is proved is left out. None: not even its beginning is."""
    groups = [list(cites) for _, cites in groupby(claim.cites, key=attrgetter("position"))]
    supported = {number: one for number, one in kept.items() if one.verdict == "supported"}
    is_open = bool(groups) and claim.end - groups[-1][0].position - len(groups[-1][0].marker) > _MAX_END
    if not supported or (len(groups) < 2 and not is_open):
        return claim, kept
    quotes = "\n\n".join(dict.fromkeys(one.quote or "" for one in supported.values()))
    if find_evidence(claim.text, PageIndex(Snapshot(url="", text=quotes))).verdict == "supported":
        return claim, kept
    end = count = 0
    for cites in groups:
        at = claim.text.find(cites[0].part, end) if cites[0].part else -1
        if at < 0 or not any(cite.number in supported for cite in cites):
            break
        end, count = at + len(cites[0].part), count + 1
    if count == len(groups) and not is_open:
        return claim, kept
    text = claim.text[:end].rstrip(" ,;:，；：")
    cites = tuple(cite for group in groups[:count] for cite in group)
    if len({term.text for term in content_terms(text)}) < _MIN_PROVEN_TERMS:
        return None
    text = text if text.endswith(_STOPS) else text + ("。" if detect_language(text) == "zh" else ".")
    numbers = {cite.number for cite in cites}
    return replace(claim, text=text, cites=cites), {at: one for at, one in supported.items() if at in numbers}


def _quoted_side(contradicted: Citation) -> OtherSide:
    """What the page of a footnote says in the place of the statement that cites it."""
    quotation = contradicted.quote or ""
    line = f"{escape_inline(quotation)} {footnotes([contradicted.number])}"
    return OtherSide(line, place_citations(line, [replace(contradicted, verdict="supported")]), "undecided", quotation)


def marked_text(claim: Claim, kept: Sequence[int]) -> str:
    """A statement on one line, with those of its footnotes where they were that are kept: behind a part of it, or at
    its end."""
    plain = claim.text.translate(_NO_MARKS)
    pieces: list[str] = []
    markers: list[str] = []
    done, placed = 0, set[int]()
    groups = [list(cites) for _, cites in groupby(claim.cites, key=attrgetter("position"))]
    for cites in groups[:-1][:_MAX_MARKS]:
        numbers = [cite.number for cite in cites if cite.number in kept]
        at = plain.find(cites[0].part, done) if cites[0].part else -1
        if not numbers or at < 0:
            continue
        pieces += [plain[done : at + len(cites[0].part)], chr(_MARK + len(markers))]
        done = at + len(cites[0].part)
        markers.append(footnotes(numbers))
        placed.update(numbers)
    text = escape_inline("".join([*pieces, plain[done:]]))
    for at, marker in enumerate(markers):
        text = text.replace(chr(_MARK + at), f" {marker}")
    last = {cite.number for cite in groups[-1]} if groups else set[int]()
    rest = [number for number in kept if number in last or number not in placed]
    return f"{text} {footnotes(rest)}" if rest else text


def footnotes(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def place_citations(text: str, citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """The citations of the one statement of a text, with its offsets there and plain markers."""
    claims = extract_claims(text)
    start, end = (claims[0].start, claims[0].end) if len(claims) == 1 else (0, len(text))
    return tuple(
        replace(one, marker=footnotes([one.number]), start=start, end=end, missing=one.missing, differences=())
        for one in citations
    )


# Quotations ----------------------------------------------------------------------------------------------------------


def quoted_findings(item_id: str, question: str, messages: Sequence[Message], sources: Sources) -> tuple[Finding, ...]:
    """The best quotations that the searches of an item found, in the order of the built-in reader."""
    hits = parse_hits(_look_ups(messages))
    found: dict[str, Finding] = {}
    for passages in choose_passages(hits):
        for passage in passages:
            if _is_about(question, passage.text):
                finding = quote_source(item_id, passage.text, passage.number, sources, passage.start)
                if finding is not None:
                    found.setdefault(finding.text, finding)
    return tuple(found.values())


def _look_ups(messages: Iterable[Message]) -> Iterator[tuple[ToolCall, ToolResultMessage]]:
    """The searches and pages of an item with their results."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.calls}
        elif isinstance(message, ToolResultMessage):
            call = calls.get(message.tool_call_id)
            if call is not None and call.name in (SEARCH_TOOL, READ_TOOL):
                yield call, message


def _is_about(question: str, passage: str) -> bool:
    """Whether a passage has any word of the question. One in another language cannot have."""
    asked = {term.text for term in content_terms(question)}
    if not asked or are_other_languages(question, passage):
        return True
    return any(term.text in asked for term in content_terms(passage))


def quote_source(item_id: str, text: str, number: int, sources: Sources, start: int | None = None) -> Finding | None:
    """A quotation as a finding; None if the source does not have it word for word. `start`: where it begins."""
    for page in sources.pages(number):
        at = start if start is not None and page.text.startswith(text, start) else page.text.find(text)
        if text.strip() and at >= 0:
            line = f"{escape_inline(text)} {footnotes([number])}"
            citation = Citation("", number, 0, 0, "supported", text, at, at + len(text), page.snapshot_id)
            cited = replace(citation, marker=footnotes([number]), end=len(line) - len(footnotes([number])) - 1)
            return Finding(item_id, line, (cited,), quotation=text)
    return None
