"""The second look: a model points at quotations for statements that comparing texts does not prove, and code decides.

Comparing texts cannot follow free paraphrase and translation. What the model says is never believed: a verdict rests on
a quotation that is on the cited page word for word, and on the rules of this module.
"""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import Cancelled, CancelScope
from footnote.evidence.claims import Claim, extract_claims
from footnote.evidence.page_index import PageIndex, trim_quote
from footnote.evidence.quotations import ComparedPage, Proof, states_something, weigh_quotation
from footnote.evidence.review_requests import (
    SYSTEM_PROMPT,
    Opinion,
    ReviewAnswer,
    ReviewedStatement,
    check_prompt,
    find_passages,
    read_answer,
    reads_yes,
    review_prompt,
)
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import contradictions_in, differences_of
from footnote.models.base import Context, Model, Options
from footnote.protocol.messages import AssistantMessage, Usage, user_message
from footnote.protocol.sources import Citation, Verdict
from footnote.protocol.stream import Done, Failed, TextDelta
from footnote.text.sentences import Span

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 60.0
"""For all requests of one text. What a model has said by then counts."""
MAX_REQUESTS = 2
STATEMENTS_PER_REQUEST = 40
"""The statements of a text beyond those of two requests keep their verdicts by text."""
MAX_PASSAGE_TOKENS = 12_000
"""Limit for the passages in one request; a third of the model's window, if that is less."""
MAX_ANSWER_TOKENS = 8_192
MIN_TOKENS_PER_STATEMENT = 130
"""For its passages. A model with a small window gets fewer statements."""
CHECKS_AT_ONCE = 4
"""Concurrent requests to a model that is asked statement by statement."""
MAX_DOCUMENT_TOKENS = 1_500
_CHARACTERS_PER_TOKEN = 3
_MAX_STATEMENT_LENGTH = 1_500

_REVIEWED: frozenset[Verdict] = frozenset(("partial", "contradicted", "unsupported"))


class SecondLookResult(Struct, frozen=True):
    """The citations, and what the requests used. `cost` is in US dollars, None if the price is not known."""

    citations: tuple[Citation, ...]
    usage: Usage = Usage()
    cost: float | None = 0.0


class _Response(Struct, frozen=True):
    """What a model said, whole or not, and what it used."""

    text: str = ""
    usage: Usage = Usage()
    cost: float | None = 0.0


class _StatementPlaces(Struct, frozen=True):
    """A statement, and the places of its citations among those of the text."""

    statement: ReviewedStatement
    places: tuple[int, ...]


def needs_review(citations: Iterable[Citation], sources: Sources) -> bool:
    """Whether there is anything that a second look could prove."""
    return any(one.verdict in _REVIEWED and sources.pages(one.number) for one in citations)


