"""The proof of a text: a verdict for each of its statements, and their counts."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from footnote.evidence.claims import CitedNumber, Claim, extract_statements
from footnote.evidence.facts import (
    FactContext,
    is_question,
    is_title,
    may_cite_links,
    needs_source,
    numbers_in,
    read_context,
)
from footnote.evidence.page_index import PageIndex
from footnote.evidence.sources import Sources
from footnote.evidence.suggestions import SuggestionFinder
from footnote.evidence.tokens import TokenizedText, find_names
from footnote.evidence.verdict import MAX_CITATIONS, Comparer, Evidence, check_citations, check_claim, find_evidence
from footnote.protocol.files import split_attachments
from footnote.protocol.messages import Message, ToolResultMessage, UserMessage
from footnote.protocol.sources import Citation, Pointer, ProofCounts, Snapshot, Verdict, sources_in

BEST_FIRST: tuple[Verdict, ...] = ("supported", "partial", "contradicted", "unsupported", "unread", "uncited")
"""The verdicts as they are listed, the best first."""
_DECIDING: tuple[Verdict, ...] = ("contradicted", *(one for one in BEST_FIRST if one != "contradicted"))
MAX_GIVEN_CHARACTERS = 200_000
"""Limit for the texts of the user that statements are compared with."""
_MAX_SEARCHED = 4_000
"""Characters of an answer in which a fact is looked for."""
_MIN_GIVEN_SHARE = 0.5
_PARAGRAPH = re.compile(r"\n\s*\n")


def judge_text(
    text: str,
    sources: Sources,
    pointers: Sequence[Pointer] = (),
    *,
    uncited: bool = False,
    given: Sequence[str] = (),
) -> tuple[Citation, ...]:
    """The verdict of every statement by comparing texts, in the order of the text: one for each number of each marker.

    `uncited`: also of statements of facts without a footnote, and of links: one to a page that was read counts as its
    footnote, any other is `unread`. `given`: texts of the user, whose statements need no source.

    A statement without a footnote whose header, line with a colon or line of sources has one is left alone if these
    sources have anything of it.
    """
    if not uncited:
        return check_citations(text, sources, pointers)
    return tuple(islice(_Judge(text, sources, pointers, given).citations(), MAX_CITATIONS))


def states_facts(text: str, given: Sequence[str] = ()) -> bool:
    """Whether the beginning of a text has a statement that needs a source and has none."""
    text = text[:_MAX_SEARCHED]
    said = _GivenTexts(given)
    context = FactContext(numbers=said.numbers)
    needing = (one for one in extract_statements(text) if needs_source(one, text[one.start : one.end], context))
    return any(not said.has(one.text) for one in needing)


def given_texts(messages: Iterable[Message]) -> tuple[str, ...]:
    """What a session was given beside its sources: the messages of the user, and what other tools than searches found,
    such as the text of a file."""
    texts: list[str] = []
    for message in messages:
        if isinstance(message, UserMessage):
            texts.append(split_attachments(message.text)[0].strip())
        elif isinstance(message, ToolResultMessage) and not any(True for _ in sources_in(message.artifact or {})):
            texts.append(message.text)
    return tuple(filter(None, texts))


class _Judge:
    """Judges all statements of one text, with and without footnotes."""

    def __init__(self, text: str, sources: Sources, pointers: Sequence[Pointer], given: Sequence[str]) -> None:
        self._text = text
        self._sources = sources
        self._passages = {pointer.offset: pointer.passages for pointer in pointers}
        self._statements = extract_statements(text)
        self._comparer = Comparer(sources)
        self._suggestions = SuggestionFinder(sources)
        self._given = _GivenTexts(given)
        self._unread: set[str] = set()
        """The addresses so far of pages that were not read: the definition of a note is no second mark for it."""
        context = read_context(self._statements)
        self._context = replace(context, numbers=(*context.numbers, *self._given.numbers))

    def citations(self) -> Iterator[Citation]:
        for statement in self._statements:
            cited = self._with_read_links(statement)
            if cited.cites:
                found = check_claim(self._text, cited, self._comparer, self._passages)
                yield from (one for one in found if not is_title(statement) or self._is_worth_showing(one))
            yield from self._unread_links(statement)
            if not cited.cites and not statement.links and self._is_uncited(statement, self._context):
                yield self._uncited(statement)

    def _is_worth_showing(self, citation: Citation) -> bool:
        """Whether a footnote of a title gets a verdict: the title states nothing that its page could lack."""
        return citation.verdict == "supported" or self._sources.source(citation.number) is None

    def _with_read_links(self, statement: Claim) -> Claim:
        """A statement with the links to pages that were read as further footnotes."""
        known = {cite.number for cite in statement.cites}
        added: list[CitedNumber] = []
        for link in statement.links if not statement.is_reference and may_cite_links(statement) else ():
            number = self._sources.find_number(link.url)
            if number is not None and number not in known:
                known.add(number)
                added.append(CitedNumber(link.marker, number, link.position))
        return replace(statement, cites=(*statement.cites, *added)) if added else statement

    def _unread_links(self, statement: Claim) -> Iterator[Citation]:
        if not may_cite_links(statement):
            return
        if statement.is_reference and any(self._sources.source(cite.number) for cite in statement.cites):
            return  # The entry of a source of the session: what cites it is marked.
        for marker, url in dict.fromkeys((link.marker, link.url) for link in statement.links):
            is_known = statement.is_reference and url in self._unread
            if not is_known and self._sources.find_number(url) is None and not self._given.has_address(url):
                self._unread.add(url)
                yield Citation(marker, 0, statement.start, statement.end, "unread")

    def _is_uncited(self, statement: Claim, context: FactContext) -> bool:
        if not needs_source(statement, self._text[statement.start : statement.end], context):
            return False
        return not self._given.has(statement.text) and not self._is_covered(statement)

    def _is_covered(self, statement: Claim) -> bool:
        numbers = [token.start for token in TokenizedText(statement.text).tokens if token.value]
        found = (self._comparer.find_evidence(statement.text, number) for number in statement.covered)
        return any(
            one.verdict == "supported" or (one.verdict == "partial" and one.matched.issuperset(numbers))
            for one in found
        )

    def _uncited(self, statement: Claim) -> Citation:
        found = self._suggestions.find(statement.text, statement.covered)
        if found is None:
            return Citation("", 0, statement.start, statement.end, "uncited")
        number, evidence = found
        quote = evidence.quote
        return Citation(
            "",
            0,
            statement.start,
            statement.end,
            "uncited",
            quote.text if quote else None,
            quote.start if quote else None,
            quote.end if quote else None,
            evidence.snapshot_id if quote else None,
            suggestion=number,
        )


class _GivenTexts:
    """What the user said. Questions are left out: a question states nothing that its answer could rest on."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n\n".join(texts)[-MAX_GIVEN_CHARACTERS:]
        self._whole = joined
        stated = [paragraph for paragraph in _PARAGRAPH.split(joined) if paragraph.strip()]
        statements = (
            one.text for paragraph in stated for one in extract_statements(paragraph) if not is_question(one.text)
        )
        text = "\n".join(filter(None, statements))
        self._page = PageIndex(Snapshot(url="", text=text)) if text else None
        self.numbers = tuple(numbers_in(joined[-_MAX_SEARCHED:]))

    def has_address(self, url: str) -> bool:
        return bool(url) and url.partition("://")[2].rstrip("/") in self._whole

    def has(self, text: str) -> bool:
        """Whether the user said this: the same words, or all of its numbers and names and half of the rest."""
        if self._page is None:
            return False
        evidence: Evidence = find_evidence(text, self._page)
        if evidence.verdict == "supported":
            return True
        if evidence.verdict == "contradicted" or evidence.share < _MIN_GIVEN_SHARE:
            return False
        wording = TokenizedText(text)
        names = [token for name in find_names(wording, self._page.is_proper_name) for token in name]
        required = [token.start for token in [*names, *(token for token in wording.tokens if token.value)]]
        return bool(required) and evidence.matched.issuperset(required)


def statement_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a statement by those of its citations: the best of them, unless one of its sources says otherwise.
    Another source that supports it does not undo that."""
    return min(verdicts, key=_DECIDING.index)


def count_verdicts(citations: Iterable[Citation]) -> ProofCounts:
    by_place: dict[tuple[int, int], list[Verdict]] = {}
    for one in citations:
        by_place.setdefault((one.start, one.end), []).append(one.verdict)
    verdicts = [statement_verdict(found) for found in by_place.values()]
    return ProofCounts(len(verdicts), **{verdict: verdicts.count(verdict) for verdict in BEST_FIRST})