class SecondLook:
    """One per run."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def review(
        self, text: str, citations: Sequence[Citation], sources: Sources, cancel: CancelScope
    ) -> SecondLookResult:
        """The citations of a text with the verdicts after a second look. Without one, or if the model fails, they stay
        as they are; and so they do for statements that a cancelled review did not come to."""
        if cancel.is_cancelled or not needs_review(citations, sources):
            return SecondLookResult(tuple(citations))
        reviewed = await asyncio.to_thread(_statements, text, citations, sources)
        if not reviewed:
            return SecondLookResult(tuple(citations))
        ask = self._check if self.model.profile.checks else self._ask
        answers, responses = await ask([one.statement for one in reviewed], cancel)
        decided = await asyncio.to_thread(_decide_or_keep, text, citations, reviewed, answers) if answers else citations
        usage, costs = sum((one.usage for one in responses), Usage()), [one.cost for one in responses]
        cost = None if None in costs else sum(one for one in costs if one is not None)
        return SecondLookResult(tuple(decided), usage, cost)

    # Batched requests ------------------------------------------------------------------------------------------------

    async def _ask(
        self, statements: Sequence[ReviewedStatement], cancel: CancelScope
    ) -> tuple[dict[int, list[ReviewAnswer]], list[_Response]]:
        """The answers about all statements, from one request or two."""
        share = self.model.profile.window // 3
        size = min(STATEMENTS_PER_REQUEST, max(1, share // MIN_TOKENS_PER_STATEMENT))
        asked = statements[: MAX_REQUESTS * size]
        batches = [asked[start : start + size] for start in range(0, len(asked), size)]
        max_characters = min(MAX_PASSAGE_TOKENS, share) * _CHARACTERS_PER_TOKEN
        requests = [Context(SYSTEM_PROMPT, (user_message(review_prompt(batch, max_characters)),)) for batch in batches]
        options = Options(temperature=0.0, max_tokens=min(MAX_ANSWER_TOKENS, share))
        responses = await self._respond(requests, options, cancel)
        ids = [one.id for one in statements]
        answers: dict[int, list[ReviewAnswer]] = {}
        for response in responses:
            answers |= read_answer(response.text, ids)
        return answers, responses

    async def _check(
        self, statements: Sequence[ReviewedStatement], cancel: CancelScope
    ) -> tuple[dict[int, list[ReviewAnswer]], list[_Response]]:
        """The answers of a model that says Yes or No to one statement. It quotes nothing: the passages are those that
        comparing texts found."""
        tokens = min(MAX_DOCUMENT_TOKENS, self.model.profile.window // 3)
        requests = [
            Context("", (user_message(check_prompt(one, tokens * _CHARACTERS_PER_TOKEN)),)) for one in statements
        ]
        responses = await self._respond(requests, Options(temperature=0.0, max_tokens=8), cancel)
        answers = {
            one.id: [ReviewAnswer(one.id, "supports", one.page.text[span.start : span.end]) for span in one.found]
            for one, response in zip(statements, responses, strict=True)
            if reads_yes(response.text)
        }
        return answers, responses

    async def _respond(self, requests: Sequence[Context], options: Options, cancel: CancelScope) -> list[_Response]:
        """The responses to all requests, each as far as it came in time."""
        scope = CancelScope()
        waiting = deque(enumerate(requests))
        responses = [_Response()] * len(requests)

        async def work() -> None:
            while waiting and not scope.is_cancelled:
                at, request = waiting.popleft()
                responses[at] = await _response(self.model, request, options, scope)

        workers = asyncio.gather(*(work() for _ in range(min(CHECKS_AT_ONCE, len(requests)))))
        try:
            with suppress(Cancelled):
                await cancel.wait(_wait(workers, TIMEOUT_SECONDS))
        finally:
            scope.cancel()
            await workers
        return responses


async def _wait(done: asyncio.Future[Any], seconds: float) -> None:
    await asyncio.wait((done,), timeout=seconds)


async def _response(model: Model, request: Context, options: Options, scope: CancelScope) -> _Response:
    pieces: list[str] = []
    last: AssistantMessage | None = None
    async with aclosing(model.stream(request, options, scope)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                pieces.append(event.delta)
            elif isinstance(event, Done | Failed):
                last = event.message
    if last is None:
        return _Response("".join(pieces))
    if last.failure is not None:
        # Without the provider's own words, which may quote the request.
        log.info("A second look by %s was not finished: %s", model.id, last.failure.type)
    price = model.profile.price
    cost = price.cost(last.usage) if price is not None else None if last.usage.context or last.usage.output else 0.0
    return _Response("".join(pieces), last.usage, cost)


# The statements ------------------------------------------------------------------------------------------------------


def _statements(text: str, citations: Sequence[Citation], sources: Sources) -> list[_StatementPlaces]:
    """The statements to review, each once for a source that it cites."""
    claims = claim_texts(text, citations)
    places: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for place, (one, claim) in enumerate(zip(citations, claims, strict=True)):
        if one.verdict in _REVIEWED and claim and sources.pages(one.number):
            places[claim, one.number].append(place)
    reviewed: list[_StatementPlaces] = []
    for (claim, number), found in islice(places.items(), MAX_REQUESTS * STATEMENTS_PER_REQUEST):
        citation = citations[found[0]]
        pages = sources.pages(number)
        page = next((one for one in pages if one.snapshot_id == citation.snapshot_id), pages[0])
        passages = find_passages(claim, page, citation, sources)
        reviewed.append(
            _StatementPlaces(ReviewedStatement(len(reviewed) + 1, claim, number, page, *passages), tuple(found))
        )
    return reviewed


def claim_texts(text: str, citations: Sequence[Citation]) -> list[str]:
    """What each citation is to prove: its sentence as a reader sees it, or the part of it before the marker."""
    claims = {(claim.start, claim.end): claim for claim in extract_claims(text)}
    cites = {place: list(claim.cites) for place, claim in claims.items()}
    found: list[str] = []
    for one in citations:
        claim, left = claims.get((one.start, one.end)), cites.get((one.start, one.end), [])
        cite = next((cite for cite in left if (cite.marker, cite.number) == (one.marker, one.number)), None)
        if cite is not None:
            left.remove(cite)
        said = text[one.start : one.end] if claim is None else (cite and cite.part) or claim.text
        found.append(said.strip() if len(said) <= _MAX_STATEMENT_LENGTH else "")
    return found


# The decision --------------------------------------------------------------------------------------------------------


def _decide_or_keep(
    text: str,
    citations: Sequence[Citation],
    reviewed: Iterable[_StatementPlaces],
    answers: Mapping[int, Sequence[ReviewAnswer]],
) -> tuple[Citation, ...]:
    try:
        return _with_differences(text, citations, _decide(citations, reviewed, answers), reviewed)
    except Exception:
        # Whatever a model has quoted, a finished answer is not lost.
        log.exception("The answers of a second look could not be judged; the verdicts by text stand.")
        return tuple(citations)


def _decide(
    citations: Sequence[Citation], reviewed: Iterable[_StatementPlaces], answers: Mapping[int, Sequence[ReviewAnswer]]
) -> tuple[Citation, ...]:
    decided = list(citations)
    pages: dict[str, ComparedPage] = {}
    for one in reviewed:
        page = one.statement.page
        for answer in answers.get(one.statement.id, ()):
            if answer.opinion == "nothing":
                continue
            compared = pages.setdefault(page.snapshot_id, ComparedPage(page.text))
            span = compared.find(answer.quotation, one.statement.found)
            if span is None or not states_something(page, span):
                continue
            proof = weigh_quotation(one.statement.text, page, span)
            after = {at: _judge(citations[at], answer.opinion, proof, page, span) for at in one.places}
            if any(after.values()):
                for at, citation in after.items():
                    decided[at] = citation or decided[at]
                break
    return tuple(decided)


def _with_differences(
    text: str, before: Sequence[Citation], decided: Sequence[Citation], reviewed: Iterable[_StatementPlaces]
) -> tuple[Citation, ...]:
    """The citations, with the words that stand against each other where a quotation contradicts a statement."""
    found = list(decided)
    claims: dict[tuple[int, int], Claim] = {}
    for one in reviewed:
        for at in one.places:
            new = decided[at]
            if new is before[at] or new.verdict != "contradicted" or new.quote_start is None or new.quote_end is None:
                continue
            claims = claims or {(claim.start, claim.end): claim for claim in extract_claims(text)}
            claim = claims.get((new.start, new.end))
            if claim is not None and claim.text == one.statement.text:
                contradictions = contradictions_in(claim.text, one.statement.page, Span(new.quote_start, new.quote_end))
                found[at] = replace(new, differences=tuple(differences_of(text, claim, contradictions)))
    return tuple(found)


def _judge(one: Citation, opinion: Opinion, proof: Proof, page: PageIndex, span: Span) -> Citation | None:
    """A citation with the verdict by a quotation. None: the verdict by text stands."""
    verdict = _verdict(one, opinion, proof, is_same=_overlaps(one, page, span))
    if verdict is None:
        return None
    quote = trim_quote(page.text, span)
    missing = ", ".join(dict.fromkeys(proof.missing)) or one.missing
    return replace(
        one,
        verdict=verdict,
        by="model",
        quote=quote.text,
        quote_start=quote.start,
        quote_end=quote.end,
        snapshot_id=page.snapshot_id,
        missing=missing if verdict == "partial" else None,
        differences=(),
    )


def may_follow(decided: Citation, by_text: Citation, claim: str, sources: Sources) -> bool:
    """Whether a model can have moved a verdict by text to this one, by its quotation and the rules of a second look.
    `claim` is what the citation is to prove."""
    start, end = decided.quote_start, decided.quote_end
    page = next((one for one in sources.pages(decided.number) if one.snapshot_id == decided.snapshot_id), None)
    if page is None or start is None or end is None or not states_something(page, Span(start, end)):
        return False
    proof = weigh_quotation(claim, page, Span(start, end))
    opinions: tuple[Opinion, ...] = ("supports", "partly", "contradicts")
    bare = replace(decided, differences=())
    return any(_judge(by_text, opinion, proof, page, Span(start, end)) == bare for opinion in opinions)


def _verdict(one: Citation, opinion: Opinion, proof: Proof, *, is_same: bool) -> Verdict | None:
    if opinion == "contradicts":
        is_new = one.verdict != "contradicted"
        return "contradicted" if is_new and proof.is_about and not proof.is_stated else None
    if proof.is_denied:
        return None
    is_whole = opinion == "supports" and proof.is_related and not proof.missing
    if one.verdict == "contradicted":
        # The page says both: never more than a part is proved.
        return "partial" if is_whole and not is_same else None
    if is_whole:
        return "supported"
    return "partial" if one.verdict == "unsupported" or proof.missing else None


def _overlaps(one: Citation, page: PageIndex, span: Span) -> bool:
    """Whether a quotation is the passage on which the verdict by text rests, or a part of it."""
    if one.quote_start is None or one.quote_end is None or one.snapshot_id != page.snapshot_id:
        return False
    return one.quote_start < span.end and span.start < one.quote_end
